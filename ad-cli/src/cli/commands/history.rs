//! `ad-cli history`: what an ad said, when, and who changed it.

use ad_core::model::{MAX_LIMIT, Page};
use serde_json::Value;

use crate::{
    RevisionEntry, Target,
    cli::acts::{self, TargetArgs},
    terminal::{Cell, Column, Context, Failure, ad_table, readable},
};

pub(in crate::cli) const HELP: &str = "\
Shows every recorded change of an ad, the newest first: when, with which token and through what it was made, and the fields that it changed. To see \
the ad as it was: ad-cli get SOURCE_ID --revision N. To bring it back: ad-cli restore SOURCE_ID N

Examples:
  ad-cli history car-1
  ad-cli history car-1 --output json | jq \".[0].changes\"";

const COLUMNS: &[Column] = &[
    Column::new("REVISION", "revision"),
    Column::new("CREATED", "created").shown(ad_table::second),
    Column::new("ACTION", "action"),
    Column::new("BY", "asked_by").shown(by).shortened(),
    Column::new("THROUGH", "via"),
    Column::new("CHANGED", "changes").shown(changed).wrapped(),
    Column::new("REQUEST", "request_id").for_programs(),
];

/// The label of the token, or its id.
fn by(asked_by: &Value) -> Cell {
    let name = ["label", "token"].into_iter().find_map(|name| asked_by[name].as_str());
    name.unwrap_or_default().into()
}

/// `body: Old → New`, for each field.
fn changed(changes: &Value) -> Cell {
    const MOST: usize = 60;
    let value = |value: &Value| {
        let text = if value.is_null() { "–".to_owned() } else { readable(value) };
        match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    };
    let one = |change: &Value| {
        let field = change["pointer"].as_str().unwrap_or_default().trim_start_matches('/').replace('/', ".");
        format!("{field}: {} → {}", value(&change["from"]), value(&change["to"]))
    };
    let changes: Vec<_> = changes.as_array().into_iter().flatten().map(one).collect();
    changes.join("; ").into()
}

pub(crate) async fn run(context: &Context, args: &TargetArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let ask = async |target: Target<'_>| {
        let mut revisions: Vec<RevisionEntry> = Vec::new();
        loop {
            let page = Page { limit: MAX_LIMIT, offset: revisions.len() as u64 };
            let answer = client.v4().revisions(target, page).await?.body;
            let is_last = answer.results.is_empty();
            revisions.extend(answer.results);
            if is_last || revisions.len() as u64 >= answer.count {
                return Ok(revisions);
            }
        }
    };
    let revisions = acts::found(&client, args.target(), ask).await?;
    Ok(context.out.table(COLUMNS, &revisions)?)
}
