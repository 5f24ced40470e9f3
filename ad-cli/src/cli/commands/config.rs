//! `ad-cli config`: which settings count, and where they come from.

use serde_json::json;

use crate::terminal::{ColorWhen, Column, Context, Failure, profiles::Profiles, token_of_environment};

pub(in crate::cli) const HELP: &str = "\
Options override the environment, the environment overrides the profile, and the profile overrides defaults. Tokens are not shown.

Examples:
  ad-cli config
  ad-cli config --profile north";

const COLUMNS: &[Column] =
    &[Column::new("SETTING", "setting"), Column::new("VALUE", "value").wrapped(), Column::new("FROM", "from")];

pub(crate) fn run(context: &Context) -> Result<(), Failure> {
    let profiles = Profiles::of_user()?;
    let profile = profiles.get(context.profile());
    let of_profile = || format!("profile {}", context.profile());
    let mut rows = context.out.rows(COLUMNS);
    let mut row = |setting: &str, value: Option<String>, from: String| {
        rows.push(&json!({"setting": setting, "value": value, "from": from}))
    };
    // What was given: by an option, unless the environment says just that.
    let given = |variable: &str, value: &str, default: &str| {
        if std::env::var(variable).is_ok_and(|set| set == value) {
            variable.to_owned()
        } else if value == default {
            "default".to_owned()
        } else {
            format!("--{}", variable.trim_start_matches("AD_").to_lowercase())
        }
    };
    row("profile", Some(context.profile().to_owned()), given("AD_PROFILE", context.profile(), "default"))?;
    match (context.url(), profile) {
        (Some(url), _) => row("url", Some(url.to_owned()), given("AD_URL", url, ""))?,
        (None, Some(profile)) => row("url", Some(profile.url.clone()), of_profile())?,
        (None, None) => row("url", None, "not set".to_owned())?,
    }
    match (token_of_environment()?, profile) {
        (Some(_), _) => row("token", Some("(hidden)".to_owned()), "AD_TOKEN".to_owned())?,
        (None, Some(_)) => row("token", Some("(hidden)".to_owned()), of_profile())?,
        (None, None) => row("token", None, "not set".to_owned())?,
    }
    let rate = context.rate.to_string();
    row("rate", Some(rate.clone()), given("AD_RATE", &rate, "10"))?;
    let timeout = context.timeout.as_secs().to_string();
    row("timeout", Some(timeout.clone()), given("AD_TIMEOUT", &timeout, "30"))?;
    let colors = if ColorWhen::is_unwanted() { "off: NO_COLOR is set" } else { "on a terminal" };
    row("colours", Some(colors.to_owned()), if ColorWhen::is_unwanted() { "NO_COLOR" } else { "default" }.to_owned())?;
    row("profiles", Some(profiles.path().display().to_string()), "file".to_owned())?;
    Ok(rows.end()?)
}
