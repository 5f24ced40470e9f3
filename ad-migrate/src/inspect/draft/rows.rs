//! Rows of vehicles that are not for sale: which columns show it, and the conditions that leave the rows out.

use ad_core::written;

use super::{SoldRows, Writer, quoted};
use crate::{inspect::names, mapping::fold::folded};

/// Words that mean that a vehicle is not for sale, as they are compared.
const SOLD: &[&str] = &[
    "sald",
    "salt",
    "salda",
    "solgt",
    "verkauft",
    "sold",
    "soldout",
    "myyty",
    "verkocht",
    "vendu",
    "levererad",
    "reserverad",
    "reserved",
    "reserviert",
    "reservert",
    "varattu",
    "gereserveerd",
    "reserve",
    "unavailable",
    "notavailable",
    "outofstock",
    "ejtillsalu",
    "inactive",
    "inaktiv",
    "deleted",
    "raderad",
    "hidden",
    "dold",
    "avpublicerad",
    "unpublished",
    "draft",
    "utkast",
    "delivered",
    "ausgeliefert",
    "nichtverfugbar",
    "pending",
];

/// Words that mean that it is.
const FOR_SALE: &[&str] = &[
    "available",
    "tillsalu",
    "ilager",
    "instock",
    "stock",
    "lager",
    "tilgjengelig",
    "tilsalgs",
    "tilsalg",
    "verfugbar",
    "lieferbar",
    "visible",
    "synlig",
    "published",
    "publicerad",
    "publish",
    "active",
    "aktiv",
    "myynnissa",
    "tekoop",
    "disponible",
    "availability",
    "tillganglig",
    "live",
    "enabled",
    "forsale",
    "onsale",
    "isactive",
    "isavailable",
    "ispublished",
    "isvisible",
    "inventory",
];

/// Most different values of a column that shows it.
const MOST: usize = 12;

/// Columns by which rows are left out.
#[derive(Debug)]
pub(super) struct SoldColumn {
    /// The column as a mapping names it.
    from: String,
    name: String,
    /// Values of vehicles that are not for sale.
    values: Vec<String>,
    /// Whether rows are left out that have other values than these.
    is_kept: bool,
}

impl SoldColumn {
    /// The condition of `skip` of a mapping.
    pub(super) fn condition(&self) -> String {
        let texts: Vec<String> = self.values.iter().map(|text| quoted(text)).collect();
        let texts = if let [text] = texts.as_slice() { text.clone() } else { format!("[{}]", texts.join(", ")) };
        format!("{{ column = {}, {} = {texts} }}", self.from, if self.is_kept { "not" } else { "is" })
    }

    /// The same as values.
    pub(super) fn rows(&self) -> SoldRows {
        SoldRows { column: self.name.clone(), values: self.values.clone(), is_kept: self.is_kept }
    }

    /// What is to be asked.
    pub(super) fn question(&self) -> String {
        let Self { name, values, is_kept, .. } = self;
        let text = values.first().map_or("", String::as_str);
        let which = if *is_kept { "other values than" } else { "values such as" };
        format!("{name} has {which} \"{text}\": are these vehicles not for sale? [rows] leaves them out.")
    }
}

impl Writer<'_> {
    /// Columns that say that vehicles are sold, or are for sale.
    pub(super) fn sold(&self) -> Vec<SoldColumn> {
        let columns = self.seen.names.iter().zip(&self.seen.columns).enumerate();
        columns.filter_map(|(index, (name, _))| self.sold_column(index, name)).collect()
    }

    fn sold_column(&self, index: usize, name: &str) -> Option<SoldColumn> {
        let column = self.column(index);
        if column.has_more || column.distinct.len() > MOST {
            return None;
        }
        let of = |is: &dyn Fn(&str) -> bool| {
            let all = column.frequent().into_iter().map(|(text, _)| text);
            all.filter(|text| is(text)).map(str::to_owned).collect::<Vec<_>>()
        };
        let has = |known: &[&str], text: &str| known.contains(&folded(text).as_str());
        let found =
            |values, is_kept| Some(SoldColumn { from: self.from(index), name: name.to_owned(), values, is_kept });
        let sold = of(&|text| has(SOLD, text));
        if !sold.is_empty() {
            return found(sold, false);
        }
        let says = |known: &[&str]| names::has_word(name, known) || has(known, names::last(name));
        let mark = |text: &str| match text {
            "x" | "X" => Some(true),
            // A third value beside 0 and 1.
            _ if text.starts_with('-') => None,
            _ => written::truth(text),
        };
        if says(SOLD) {
            let yes = of(&|text| mark(text) == Some(true));
            let values = if yes.is_empty() { of(&|text| mark(text) != Some(false)) } else { yes };
            return found(values, false).filter(|found| !found.values.is_empty());
        }
        let yes = of(&|text| mark(text) == Some(true) || has(FOR_SALE, text));
        // Placeholders are not among the values.
        let has_others = yes.len() < column.distinct.len() || column.filled < self.seen.rows;
        (says(FOR_SALE) && !yes.is_empty() && has_others).then(|| found(yes, true))?
    }
}
