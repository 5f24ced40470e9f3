//! `ad-cli history`: what an ad said, when, and who changed it.

use ad_core::model::{MAX_LIMIT, Page};
use serde_json::Value;

use crate::{
    RevisionEntry, Target,
    cli::acts::{self, TargetArgs},
    terminal::{Cell, Column, Context, Failure, ad_table, plain, readable},
};

pub(in crate::cli) const HELP: &str = "\
Shows every recorded change of an ad, the newest first: when, with which token and through what it was made, and the fields that it changed. A revision \
is the ad after its change. To see it: ad-cli get SOURCE_ID --revision N. To bring it back: ad-cli restore SOURCE_ID N

Examples:
  ad-cli history car-1
  ad-cli history car-1 --output json | jq \".[0].changes\"";

const COLUMNS: &[Column] = &[
    Column::new("REVISION", "revision"),
    Column::new("CHANGED AT", "created").shown(ad_table::second),
    Column::new("ACTION", "action"),
    Column::new("BY", "asked_by").shown(by),
    Column::new("THROUGH", "via").shown(|via| plain(via).replace('_', " ").into()),
    Column::new("CHANGED", "changes").shown(changed).wrapped(),
    Column::new("REQUEST", "request_id").for_programs(),
];

/// The label of the token, or the end of its id: ids of tokens that were issued one after the other begin alike.
fn by(asked_by: &Value) -> Cell {
    let token = || Some(format!("token …{}", asked_by["token"].as_str()?.rsplit('-').next()?));
    asked_by["label"].as_str().map(str::to_owned).or_else(token).unwrap_or_default().into()
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
