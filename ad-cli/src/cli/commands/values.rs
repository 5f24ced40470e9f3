//! `ad-cli values`: the allowed values of a field; `ad-cli models`: those of a car's model.

use ad_core::{
    catalogue::{Catalogue, Entry},
    categories::{self, Category},
    fields::Kind,
    synonyms::{fold, languages::Language, models, names::Names, values},
    violation::nearest,
};

use crate::{
    bulk::{Invocation, check::known},
    cli::through::VehicleType,
    terminal::{Column, Context, Failure, Hint},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The values are those built into this program; the catalogue of the service may differ.

Examples:
  ad-cli values car                      fields with allowed values
  ad-cli values car body_type            values of a field
  ad-cli values car brand vol            values that contain `vol`")]
pub(crate) struct ValuesArgs {
    /// The vehicle type, such as car
    #[arg(value_parser = VehicleType, hide_possible_values = true)]
    r#type: &'static Category,
    /// The field, such as `body_type` or `powertrain.fuels`, or the last part of its path
    attribute: Option<String>,
    /// Only values whose id or name contains this text
    #[arg(value_name = "VALUE")]
    search: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli models volvo
  ad-cli values car brand                brands")]
pub(crate) struct ModelsArgs {
    /// The brand, as its id or its name
    brand: String,
    /// Only models whose id or name contains this text
    search: Option<String>,
}

const COLUMNS: &[Column] = &[Column::new("ID", "id"), Column::new("NAME", "name")];

pub(crate) fn run(context: &Context, args: &ValuesArgs) -> Result<(), Failure> {
    let catalogue = Catalogue::embedded();
    let (category, name) = (args.r#type, args.r#type.vehicle_type.unwrap_or_default());
    let Some(attribute) = &args.attribute else { return show(context, &category.attributes(), None, name) };
    let entries = allowed(category, name, attribute, &catalogue)?;
    show(context, &entries, args.search.as_deref(), attribute)
}

pub(crate) fn models(context: &Context, args: &ModelsArgs) -> Result<(), Failure> {
    let catalogue = Catalogue::embedded();
    let files = categories::typed().filter_map(|(_, category)| match category.field("model")?.kind {
        Kind::Model { list } => Some((category, list)),
        _ => None,
    });
    let mut brands = Vec::new();
    let brand = brand_id(&args.brand);
    for (category, file) in files {
        let models = catalogue.models(file, &brand);
        if !models.is_empty() {
            return show_models(context, models.entries(), args.search.as_deref(), &brand);
        }
        brands.extend(category.values(&catalogue, "brand").into_iter().flatten());
    }
    let meant = nearest::did_you_mean(&args.brand, brands.iter().map(|entry| entry.id.as_str()));
    Err(Failure::usage(format!("unknown brand \"{}\"", args.brand)).hint(meant.map_or_else(brands_of_cars, Hint::Text)))
}

/// The models of a brand that a text names, as people write them.
fn show_models(context: &Context, models: &[Entry], search: Option<&str>, brand: &str) -> Result<(), Failure> {
    let ids = models.iter().map(|entry| (entry.id.as_str(), entry.name.as_str()));
    let meant = search.and_then(|text| models::find(brand, text, ids)).map(|found| found.id);
    let is_contained = |text: &str| models.iter().any(|entry| contains(entry, &text.to_lowercase()));
    let search = search.filter(|text| is_contained(text)).or(meant).or(search);
    show(context, models, search, brand)
}

fn contains(entry: &Entry, text: &str) -> bool {
    [&entry.id, &entry.name].iter().any(|it| it.to_lowercase().contains(text))
}

/// The brands of all vehicle types.
fn brands() -> impl Iterator<Item = Entry> {
    let catalogue = Catalogue::embedded();
    categories::typed().flat_map(move |(_, category)| category.values(&catalogue, "brand").unwrap_or_default())
}

/// The id of a brand as people write it, such as `Volvo` or `Mercedes`; a text that is no brand stays as it is.
pub(in crate::cli) fn brand_id(text: &str) -> String {
    let folded = fold::folded(text);
    let known = brands()
        .find(|entry| entry.id == text || fold::folded(&entry.id) == folded || fold::folded(&entry.name) == folded);
    let called = || {
        let names = values::builtin_map("brand", "all", Language::Any);
        names.find(text, &mut String::new())?.first().map(ToString::to_string)
    };
    known.map(|entry| entry.id).or_else(called).unwrap_or_else(|| text.to_owned())
}

/// The brand that was probably meant by an unknown one.
pub(in crate::cli) fn meant_brand(text: &str) -> Option<String> {
    let all: Vec<_> = brands().map(|entry| entry.id).collect();
    if all.iter().any(|id| id == text) { None } else { nearest::did_you_mean(text, all.iter().map(String::as_str)) }
}

fn brands_of_cars() -> Hint {
    ("to list the brands", Invocation::new("values").with("type", "car").with("attribute", "brand")).into()
}

/// The allowed values of an attribute, which may be a path or its last name.
pub(in crate::cli) fn allowed(
    category: &Category,
    vehicle_type: &str,
    asked: &str,
    catalogue: &Catalogue,
) -> Result<Vec<Entry>, Failure> {
    let asked = asked.strip_prefix("category_fields.").unwrap_or(asked);
    let rows: Vec<_> = known(category)
        .into_iter()
        .map(|row| {
            let place = row.place.replace("[]", "");
            (place.strip_prefix("category_fields.").unwrap_or(&place).to_owned(), row.field.kind)
        })
        .collect();
    let list = || {
        let values = Invocation::new("values").with("type", vehicle_type);
        Hint::from(("to list the fields with allowed values", values))
    };
    let exact = || rows.iter().find(|(place, _)| place == asked);
    let by_last_name = || {
        let mut found = rows.iter().filter(|(place, _)| place.rsplit('.').next() == Some(asked));
        found.next().filter(|_| found.next().is_none())
    };
    let Some((place, kind)) = exact().or_else(by_last_name) else {
        let with_values = rows.iter().filter(|(_, kind)| kind.allowed(catalogue).is_some());
        let meant = Names::builtin().did_you_mean(asked, with_values.map(|(place, _)| place.as_str()));
        return Err(Failure::usage(format!("{vehicle_type} has no field \"{asked}\""))
            .hint(meant.map_or_else(list, Hint::Text)));
    };
    match kind {
        Kind::Model { .. } => Err(Failure::usage("the models depend on the brand")
            .hint(("to list the models of a brand", Invocation::new("models").with_some("brand", "BRAND")))),
        Kind::Measure { units, .. } => {
            Ok(units.iter().map(|unit| Entry::new(*unit, format!("unit of {place}"))).collect())
        }
        kind => kind.allowed(catalogue).ok_or_else(|| {
            Failure::usage(format!(
                "{place} has no list of allowed values; its type is: {}",
                kind.to_string().replace('`', "")
            ))
            .hint(list())
        }),
    }
}

fn show(context: &Context, entries: &[Entry], search: Option<&str>, of: &str) -> Result<(), Failure> {
    let wanted = search.map(str::to_lowercase);
    let is_wanted = |entry: &&Entry| wanted.as_ref().is_none_or(|text| contains(entry, text));
    let found: Vec<_> = entries.iter().filter(is_wanted).collect();
    if let (Some(search), true) = (search, found.is_empty()) {
        let meant = nearest::did_you_mean(search, entries.iter().map(|entry| entry.id.as_str()));
        let failure = Failure::usage(format!("no value of {of} contains \"{search}\""));
        return Err(meant.into_iter().fold(failure, Failure::hint));
    }
    Ok(context.out.table(COLUMNS, found)?)
}
