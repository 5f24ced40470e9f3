//! The arguments of a tool, derived from those of its command: their JSON schema, and the command line of a call.
//!
//! A value never becomes an option: options are passed as `--name=value`, all other values follow `--`.

use ad_core::violation::nearest;
use clap::{Arg, ArgAction, Command, builder::ValueParser};
use rmcp::object;
use serde_json::{Map, Value, json};

use super::tools::{Count, Offered, Payload, Tool};
use crate::terminal::name_in_tools;

/// The argument with the payloads of a call.
const PAYLOAD: &str = "payload";

/// What that argument was called in some tools; it is accepted in all of them.
const FORMER_NAMES: [&str; 2] = ["payloads", "changes"];

#[derive(Debug)]
pub(super) struct Arguments {
    /// Those of the command, positional ones in their order.
    given: Vec<Argument>,
    payload: Option<Payload>,
}

#[derive(Debug)]
struct Argument {
    name: String,
    about: String,
    /// The option; `None` is a positional argument.
    option: Option<String>,
    kind: Kind,
    several: Several,
    required: bool,
    choices: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Boolean,
    Integer,
    Number,
    Text,
}

/// How several values are passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Several {
    No,
    Repeated,
    /// In one value, separated by commas.
    WithCommas,
}

/// A call as a command line.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    /// Arguments of the command, without the program.
    pub(super) words: Vec<String>,
    pub(super) stdin: Option<String>,
}

impl Argument {
    fn of(argument: &Arg) -> Self {
        let (value, repeated) = match argument.get_value_names() {
            Some([name, ..]) => (name.as_str(), matches!(argument.get_action(), ArgAction::Append)),
            _ => ("", false),
        };
        let (value, with_commas) = value.strip_suffix(",…").map_or((value, false), |value| (value, true));
        // The names of values say what they are; see `parameters`.
        let kind = match value {
            _ if matches!(argument.get_action(), ArgAction::SetTrue) => Kind::Flag,
            "true|false" => Kind::Boolean,
            "N" => Kind::Integer,
            "AMOUNT" => Kind::Number,
            _ => Kind::Text,
        };
        let choices = match kind {
            Kind::Flag => Vec::new(),
            _ => argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
        };
        let option = argument.get_long().map(str::to_owned);
        Self {
            name: name_in_tools(argument),
            // Several values are an array.
            about: help(argument).replace(", separated by commas", ""),
            kind,
            several: match (repeated, with_commas) {
                (true, _) => Several::Repeated,
                (false, true) => Several::WithCommas,
                (false, false) => Several::No,
            },
            required: argument.is_required_set(),
            option,
            choices,
        }
    }

    fn schema(&self) -> Value {
        let mut one = match self.kind {
            Kind::Flag | Kind::Boolean => json!({"type": "boolean"}),
            Kind::Integer => json!({"type": "integer"}),
            Kind::Number => json!({"type": "number"}),
            Kind::Text => json!({"type": "string"}),
        };
        if !self.choices.is_empty() {
            one["enum"] = json!(self.choices);
        }
        let mut schema = if self.several == Several::No { one } else { json!({"type": "array", "items": one}) };
        schema["description"] = json!(self.about);
        schema
    }

    /// The values of a call as texts; an error says what is expected.
    fn texts(&self, value: &Value) -> Result<Vec<String>, String> {
        let one = |value: &Value| match (self.kind, value) {
            (Kind::Flag | Kind::Boolean, Value::Bool(value)) => Ok(value.to_string()),
            (Kind::Integer, Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
            (Kind::Number, Value::Number(number)) => Ok(number.to_string()),
            (Kind::Text, Value::String(text)) if text.contains('\0') => Err("expected a text without NUL".to_owned()),
            (Kind::Text, Value::String(text)) => Ok(text.clone()),
            (Kind::Flag | Kind::Boolean, _) => Err("expected true or false".to_owned()),
            (Kind::Integer, _) => Err("expected an integer".to_owned()),
            (Kind::Number, _) => Err("expected a number".to_owned()),
            (Kind::Text, _) => Err("expected a string".to_owned()),
        };
        match (self.several, value) {
            (Several::No, value) => Ok(vec![one(value)?]),
            (_, Value::Array(values)) => {
                let texts = values.iter().map(one).collect::<Result<Vec<_>, _>>()?;
                if self.several == Several::Repeated || texts.is_empty() {
                    return Ok(texts);
                }
                match texts.iter().find(|text| text.contains(',')) {
                    Some(text) => Err(format!("{text:?} contains a comma; separate values are separate items")),
                    None => Ok(vec![texts.join(",")]),
                }
            }
            _ => Err("expected an array".to_owned()),
        }
    }
}

fn help(argument: &Arg) -> String {
    argument.get_help().map(ToString::to_string).unwrap_or_default()
}

impl Arguments {
    /// Those that a tool has of this command.
    pub(super) fn of(tool: &Tool, command: &Command) -> Self {
        let path = ValueParser::path_buf().type_id();
        let is_offered = |argument: &&Arg| {
            let name = name_in_tools(argument);
            let is_chosen = match tool.offered {
                Offered::Only(names) => names.contains(&name.as_str()),
                Offered::AllBut(names) => !names.contains(&name.as_str()),
            };
            // Of the options of every command, a tool may select fields. It reads and writes no files.
            is_chosen
                && (!argument.is_global_set() || argument.get_id() == "fields")
                && !argument.is_hide_set()
                && argument.get_value_parser().type_id() != path
        };
        let mut given: Vec<_> = command.get_arguments().filter(is_offered).map(Argument::of).collect();
        for argument in &mut given {
            if let Some((_, about)) = tool.described.iter().find(|(name, _)| *name == argument.name) {
                (*about).clone_into(&mut argument.about);
            }
            argument.required |= tool.required == Some(&argument.name);
        }
        Self { given, payload: tool.payload }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.given.iter().map(|argument| argument.name.as_str()).chain(self.payload.map(|_| PAYLOAD))
    }

    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut properties: Map<_, _> =
            self.given.iter().map(|argument| (argument.name.clone(), argument.schema())).collect();
        let required = self.given.iter().filter(|argument| argument.required).map(|argument| argument.name.as_str());
        let mut required: Vec<_> = required.collect();
        if let Some(Payload { about, count }) = self.payload {
            let schema = match count {
                Count::Several => {
                    json!({"type": "array", "items": {"type": "object"}, "minItems": 1, "description": about})
                }
                Count::One | Count::Optional => json!({"type": "object", "description": about}),
            };
            properties.insert(PAYLOAD.to_owned(), schema);
            if count != Count::Optional {
                required.push(PAYLOAD);
            }
        }
        object!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    /// The command line of a call.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub(super) fn line(&self, call: &Map<String, Value>) -> Result<Line, String> {
        let is_former = |name: &str| self.payload.is_some() && FORMER_NAMES.contains(&name);
        if let Some(unknown) = call.keys().find(|name| !self.names().any(|known| known == *name) && !is_former(name)) {
            let hint = nearest::did_you_mean(unknown, self.names())
                .unwrap_or_else(|| format!("Known arguments: {}", self.names().collect::<Vec<_>>().join(", ")));
            return Err(format!("unknown argument {unknown:?}. {hint}"));
        }
        let (mut options, mut values) = (Vec::new(), Vec::new());
        let mut absent: Option<&str> = None;
        for argument in &self.given {
            let name = &argument.name;
            // Assistants send null for what they leave out.
            let texts = match call.get(name).filter(|value| !value.is_null()) {
                Some(value) => argument.texts(value).map_err(|expected| format!("{name}: {expected}"))?,
                None => Vec::new(),
            };
            if texts.is_empty() && argument.required {
                return Err(format!("missing argument {name:?}: {}", argument.about));
            }
            match (&argument.option, argument.kind) {
                (Some(option), Kind::Flag) if texts == ["true"] => options.push(format!("--{option}")),
                (Some(_), Kind::Flag) => {}
                (Some(option), _) => options.extend(texts.iter().map(|text| format!("--{option}={text}"))),
                (None, _) if texts.is_empty() => absent = absent.or(Some(name)),
                // Values are known by their places.
                (None, _) => match absent {
                    Some(absent) => return Err(format!("{name} requires {absent}")),
                    None => values.extend(texts),
                },
            }
        }
        let stdin = self.payload.map_or(Ok(None), |payload| stdin(payload, call))?;
        if stdin.is_some() {
            values.push("-".to_owned());
        }
        if !values.is_empty() {
            options.push("--".to_owned());
        }
        Ok(Line { words: options.into_iter().chain(values).collect(), stdin })
    }
}

/// The payloads as the command reads them: one per line.
fn stdin(Payload { count, .. }: Payload, call: &Map<String, Value>) -> Result<Option<String>, String> {
    let names = [PAYLOAD].into_iter().chain(FORMER_NAMES);
    let mut given = names.filter_map(|name| Some((name, call.get(name).filter(|value| !value.is_null())?)));
    let (first, second) = (given.next(), given.next());
    if let (Some((name, _)), Some((other, _))) = (first, second) {
        return Err(format!("{name} and {other} are the same argument; give {PAYLOAD} only"));
    }
    match (first, count) {
        (None, Count::Optional) => Ok(None),
        (None, Count::One | Count::Several) => Err(format!("missing argument {PAYLOAD:?}")),
        (Some((_, payload @ Value::Object(_))), _) => Ok(Some(payload.to_string())),
        (Some((name, _)), Count::Optional | Count::One) => Err(format!("{name}: expected an object")),
        (Some((name, Value::Array(payloads))), Count::Several) if !payloads.is_empty() => {
            if let Some(index) = payloads.iter().position(|payload| !payload.is_object()) {
                return Err(format!("{name}: item {index} is not an object"));
            }
            Ok(Some(payloads.iter().flat_map(|payload| [payload.to_string(), "\n".to_owned()]).collect()))
        }
        (Some((name, _)), Count::Several) => Err(format!("{name}: expected an array of objects")),
    }
}
