//! Fields and values by their names, for people who know the file and not the API.

use std::sync::LazyLock;

use ad_core::{
    catalogue::Catalogue,
    categories::{self, humanised},
    fields::Kind,
};
use ad_files::json::at;
use serde_json::{Map, Value};

use crate::check::words;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::embedded);

/// The name of a field: `Model year` for `category_fields.model_year`.
pub(super) fn field(path: &str) -> String {
    humanised(&words(path))
}

/// The name of a text in a field of an ad: `Volkswagen` for `volkswagen`, `Four-wheel drive` for a value of a list.
pub(super) fn value(ad: &Map<String, Value>, path: &str, text: &str) -> String {
    let category = ad.get("category_id").and_then(categories::sent_id).and_then(categories::by_id);
    if path == "category_id" {
        return category
            .map_or_else(|| text.to_owned(), |category| humanised(category.vehicle_type.unwrap_or(category.name)));
    }
    let named = category.and_then(|category| {
        let field = category.field(path.strip_prefix("category_fields.")?)?;
        let kind = if let Kind::List { item, .. } = field.kind { *item } else { field.kind };
        in_catalogue(ad, kind, text).or_else(|| matches!(kind, Kind::Choice { .. }).then(|| humanised(text)))
    });
    named.unwrap_or_else(|| text.to_owned())
}

fn in_catalogue(ad: &Map<String, Value>, kind: Kind, text: &str) -> Option<String> {
    let name = match kind {
        Kind::Slug { list } => CATALOGUE.list(list).name(text),
        Kind::Model { list } => CATALOGUE.models(list, at(ad, "category_fields.brand")?.as_str()?).name(text),
        _ => None,
    };
    name.map(str::to_owned)
}
