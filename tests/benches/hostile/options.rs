//! The benchmark's command line.

use std::time::Duration;

use crate::{Attack, attacks::ATTACKS};

pub(crate) enum Command {
    Run(Options),
    /// Print the names of the attacks.
    List,
}

pub(crate) struct Options {
    pub(crate) sqlite: bool,
    pub(crate) postgres: bool,
    pub(crate) attacks: Vec<&'static Attack>,
    /// How long each attack lasts.
    pub(crate) time: Duration,
}

/// Reads the arguments behind the program's name.
///
/// # Errors
/// When one of them has no meaning.
pub(crate) fn parse<'a>(arguments: impl Iterator<Item = &'a String>) -> Result<Command, String> {
    let mut arguments = arguments.map(String::as_str);
    let (mut sqlite, mut postgres) = (false, false);
    let (mut attacks, mut seconds) = (Vec::new(), 30);
    while let Some(argument) = arguments.next() {
        match argument {
            "list" => return Ok(Command::List),
            "sqlite" => sqlite = true,
            "postgres" => postgres = true,
            "--seconds" => {
                let value = arguments.next().unwrap_or_default();
                seconds = value.parse().map_err(|_| format!("--seconds {value:?}: give a whole number of seconds"))?;
            }
            name => {
                let attack = ATTACKS.iter().find(|attack| attack.name == name);
                attacks.push(attack.ok_or_else(|| format!("unknown attack {name:?}; `-- list` prints all of them"))?);
            }
        }
    }
    if attacks.is_empty() {
        attacks = ATTACKS.iter().collect();
    }
    let both = sqlite == postgres;
    Ok(Command::Run(Options {
        sqlite: sqlite || both,
        postgres: postgres || both,
        attacks,
        time: Duration::from_secs(seconds),
    }))
}
