//! Query parameters as options: every one of a table of [`ad_parameters`], under its own name with dashes.

use ad_parameters::{Parameter, Takes};
use std::marker::PhantomData;

use super::commands::values::brand_id;
use clap::{Arg, ArgMatches, Command, builder::PossibleValuesParser};

pub(crate) trait Table {
    /// Its rows, as far as they are options.
    fn parameters() -> impl Iterator<Item = &'static Parameter>;
}

/// What was given for the parameters of a table.
#[derive(Debug, Clone)]
pub(crate) struct GivenParameters<T> {
    values: Vec<(String, String)>,
    of: PhantomData<T>,
}

impl<T> GivenParameters<T> {
    /// Names and values, as they are sent.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.values
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The option of a query parameter: `--source-id-in` for `source_id__in`.
pub(crate) fn option(name: &str) -> String {
    name.replace("__", "-").replace('_', "-")
}

/// A value as it is sent: of a brand, the id.
pub(crate) fn as_sent(name: &str, value: &str) -> String {
    if name == "brand" { brand_id(value) } else { value.to_owned() }
}

fn argument(parameter: &'static Parameter) -> Arg {
    let value_name = match parameter.takes {
        Takes::Text(_) => "TEXT",
        Takes::Texts => "TEXT,…",
        Takes::Uuid => "UUID",
        Takes::Number(..) => "N",
        Takes::Numbers(..) => "N,…",
        Takes::Time => "TIME",
        Takes::OneOf(_) => "NAME",
        Takes::SomeOf(_) => "NAME,…",
        Takes::Boolean => "true|false",
    };
    let argument = Arg::new(parameter.name)
        .long(option(parameter.name))
        .value_name(value_name)
        .help(parameter.doc.replace('`', ""))
        .allow_hyphen_values(true);
    match parameter.takes {
        Takes::OneOf(names) => argument.value_parser(PossibleValuesParser::new(names)),
        Takes::SomeOf(names) if names.len() > 1 => {
            let doc = parameter.doc.replace('`', "");
            argument.help(format!("{doc} [possible values: {}]", names.join(", ")))
        }
        _ => argument,
    }
}

impl<T: Table> clap::Args for GivenParameters<T> {
    fn augment_args(command: Command) -> Command {
        T::parameters().fold(command, |command, parameter| command.arg(argument(parameter)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Table> clap::FromArgMatches for GivenParameters<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let value = |parameter: &Parameter| {
            Some((parameter.name.to_owned(), as_sent(parameter.name, matches.get_one::<String>(parameter.name)?)))
        };
        Ok(Self { values: T::parameters().filter_map(value).collect(), of: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What is wrong with what was given, under the names of its options or arguments.
pub(crate) fn wrong(out: crate::terminal::Output, errors: &ad_core::fields::FieldErrors) -> super::Failure {
    let argument = |name: &str| out.argument(&option(name).replace('-', "_"));
    let lines = errors.flatten().into_iter().map(|(name, message)| format!("{}: {message}", argument(&name)));
    super::Failure::usage(lines.collect::<Vec<_>>().join("\n       "))
}
