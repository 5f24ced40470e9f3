//! `ad-cli fields`: the table of the fields of a vehicle type, as the service checks them.

use ad_core::{
    catalogue::Catalogue,
    categories::{self, Category, Heading},
    fields::Kind,
    model::ApiVersion,
    reference::ReferenceRow,
    synonyms::names::Names,
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    bulk::{Invocation, check::known},
    cli::{setting::listing_fields, through::VehicleType},
    terminal::{Cell, Column, Context, Failure, Hint, Output, Tone},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli fields                    vehicle types
  ad-cli fields car                all fields of a car
  ad-cli fields car mileage        fields with `mileage` in their name or description
  ad-cli fields car --required     required fields")]
pub(crate) struct FieldsArgs {
    /// The vehicle type, such as car
    #[arg(value_parser = VehicleType, hide_possible_values = true)]
    r#type: Option<&'static Category>,
    /// Only fields with these words in their path, type or description
    search: Vec<String>,
    /// Only required fields
    #[arg(long)]
    required: bool,
}

const TYPES: &[Column] =
    &[Column::new("TYPE", "vehicle_type"), Column::new("CATEGORY_ID", "category_id"), Column::new("NAME", "name")];

/// What programs get; the names are the row's.
#[rustfmt::skip]
const FIELDS_FOR_PROGRAMS: &[Column] = &Column::at_paths([
    "field", "type", "required", "nullable", "since", "default", "about", "values",
]);

const FIELDS: &[Column] = &[
    Column::new("FIELD", "field"),
    Column::new("TYPE", "type"),
    Column::new("REQUIRED", "").shown(|row| match (&row["required"], &row["field"]) {
        (Value::Bool(true), Value::String(field)) if is_in_an_array(field) => "in each".into(),
        (Value::Bool(true), _) => Cell::toned("yes", Tone::Strong),
        _ => Cell::default(),
    }),
    Column::new("SINCE", "since"),
    Column::new("ABOUT", "about"),
];

#[derive(Debug, Serialize)]
struct FieldRow {
    field: String,
    r#type: String,
    required: bool,
    nullable: bool,
    since: &'static str,
    default: Option<&'static str>,
    about: &'static str,
    /// The command that lists what is allowed.
    values: Option<String>,
}

pub(crate) fn run(context: &Context, args: &FieldsArgs) -> Result<(), Failure> {
    let Some(category) = args.r#type else { return types(context) };
    let name = category.vehicle_type.unwrap_or_default();
    let catalogue = Catalogue::embedded();
    let words: Vec<_> = args.search.iter().map(|word| word.to_lowercase()).collect();
    let all: Vec<_> =
        known(category).iter().map(|row| field_row(category, name, row, &catalogue, context.out)).collect();
    let is_demanded = |row: &FieldRow| row.required && !is_in_an_array(&row.field);
    let wanted = |row: &&FieldRow| (!args.required || is_demanded(row)) && words.iter().all(|word| row.has(word));
    let found: Vec<_> = all.iter().filter(wanted).collect();
    if found.is_empty() {
        return Err(nothing(name, &args.search, &all));
    }
    context.out.table(if context.out.is_for_people() { FIELDS } else { FIELDS_FOR_PROGRAMS }, found)?;
    if words.is_empty() && !args.required {
        rules(context, category);
    }
    Ok(())
}

fn types(context: &Context) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct TypeRow {
        vehicle_type: &'static str,
        category_id: u16,
        name: &'static str,
    }
    let types = categories::typed();
    let rows = types.map(|(vehicle_type, it)| TypeRow { vehicle_type, category_id: it.id, name: it.name });
    Ok(context.out.table(TYPES, rows)?)
}

/// Whether it is a member of an array's objects, which need not be sent themselves.
fn is_in_an_array(field: &str) -> bool {
    field.contains("[]")
}

impl FieldRow {
    fn has(&self, word: &str) -> bool {
        [&self.field.replace("[]", ""), &self.field, &self.r#type, self.about]
            .iter()
            .any(|text| text.to_lowercase().contains(word))
    }
}

fn field_row(
    category: &Category,
    vehicle_type: &str,
    row: &ReferenceRow,
    catalogue: &Catalogue,
    out: Output,
) -> FieldRow {
    let attribute = row.place.replace("[]", "");
    let attribute = attribute.strip_prefix("category_fields.").unwrap_or(&attribute);
    let values = match row.field.kind {
        Kind::Model { .. } => Some(Invocation::new("models").with_some("brand", "BRAND")),
        kind => kind
            .allowed(catalogue)
            .map(|_| Invocation::new("values").with("type", vehicle_type).with("attribute", attribute)),
    };
    let values = values.map(|values| out.command(&values));
    let mut words = row.field.kind.to_string().replace('`', "");
    let is_fixed = matches!(row.field.kind, Kind::Choice { .. });
    if let Some(values) = values.as_ref().filter(|_| !is_fixed) {
        words = format!("{words}: {values}");
    }
    FieldRow {
        field: row.place.clone(),
        r#type: words,
        // Whether there must be a title is the category's affair.
        required: row.field.required || (row.place == "title" && category.heading == Heading::Required),
        nullable: row.field.nullable,
        since: row.field.since.tag().unwrap_or("V3"),
        default: row.field.default,
        about: row.field.doc,
        values,
    }
}

/// The rules that concern several fields stand in no row.
fn rules(context: &Context, category: &Category) {
    context.out.note("\nRules over several fields:");
    for rule in ad_core::categories::ad_fields::RULES.iter().chain(category.rules).copied().flatten() {
        context.out.note(&format!("  {}: {}", rule.name, rule.doc.replace('`', "")));
    }
    if !category.is_in(ApiVersion::V3) {
        context.out.note("  V3 does not have this type.");
    }
}

fn nothing(vehicle_type: &str, search: &[String], all: &[FieldRow]) -> Failure {
    let places = all.iter().map(|row| row.field.as_str());
    let meant = search.first().and_then(|word| Names::builtin().did_you_mean(word, places));
    Failure::usage(format!("{vehicle_type} has no field {}", search.join(" ")))
        .hint(meant.map_or_else(|| listing_fields(vehicle_type), Hint::Text))
}
