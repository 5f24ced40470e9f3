//! `ad-cli quality`: how good ads are, and what would make them better.

use ad_core::model::Quality;
use serde::Serialize;

use crate::{
    bulk::Invocation,
    cli::acts::{self, ShownArgs},
    terminal::{Column, Context, Failure, quality},
};

pub(in crate::cli) const HELP: &str = "\
Shows the score of each ad, 0 to 100; the goals that it does not meet, with the points that each would add and how to meet it; \
and values that are probably wrong, also in comparison with the dealer's other ads and with earlier prices.

Examples:
  ad-cli quality car-1
  ad-cli list --quality-score-lt 50
  ad-cli quality car-1 car-2 --output json | jq \".[].score\"";

/// What programs get as CSV.
const COLUMNS: &[Column] = &Column::at_paths(["source_id", "score", "level", "goals", "findings"]);

#[derive(Serialize)]
struct QualityRow {
    source_id: String,
    #[serde(flatten)]
    quality: Quality,
}

pub(crate) async fn run(context: &Context, args: &ShownArgs) -> Result<(), Failure> {
    if args.source_ids.is_empty() {
        return Err(Failure::usage("no source id")
            .hint(("name an ad", Invocation::new("quality").with_some("source_ids", "SOURCE_ID")))
            .hint(("to list the ads that need work", Invocation::new("list").option("quality_score_lt", 50))));
    }
    let client = context.client()?;
    let ask = async |target: crate::Target<'_>| {
        let source_id = target.source_id.to_owned();
        Ok(QualityRow { source_id, quality: client.v4().quality(target).await?.body })
    };
    acts::show_each(context, &client, args, COLUMNS, ask, |text, row| {
        quality::write(text, &format!("{}:", row.source_id), &row.quality, context.out.width());
    })
    .await
}
