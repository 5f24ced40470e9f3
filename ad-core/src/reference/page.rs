//! The page of all types.

use std::fmt::Write;

use super::rows::{ReferenceRow, rows};
use crate::{
    catalogue::Catalogue,
    categories::{self, COMMON_FIELDS, Category, FromV3, Heading, Rule, ad_fields, rules},
    fields::{Field, GREATEST_COUNT, MOST_CHARACTERS, MOST_LEVELS, MOST_MEMBERS, grouped},
    model::ApiVersion,
};

/// Types that the documents describe by their differences from another type.
const LIKE: &[(&str, &str)] = &[
    ("transport", "car"),
    ("moped", "motorcycle"),
    ("snowmobile", "moped"),
    ("atv", "snowmobile"),
    ("agriculture-tractor", "agriculture-thresher"),
    ("truck", "bus"),
];

const COMMON: &str = "Common fields of all registered vehicle categories";

/// The field reference of all types.
pub fn markdown(catalogue: &Catalogue) -> String {
    let mut page = introduction();
    categories_table(&mut page);
    ad(&mut page);
    common(&mut page);
    for (vehicle_type, category) in categories::typed() {
        section(&mut page, vehicle_type, category, catalogue);
    }
    open(&mut page);
    page
}

fn introduction() -> String {
    format!(
        "# Category fields\n\n\
         <!-- Generated from the tables in ad-core/src/categories. UPDATE_SNAPSHOTS=1 cargo test -p ad-core reference -->\n\n\
         The fields of each vehicle type, generated from the tables by which the service validates payloads.\n\n\
         - **Field** is a dotted path inside `category_fields`; `[]` follows the name of an array.\n\
         - **Type**: a *measure* is `{{\"unit\": …, \"value\": …}}` with one of the listed units, ignoring case, and a value \
         that is not negative. A *slug* is one of the values that `GET` on the path beside it returns \
         (`/v4/vehicles/{{vehicle_type}}/attributes` lists all such fields); the count is that of the built-in catalogue, \
         which an operator may replace. `×` precedes the items of an array.\n\
         - **Since** is the release that added a field. V3 accepts only the fields without a tag.\n\
         - Fields are optional unless their rule says *Required*; a required field is required if its parent object is \
         sent. `null` clears an optional field on update; on create it is the same as omitting the field.\n\
         - If the contract sets no limit, a string has at most {characters} characters and an integer is at most \
         {count}.\n\
         - Fields that are not listed are rejected. Numbers may not be sent as strings, except the value of a measure and \
         where the type says so.\n\n",
        characters = grouped(&MOST_CHARACTERS),
        count = grouped(&GREATEST_COUNT),
    )
}

fn categories_table(page: &mut String) {
    say!(page, "## Categories\n");
    say!(page, "| `category_id` | Name | Vehicle type | Versions | V3 ads |");
    say!(page, "|---|---|---|---|---|");
    for category in categories::all() {
        let vehicle_type =
            category.vehicle_type.map_or_else(String::new, |name| link(&format!("`{name}`"), &title(category)));
        let versions: Vec<_> = [(ApiVersion::V3, "V3"), (ApiVersion::V4, "V4")]
            .into_iter()
            .filter_map(|(version, name)| category.is_in(version).then_some(name))
            .collect();
        let (id, name) = (category.id, category.name);
        say!(page, "| {id} | {name} | {vehicle_type} | {} | {} |", versions.join(", "), from_v3(category));
    }
    say!(
        page,
        "\nAds of category {} cannot be created (`trailer_create_disabled`), but can be read, updated and deleted.\n",
        categories::TRAILER
    );
}

/// How ads of V3 become V4.
fn from_v3(category: &Category) -> String {
    if category.is_open() {
        let targets = join_names(category.targets().map(|(vehicle_type, _)| vehicle_type));
        return if targets.is_empty() { "stay V3".to_owned() } else { format!("migrate to {targets}") };
    }
    match category.from_v3 {
        FromV3::Converts => "PUT and PATCH convert them".to_owned(),
        FromV3::Migrates([id]) if *id == category.id => "migrate".to_owned(),
        FromV3::Migrates(ids) => {
            let ids: Vec<_> = ids.iter().map(u16::to_string).collect();
            format!("those of {} migrate here", ids.join(", "))
        }
    }
}

fn ad(page: &mut String) {
    say!(
        page,
        "## Ad\n\nThe fields around `category_fields`. Identifying fields, which cannot change after creation:\n"
    );
    ad_table(page, ad_fields::IDENTITY);
    say!(page, "\nFields that can change:\n");
    ad_table(page, ad_fields::WRITTEN);
    bullets(page, ad_fields::RULES.iter().copied().flatten());
    say!(page, "\nFields that only the service sets; a write ignores them, so clients can send back what they read:\n");
    say!(page, "| Field | Meaning |");
    say!(page, "|---|---|");
    for field in ad_fields::ADDED {
        say!(page, "| `{}` | {} |", field.path, field.doc);
    }
    say!(page, "");
}

fn ad_table(page: &mut String, fields: &'static [Field]) {
    say!(page, "| Field | Type | Rule |");
    say!(page, "|---|---|---|");
    for row in rows(fields) {
        say!(page, "| `{}` | {} | {} |", row.place, row.field.kind, rule(&row));
    }
}

fn common(page: &mut String) {
    let types = join_names(categories::typed().filter(|(_, category)| category.registered).map(|(name, _)| name));
    say!(page, "## {COMMON}\n\n{types}; their ads are published on both marketplaces.\n");
    table(page, &rows(COMMON_FIELDS), |row| row.field.kind.to_string());
    bullets(page, rules::REGISTERED);
    say!(page, "");
}

fn section(page: &mut String, vehicle_type: &str, category: &'static Category, catalogue: &Catalogue) {
    say!(page, "## {}\n", title(category));
    say!(page, "`/v4/{vehicle_type}`. {}\n", heading(category.heading));
    let mut shown = own_rows(category);
    let common =
        if category.registered { format!("The {}, and ", link("common fields", COMMON)) } else { String::new() };
    if let Some(like) = base_category(vehicle_type) {
        let theirs = own_rows(like);
        let there = |place: &str| shown.iter().any(|row| row.place == place);
        let left_out = join_names(theirs.iter().map(|row| row.place.as_str()).filter(|place| !there(place)));
        let fields = if common.is_empty() { "Fields" } else { "fields" };
        let like = title(like);
        say!(page, "{common}{fields} as {}, with the differences below.\n", link(&like, &like));
        if !left_out.is_empty() {
            say!(page, "Without: {left_out}.\n");
        }
        shown.retain(|row| !theirs.contains(row));
    } else if !common.is_empty() {
        say!(page, "{common}these:\n");
    }
    table(page, &shown, |row| row.words(category, catalogue));
    let of_all = |rule: &&Rule| rules::REGISTERED.iter().any(|common| common.name == rule.name);
    bullets(page, category.rules.iter().copied().flatten().filter(|rule| !of_all(rule)));
    say!(page, "");
}

/// The rows of a category without those of all registered ones.
fn own_rows(category: &'static Category) -> Vec<ReferenceRow> {
    rows(category.fields().filter(|field| !(category.registered && COMMON_FIELDS.contains(field))))
}

/// The type from which a type differs in the documents.
fn base_category(vehicle_type: &str) -> Option<&'static Category> {
    LIKE.iter().find(|(name, _)| *name == vehicle_type).and_then(|(_, like)| categories::by_vehicle_type(like))
}

fn open(page: &mut String) {
    let open = || categories::all().filter(|category| category.is_open());
    let ids: Vec<_> = open().map(|category| category.id.to_string()).collect();
    say!(page, "## Open categories (V3 only)\n");
    say!(
        page,
        "{}, under `/v3/ad`. `category_fields` is optional and has no field list: strings of at most \
         {} characters, numbers, booleans, arrays and objects are stored as sent, with at most \
         {MOST_MEMBERS} members per level and {MOST_LEVELS} levels, including the outermost.\n",
        ids.join(", "),
        grouped(&MOST_CHARACTERS)
    );
    for category in open().filter(|category| category.heading != Heading::Required) {
        say!(page, "- {} ({}): {}", category.name, category.id, heading(category.heading));
    }
    say!(page, "- All others: {}", heading(Heading::Required));
}

fn heading(heading: Heading) -> &'static str {
    match heading {
        Heading::Required => "`title` and `contact` are required.",
        Heading::Forbidden => {
            "`title` and `contact` must not be sent: the title is generated, and the contact is the dealer's own."
        }
        Heading::Optional => "`title` and `contact` are optional; a missing title is generated.",
    }
}

fn table(page: &mut String, rows: &[ReferenceRow], kind: impl Fn(&ReferenceRow) -> String) {
    say!(page, "| Field | Type | Since | Rule |");
    say!(page, "|---|---|---|---|");
    for row in rows {
        let tag = row.field.since.tag().unwrap_or_default();
        say!(page, "| `{}` | {} | {tag} | {} |", row.place, kind(row), rule(row));
    }
}

/// What a row says beside the type.
fn rule(row: &ReferenceRow) -> String {
    format!("{}{}", if row.field.required { "Required. " } else { "" }, row.field.doc)
}

fn bullets<'a>(page: &mut String, rules: impl IntoIterator<Item = &'a Rule>) {
    for (index, rule) in rules.into_iter().enumerate() {
        if index == 0 {
            say!(page, "\nRules over several fields:\n");
        }
        say!(page, "- **{}**: {}", rule.name, rule.doc);
    }
}

fn join_names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Heading of a category, such as `Car (1020)`.
fn title(category: &Category) -> String {
    let name = categories::humanised(&category.vehicle_type.unwrap_or(category.name).replace('-', "_"));
    // The category table has the right capitalisation, such as ATV.
    let name = if name.eq_ignore_ascii_case(category.name) { category.name } else { &name };
    format!("{name} ({})", category.id)
}

fn link(text: &str, heading: &str) -> String {
    let kept: String = heading.to_lowercase().chars().filter(|mark| mark.is_alphanumeric() || *mark == ' ').collect();
    format!("[{text}](#{})", kept.replace(' ', "-"))
}
