//! Conditions of lists that read the stored content of each ad that the other conditions leave, as JSON. They need no column and no index,
//! so that writes cost nothing more.

use ad_core::{
    categories::price::{LIST, REDUCED},
    model::{AdFilter, AdOrder},
    ports::{Scope, StoreError},
};

use super::{
    Columns, Database, Statement,
    lists::{codes, operator},
    statement::{Dialect, Values},
};

impl Database {
    /// The brands of the newest ads of a scope that are not deleted, at most so many ads of each dealer, in any order.
    pub async fn brands(&self, scope: Scope<'_>, most: u32) -> Result<Vec<String>, StoreError> {
        let mut brands = Vec::new();
        for dealer_code in codes(scope) {
            brands.extend(Columns::all(&self.read(brands_of(self.dialect(), &dealer_code, most)).await?)?);
        }
        brands.sort_unstable();
        brands.dedup();
        Ok(brands)
    }
}

fn brands_of(dialect: Dialect, dealer_code: &str, most: u32) -> Statement {
    let mut values = Values::new(dialect);
    let (dealer_code, most, brand) = (values.add(dealer_code), values.add(most), brand_of(dialect));
    values.statement(format!(
        "SELECT DISTINCT brand FROM (
    SELECT {brand} AS brand FROM ads WHERE dealer_code = {dealer_code} AND state = 'created' ORDER BY created DESC, seq DESC LIMIT {most}
) AS newest WHERE brand IS NOT NULL"
    ))
}

/// Whether a filter reads the content of ads, or what has become of their images.
pub(super) const fn reads(filter: &AdFilter) -> bool {
    matches!(filter, AdFilter::Brand(_) | AdFilter::Price(..) | AdFilter::ImageCount(..) | AdFilter::FailedImages(_))
}

/// The condition of such a filter.
pub(super) fn condition(values: &mut Values, filter: &AdFilter) -> String {
    values.is_search = true;
    let dialect = values.dialect;
    match filter {
        AdFilter::Brand(brand) => format!("{} = {}", brand_of(dialect), values.add(brand.as_str())),
        AdFilter::Price(bound, limit) => {
            let (reduced, list) = (amount(dialect, REDUCED), amount(dialect, LIST));
            format!("coalesce({reduced}, {list}) {} {}", operator(*bound), values.add(*limit))
        }
        AdFilter::ImageCount(bound, limit) => {
            format!("{} {} {}", length(dialect, "content", "image_urls"), operator(*bound), values.add(*limit))
        }
        AdFilter::FailedImages(has_some) => {
            format!("{} {} 0", length(dialect, "publication", "failed_images"), if *has_some { ">" } else { "=" })
        }
        _ => unreachable!("the other filters read columns"),
    }
}

/// Whether no index has the order, so that the ads that are left are sorted by what is read of each.
pub(super) const fn sorts(order: AdOrder) -> bool {
    matches!(order, AdOrder::QualityScore | AdOrder::Price)
}

/// What a list is sorted by. The names of the other orders are those of columns.
pub(super) fn sorted_by(values: &mut Values, order: AdOrder) -> String {
    match order {
        AdOrder::QualityScore => "coalesce(quality_score, -1)".to_owned(),
        AdOrder::Price => {
            values.is_search = true;
            let dialect = values.dialect;
            format!("coalesce({}, {}, -1)", amount(dialect, REDUCED), amount(dialect, LIST))
        }
        order => order.name().to_owned(),
    }
}

/// A column of JSON. PostgreSQL refuses to read a part of a text that has a NUL anywhere.
fn parsed(column: &str) -> String {
    format!("CAST(replace({column}, '\\u0000', '\\u0020') AS JSON)")
}

pub(super) fn brand_of(dialect: Dialect) -> String {
    match dialect {
        Dialect::Sqlite => "json_extract(content, '$.category_fields.brand')".to_owned(),
        Dialect::Postgres => format!("{} #>> '{{category_fields,brand}}'", parsed("content")),
    }
}

/// The number of items of a list; 0 if there is none.
fn length(dialect: Dialect, column: &str, list: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("coalesce(json_array_length({column}, '$.{list}'), 0)"),
        Dialect::Postgres => {
            let list = format!("{} -> '{list}'", parsed(column));
            format!("CASE json_typeof({list}) WHEN 'array' THEN json_array_length({list}) ELSE 0 END")
        }
    }
}

/// The amount of the first price of a type.
fn amount(dialect: Dialect, kind: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!(
            "(SELECT price.value ->> 'amount'
        FROM json_each(CASE json_type(content, '$.price') WHEN 'array' THEN content -> '$.price' ELSE '[]' END) AS price
        WHERE CASE price.type WHEN 'object'
            THEN price.value ->> 'type' = '{kind}' AND json_type(price.value, '$.amount') IN ('integer', 'real') END
        LIMIT 1)"
        ),
        Dialect::Postgres => {
            let list = format!("{} -> 'price'", parsed("content"));
            format!(
                "(SELECT CAST(price.value ->> 'amount' AS DOUBLE PRECISION)
        FROM json_array_elements(CASE json_typeof({list}) WHEN 'array' THEN {list} ELSE '[]' END) AS price (value)
        WHERE price.value ->> 'type' = '{kind}' AND json_typeof(price.value -> 'amount') = 'number'
        LIMIT 1)"
            )
        }
    }
}
