//! The tables of limits in `docs/operations.md`, generated from the table of limits and the defaults of settings.

use std::{fmt::Write, fs, path::Path};

use super::table;
use ad_server_base::limits::table::{Limit, TABLE, Value};

const PAGE: &str = "docs/operations.md";
const BEGIN: &str =
    "<!-- Generated from limits/table.rs. UPDATE_SNAPSHOTS=1 cargo test -p ad-server --lib limits_page -->\n";
const END: &str = "<!-- end of the limits -->";

fn number(number: usize) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{},{rest:03}", self::number(thousands)),
    }
}

fn bytes(bytes: usize) -> String {
    [(1 << 20, "MiB"), (1_000_000, "MB"), (1 << 10, "KiB")]
        .into_iter()
        .find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit))
        .map_or_else(|| format!("{} bytes", number(bytes)), |(unit, name)| format!("{} {name}", number(bytes / unit)))
}

/// A default as people read it: `5d` as `5 days`.
fn default_of(setting: &str) -> String {
    let value = table::default_of(setting).unwrap_or_else(|| panic!("{setting} has a default")).trim_matches('"');
    let (digits, unit) = value.split_at(value.find(|it: char| !it.is_ascii_digit()).unwrap_or(value.len()));
    let digits = number(digits.parse().unwrap());
    match unit {
        "" => digits,
        "m" => format!("{digits} minutes"),
        "d" => format!("{digits} days"),
        unit => format!("{digits} {unit}"),
    }
}

fn value(Limit { value, values, .. }: &Limit) -> String {
    values.iter().fold((*value).to_owned(), |text, value| {
        let value = match *value {
            Value::Number(value) => number(value),
            Value::Bytes(value) => bytes(value),
            Value::Time(value) => format!("{} s", value.as_secs()),
            Value::Setting(setting) => default_of(setting),
        };
        text.replacen("{}", &value, 1)
    })
}

fn tables() -> String {
    let mut page = String::new();
    for (section, limits) in TABLE {
        let head = "| Limit | Default | Setting | Per | Why | When it is reached |\n|---|---|---|---|---|---|";
        write!(page, "\n### {section}\n\n{head}\n").unwrap();
        for limit in *limits {
            let error = limit.error.map_or_else(String::new, |(status, code)| format!("{status} `{code}`"));
            let effect = limit.effect.replace("{error}", &error);
            let Limit { name, setting, per, why, .. } = limit;
            writeln!(page, "| {name} | {} | {setting} | {per} | {why} | {effect} |", value(limit)).unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let current = [before, BEGIN, &tables(), "\n", END, after].concat();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &current).unwrap();
    } else {
        assert!(page == current, "{PAGE} is stale: UPDATE_SNAPSHOTS=1 cargo test -p ad-server --lib limits_page");
    }
}

#[test]
fn settings_and_values_of_limits_exist() {
    for limit in TABLE.iter().flat_map(|(_, limits)| *limits) {
        assert_eq!(limit.value.matches("{}").count(), limit.values.len(), "{}", limit.name);
        assert_eq!(limit.effect.contains("{error}"), limit.error.is_some(), "{}", limit.name);
        for setting in limit.setting.split('`').skip(1).step_by(2).filter(|it| !it.contains(' ')) {
            assert!(table::exists(setting), "{}: {setting}", limit.name);
        }
    }
}

#[test]
fn sizes_and_times_are_written_for_people() {
    assert_eq!([bytes(16 << 10), bytes(96 << 20), bytes(15_000_000)], ["16 KiB", "96 MiB", "15 MB"]);
    assert_eq!([number(64), number(10_000)], ["64", "10,000"]);
    assert_eq!(default_of("webhook_disabled_after"), "5 days");
}
