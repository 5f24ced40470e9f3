//! `ad-cli doctor`: everything between this machine and the ads of a dealer, one check after the other.

use std::time::{Duration, Instant};

use ad_core::model::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    ErrorKind, Me, Scope,
    cli::claims::{Claims, Validity, approximate_distance},
    terminal::{Cell, Column, Context, Exit, Failure, Tone, counted, plain},
};

pub(in crate::cli) const HELP: &str = "\
Checks the server URL, the connection, the clock, the token, its permissions and its dealers, and says what to do about the first thing that is \
wrong. Nothing is changed.

Exit code 0: everything is in order. 1: something is not.

Examples:
  ad-cli doctor
  ad-cli doctor --profile north";

const COLUMNS: &[Column] = &[
    Column::new("CHECK", "check"),
    Column::new("RESULT", "result").shown(result),
    Column::new("DETAILS", "details").wrapped(),
];

/// Clocks may differ by so much: the leeway of tokens.
const MOST_SKEW: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckResult {
    Ok,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
struct DoctorCheck {
    check: &'static str,
    result: CheckResult,
    details: String,
}

fn result(value: &Value) -> Cell {
    let text = plain(value);
    let tone = match text.as_str() {
        "ok" => Tone::Good,
        "warning" => Tone::Warning,
        _ => Tone::Bad,
    };
    Cell::toned(text, tone)
}

pub(crate) async fn run(context: &Context) -> Result<(), Failure> {
    let mut checks = Vec::new();
    let ended = examine(context, &mut checks).await;
    context.out.table(COLUMNS, &checks)?;
    // The message is in the last row.
    ended.map_err(|failure| failure.shown(context.out))?;
    if checks.iter().any(|check| check.result == CheckResult::Failed) {
        Err(Failure::Shown(Exit::Failed))
    } else {
        Ok(())
    }
}

/// Makes the checks until one fails that the others need.
async fn examine(context: &Context, checks: &mut Vec<DoctorCheck>) -> Result<(), Failure> {
    let mut say = |check, result, details: String| checks.push(DoctorCheck { check, result, details });
    let connection = context.connection();
    let connection = connection.inspect_err(|failure| say("settings", CheckResult::Failed, failure.to_string()))?;
    let from = connection.profile.as_ref().map_or("AD_TOKEN".to_owned(), |name| format!("profile {name}"));
    let client = context.client_for(&connection.url, &connection.token)?;
    say("settings", CheckResult::Ok, format!("{}, token from {from}", client.url()));
    let began = Instant::now();
    let service = client.version().await;
    let service = service.inspect_err(|error| say("connection", CheckResult::Failed, error.to_string()))?;
    let tls = if client.url().starts_with("https://") { "with TLS" } else { "without TLS" };
    let (version, took) = (&service.body, began.elapsed().as_millis());
    say("connection", CheckResult::Ok, format!("version {version} of the service answers in {took} ms, {tls}"));
    if let Some(theirs) = service.time {
        let (verdict, details) = clock(context.now(), theirs);
        say("clock", verdict, details);
    }
    let me = client.me().await.inspect_err(|error| {
        let why = match (error.kind(), Claims::of(&connection.token)) {
            (ErrorKind::Unauthorised(_), Some(claims)) if claims.validity(context.now()) == Validity::Expired => {
                let end = claims.expires().map(|end| approximate_distance(end, context.now())).unwrap_or_default();
                format!("it expired {end}")
            }
            _ => error.to_string(),
        };
        say("token", CheckResult::Failed, why);
    })?;
    let (verdict, details) = token(&me, context.now());
    say("token", verdict, details);
    say("permissions", CheckResult::Ok, me.permissions.join(", "));
    for (check, result, details) in dealers(&me) {
        say(check, result, details);
    }
    Ok(())
}

fn clock(ours: Timestamp, theirs: Timestamp) -> (CheckResult, String) {
    let skew = if ours > theirs { ours - theirs } else { theirs - ours };
    // The time of the answer has no fractions.
    if skew <= MOST_SKEW {
        return (CheckResult::Ok, "in step with the service".to_owned());
    }
    let way = if ours > theirs { "ahead of" } else { "behind" };
    (CheckResult::Warning, format!("{} s {way} the service; set the clock of this machine", skew.as_secs()))
}

fn token(me: &Me, now: Timestamp) -> (CheckResult, String) {
    let scope = match &me.scope {
        Scope::Dealer(code) => format!("dealer {code}"),
        Scope::Group(group) => format!("group {group}"),
    };
    match me.token.expires {
        Some(end) if end - now < Duration::from_hours(24 * 7) => (
            CheckResult::Warning,
            format!("{scope}; expires {}; ask customer support for a new one", approximate_distance(end, now)),
        ),
        Some(end) => (CheckResult::Ok, format!("{scope}; expires {}", approximate_distance(end, now))),
        None => (CheckResult::Ok, format!("{scope}; does not expire")),
    }
}

fn dealers(me: &Me) -> Vec<(&'static str, CheckResult, String)> {
    if me.dealers.is_empty() {
        return vec![("dealer", CheckResult::Failed, "the service knows no dealer of this token".to_owned())];
    }
    let of = |dealer: &crate::DealerAccess| {
        let bump: Vec<_> = dealer.bump.iter().map(|market| market.name()).collect();
        let bump =
            if bump.is_empty() { "may not bump".to_owned() } else { format!("may bump on {}", bump.join(" and ")) };
        ("dealer", CheckResult::Ok, format!("{} ({}): {}, {bump}", dealer.code, dealer.name, counted(dealer.ads, "ad")))
    };
    me.dealers.iter().map(of).collect()
}
