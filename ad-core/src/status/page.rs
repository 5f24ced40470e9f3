//! `docs/status.md`: the statuses and codes with who acts and what to do.

use std::fmt::Write;

use super::advice::{CODES, PUBLISH, WAIT, advice, of_ad, of_channel_status};
use crate::model::{AdStatus, ChannelStatus};

/// What the page says before its tables.
const INTRODUCTION: &str = include_str!("introduction.md");

/// The text of `docs/status.md`, generated from the tables.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## Status of an ad\n\n| `status` | Meaning |\n|---|---|\n");
    for status in AdStatus::NAMES.iter().filter_map(|name| AdStatus::from_name(name)) {
        say!(page, "| `{status}` | {} |", of_ad(status));
    }
    page.push_str("\n## Status of a channel\n\n| `channels[].status` | Meaning |\n|---|---|\n");
    for status in ChannelStatus::NAMES.iter().filter_map(|name| ChannelStatus::from_name(name)) {
        say!(page, "| `{status}` | {} |", of_channel_status(status));
    }
    page.push_str(
        "\n## Codes\n\nAs long as the service tries again by itself (`waiting`, `paused`), `who_acts` is the one in the third \
         column. After the last attempt (`failed`, `outdated`) it is the one in the fourth.\n\n\
         | `code` | Why | Acts while `waiting` | Acts once `failed` | What to do then |\n|---|---|---|---|---|\n",
    );
    for row in CODES {
        let (name, about) = (row.code.name(), row.code.about());
        let (waiting, failed) = (advice(row.code, true), advice(row.code, false));
        say!(
            page,
            "| [`{name}`](errors.md#{name}) | {} | `{}` | `{}` | {} |",
            about.explanation,
            waiting.who_acts,
            failed.who_acts,
            failed.what_to_do.unwrap_or_default()
        );
    }
    say!(
        page,
        "\nWhile the service tries again, `what_to_do` is \"{WAIT}\", unless the dealer has to act. A channel that is `not_listed` \
         although its ad is visible, as after an import, says \"{PUBLISH}\" to the dealer. Where nobody has to act, `who_acts` is \
         `nobody` and `what_to_do` is `null`."
    );
    page
}
