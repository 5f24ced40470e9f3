//! `ad-cli profiles` and `ad-cli logout`: the saved profiles.

use serde::Serialize;
use serde_json::Value;

use crate::{
    cli::claims::{Claims, Validity, approximate_distance},
    terminal::{Cell, Column, Context, Failure, Tone, plain, profiles::Profiles},
};

pub(in crate::cli) const HELP: &str = "\
The profile in use is the one of --profile or AD_PROFILE, or else `default`. Tokens are not shown.

Examples:
  ad-cli profiles
  ad-cli list --profile north";

pub(in crate::cli) const LOGOUT_HELP: &str = "\
Removes the token from this machine. It stays valid until it expires or is revoked.

Examples:
  ad-cli logout
  ad-cli logout --profile north";

const COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("IN USE", "in_use").shown(|is| if *is == Value::Bool(true) { "yes".into() } else { Cell::default() }),
    Column::new("URL", "url").wrapped(),
    Column::new("SCOPE", "scope").wrapped().rank(1),
    Column::new("EXPIRES", "expires").shown(expiry),
];

/// A profile without its token.
#[derive(Serialize)]
struct ProfileRow<'a> {
    name: &'a str,
    in_use: bool,
    url: &'a str,
    scope: Option<String>,
    expires: Option<String>,
}

fn expiry(text: &Value) -> Cell {
    match plain(text).as_str() {
        "" => "never".into(),
        past if past.ends_with("ago") => Cell::toned(past, Tone::Bad),
        soon => soon.into(),
    }
}

pub(crate) fn list(context: &Context) -> Result<(), Failure> {
    let profiles = Profiles::of_user()?;
    let now = context.now();
    let mut rows = context.out.rows(COLUMNS);
    for (name, profile) in profiles.all() {
        let claims = Claims::of(&profile.token);
        let expires = claims.as_ref().and_then(Claims::expires);
        let shown = |end| if context.out.is_for_people() { approximate_distance(end, now) } else { end.to_string() };
        rows.push(&ProfileRow {
            name,
            in_use: name == context.profile(),
            url: &profile.url,
            scope: claims.as_ref().map(Claims::scope),
            expires: expires.map(shown),
        })?;
    }
    rows.end()?;
    if profiles.all().next().is_none() {
        context.out.note("no profiles; to create one: ad-cli login");
    }
    let expired = |token: &str| Claims::of(token).is_some_and(|claims| claims.validity(now) == Validity::Expired);
    if profiles.get(context.profile()).is_some_and(|profile| expired(&profile.token)) {
        context.out.warning("the token of the profile in use has expired; run: ad-cli login");
    }
    Ok(())
}

pub(crate) fn logout(context: &Context) -> Result<(), Failure> {
    let mut profiles = Profiles::of_user()?;
    let name = context.profile();
    if !profiles.remove(name)? {
        return Err(profiles.missing(name));
    }
    let path = profiles.path().display();
    context.out.note(&format!("removed profile {name:?} from {path}; its token stays valid until it is revoked"));
    Ok(())
}
