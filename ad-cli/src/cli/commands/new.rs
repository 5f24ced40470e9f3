//! `ad-cli new`: a payload to begin with. The payload goes to stdout, ready for a file; what its fields mean, to stderr.

use ad_core::{
    categories::{Category, TRAILER},
    model::ApiVersion,
    reference::ReferenceRow,
    rulebook::{Rulebook, payload::PayloadError},
    stock::put,
};
use ad_files::json::at;
use serde_json::{Map, Value};

mod asked;

use crate::{
    bulk::{Invocation, Surface, check::known},
    cli::through::VehicleType,
    terminal::{Context, Failure},
};
use asked::Questions;

#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The sample ad is hidden (visible is false), so that it is not published by accident. Vehicle types may be given as people call them: van, \
motorhome, bil, traktor.

Examples:
  ad-cli new car --ask                   answer questions, and save the payload
  ad-cli new car > car.json              required and recommended fields
  ad-cli new van --source-id 4711 > van.json
  ad-cli new boat --full > boat.json     all fields
  ad-cli new car | ad-cli validate -

From a new payload to an ad:
  ad-cli new car > car.json              then edit car.json
  ad-cli validate car.json
  ad-cli create car.json")]
pub(crate) struct NewArgs {
    /// The vehicle type, such as car
    #[arg(value_parser = VehicleType)]
    r#type: &'static Category,
    /// Ask for each field on the terminal, and save the answers as a payload
    #[arg(long)]
    ask: bool,
    /// Include all fields of this type
    #[arg(long)]
    full: bool,
    /// Make an ad that is published at once, instead of a hidden one
    #[arg(long)]
    visible: bool,
    /// Source id of the ad [default: a random one]
    #[arg(long, value_name = "TEXT")]
    source_id: Option<String>,
    /// Of the older version V3 of the service
    #[arg(long)]
    v3: bool,
}

/// What a short example keeps though nothing demands it: buyers do.
const WANTED: &[&str] = &["price", "body", "category_fields.brand", "category_fields.model"];

/// The text of a short payload: JSON cannot be wrapped, and it has to fit a narrow terminal.
const SHORT_BODY: &str = "Well kept, serviced regularly.";

pub(crate) fn run(context: &Context, args: &NewArgs) -> Result<(), Failure> {
    let (category, name) = (args.r#type, args.r#type.vehicle_type.unwrap_or_default());
    let version = if args.v3 { ApiVersion::V3 } else { ApiVersion::V4 };
    if !category.is_in(version) {
        return Err(Failure::usage(format!("V3 has no vehicle type {name}")).hint("omit --v3"));
    }
    let rulebook = Rulebook::default();
    let rows = known(category);
    let mut payload = category.example(version, &rulebook);
    // A reference is used once and for all, and examples are tried more than once.
    let source_id = args.source_id.clone().unwrap_or_else(|| format!("{name}-{:08x}", fastrand::u32(..)));
    payload.insert("source_id".to_owned(), Value::from(source_id.as_str()));
    if !args.full {
        payload = shorten(category, version, &rulebook, &rows, &payload);
        if let Some(body) = payload.get_mut("body") {
            *body = Value::from(SHORT_BODY);
        }
    }
    if args.ask {
        let source_id = args.source_id.as_deref();
        let questions =
            Questions { context, category, version, rulebook: &rulebook, rows: &rows, example: &payload, source_id };
        return questions.ask(args.visible);
    }
    if !args.visible {
        payload.insert("visible".to_owned(), Value::Bool(false));
    }
    context.out.text(&written(&payload, category))?;
    explain(context, args, &payload, &rows);
    if !args.visible {
        let show = Invocation::new("show");
        // The payload that is saved will have another random id than the one on the screen.
        let show = if args.source_id.is_none() && context.out.is_at_terminal() {
            show.with_some("source_ids", "SOURCE_ID")
        } else {
            show.with("source_ids", vec![source_id])
        };
        let show = context.out.command(&show);
        context.out.note(&format!("the ad is hidden; to publish it: {show}"));
    }
    Ok(())
}

/// A payload as people edit it: its fields in the order of the tables.
pub(super) fn written(payload: &Map<String, Value>, category: &Category) -> String {
    let mut text = String::new();
    write(&Value::Object(payload.clone()), "", &known(category), 0, &mut text);
    text + "\n"
}

/// Leaves what must be sent and what buyers look for, and of the rest what the rules demand with it.
pub(in crate::cli) fn shorten(
    category: &'static Category,
    version: ApiVersion,
    rulebook: &Rulebook,
    rows: &[ReferenceRow],
    full: &Map<String, Value>,
) -> Map<String, Value> {
    let errors = |ad: &Map<String, Value>| match rulebook.create_unsent(version, Some(category), ad.clone()) {
        Err(PayloadError::Fields(errors)) => errors.flatten().len(),
        _ => 0,
    };
    let copy = |place: &str, ad: &mut _| at(full, place).is_some_and(|value| put(ad, place, value.clone()));
    let mut ad = Map::new();
    let (mut kept, others): (Vec<_>, Vec<_>) = rows
        .iter()
        .filter(|row| !row.place.contains("[]"))
        .partition(|row| row.field.required || WANTED.contains(&row.place.as_str()));
    kept.retain(|row| row.place != "category_fields");
    for row in kept {
        copy(&row.place, &mut ad);
    }
    // Other prices than the first want more fields.
    if let Some(Value::Array(prices)) = ad.get_mut("price") {
        prices.truncate(1);
    }
    for row in others {
        let wrong = errors(&ad);
        if wrong == 0 {
            break;
        }
        let mut more = ad.clone();
        copy(&row.place, &mut more);
        if errors(&more) < wrong {
            ad = more;
        }
    }
    ad
}

/// Writes a value, with the members of objects in the order of the tables.
fn write(value: &Value, path: &str, rows: &[ReferenceRow], level: usize, out: &mut String) {
    let (brackets, items): (_, Vec<_>) = match value {
        // A measure reads best on one line.
        Value::Object(measure) if measure.len() == 2 && measure.contains_key("unit") => {
            let part = |name| measure.get(name).map_or(String::new(), Value::to_string);
            *out += &["{\"value\": ", &part("value"), ", \"unit\": ", &part("unit"), "}"].concat();
            return;
        }
        Value::Object(object) => {
            let member = |(name, value)| {
                let place = if path.is_empty() { String::clone(name) } else { format!("{path}.{name}") };
                (format!("{}: ", Value::from(name.as_str())), value, place)
            };
            let mut members: Vec<_> = object.iter().map(member).collect();
            members.sort_by_key(|(.., place)| {
                rows.iter().position(|row| is_at_or_below(&row.place, place)).unwrap_or(rows.len())
            });
            (["{", "}"], members)
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            (["[", "]"], items.iter().map(|item| (String::new(), item, format!("{path}[]"))).collect())
        }
        other => return *out += &other.to_string(),
    };
    out.push_str(brackets[0]);
    for (index, (name, value, path)) in items.into_iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        out.extend([comma, "\n", &"  ".repeat(level + 1), &name]);
        write(value, &path, rows, level + 1, out);
    }
    out.extend(["\n", &"  ".repeat(level), brackets[1]]);
}

fn is_at_or_below(place: &str, path: &str) -> bool {
    place.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// What the fields of the payload mean, and what to do next.
fn explain(context: &Context, args: &NewArgs, payload: &Map<String, Value>, rows: &[ReferenceRow]) {
    let (category, name) = (args.r#type, args.r#type.vehicle_type.unwrap_or_default());
    let is_shown = |row: &&ReferenceRow| !row.place.contains("[]") && at(payload, &row.place).is_some();
    let shown: Vec<_> = rows.iter().filter(is_shown).collect();
    context.out.note("");
    context.out.note("Fields (* required):");
    let named = |row: &&ReferenceRow| {
        let mark = if row.field.required { '*' } else { ' ' };
        (format!("{mark} {}", row.place), row.field.doc.replace('`', "").into())
    };
    context.out.note_named(&shown.iter().map(named).collect::<Vec<_>>());
    if category.id == TRAILER {
        context.out.warning("trailers cannot be created; this payload is for updates and migrations");
    }
    let out = context.out;
    let fields = out.command(&Invocation::new("fields").with("type", name));
    let values = out.command(&Invocation::new("values").with("type", name).with_some("attribute", "FIELD"));
    let validate = match out.surface() {
        Surface::CommandLine => Invocation::new("validate").with_some("file", "FILE"),
        Surface::Tools => Invocation::new("validate").with_some("payload", "PAYLOAD"),
    };
    let validate = out.command(&validate);
    out.note("");
    for (what, command) in [("all fields", fields), ("allowed values", values)] {
        out.note(&format!("{what}: {command}"));
    }
    if !out.is_at_terminal() || category.id == TRAILER {
        out.note(&format!("to validate: {validate}"));
        return;
    }
    out.note("\nThis payload is not saved. To create an ad:");
    for (number, step) in (1..).zip(steps(args, name)) {
        out.note(&format!("  {number}. {step}"));
    }
}

/// From the payload on the screen to an ad, with a file that people edit.
fn steps(args: &NewArgs, name: &str) -> [String; 4] {
    let mut new = Invocation::new("new").with("type", name);
    for (flag, is_set) in [("full", args.full), ("visible", args.visible), ("v3", args.v3)] {
        new = if is_set { new.flag(flag) } else { new };
    }
    if let Some(source_id) = &args.source_id {
        new = new.option("source_id", source_id.as_str());
    }
    let file = format!("{name}.json");
    let of_file = |command| {
        let command = Invocation::new(command).with("file", file.as_str());
        if args.v3 { command.flag("v3") } else { command }.on(Surface::CommandLine)
    };
    [
        format!("{} > {file}", new.on(Surface::CommandLine)),
        format!("edit {file} in a text editor"),
        of_file("validate"),
        of_file("create"),
    ]
}
