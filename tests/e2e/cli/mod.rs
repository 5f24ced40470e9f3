//! The command line and its client, against real servers.

mod ads;
mod changing;
mod checking;
mod client;
mod completing;
mod day;
mod docs;
mod events;
mod importing;
mod interrupted;
mod lists;
mod mcp;
mod migration;
mod mistakes;
mod photos;
mod profiles;
mod quality;
mod receivers;
pub(crate) mod relay;
mod revisions;
mod screens;
mod setup;
mod sheets;
mod status;
mod sync;
mod sync_interrupted;
pub(crate) mod terminal;
mod terms;
mod trouble;
mod widths;

use ad_tests::{Cli, Server};

/// A text with what differs from run to run replaced: ids, times, and where the server and the user's folder are.
fn redacted(text: &str, cli: &Cli, server: Option<&Server>) -> String {
    let mut text = text.replace(&cli.home().display().to_string(), "HOME");
    if let Some(server) = server {
        text = text.replace(&server.client.base, "URL");
    }
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(character) = rest.chars().next() {
        if let Some(length) = PATTERNS.iter().find_map(|(pattern, _)| matches(rest, pattern)) {
            let (_, name) = PATTERNS.iter().find(|(pattern, _)| matches(rest, pattern).is_some()).unwrap();
            out += name;
            rest = &rest[length..];
        } else {
            out.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    out
}

/// `x` is a hexadecimal digit, `0` a digit. Padded, so that tables stay in order.
const PATTERNS: [(&str, &str); 5] = [
    ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "<uuid>                              "),
    ("0000-00-00T00:00:00.000Z", "<time>"),
    ("0000-00-00 00:00:00Z", "<time>              "),
    ("0000-00-00 00:00Z", "<time>           "),
    ("0000-00-00 00:00", "<time>"),
];

fn matches(text: &str, pattern: &str) -> Option<usize> {
    let mut characters = text.chars();
    let fits = pattern.chars().all(|wanted| {
        characters.next().is_some_and(|character| match wanted {
            'x' => character.is_ascii_hexdigit(),
            '0' => character.is_ascii_digit(),
            wanted => character == wanted,
        })
    });
    fits.then_some(pattern.len())
}
