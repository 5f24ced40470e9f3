//! `ad-cli request`: what has become of a request.

use serde_json::json;
use uuid::Uuid;

use crate::terminal::{Column, Context, Failure, ad_table};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows an accepted request: its state, what it waits for, and the latest log entry of each of its actions. The id of a request is the X-Request-Id \
of its answer, and the request_id of its log entries.

Examples:
  ad-cli log car-1 --verbose          ids of the requests of an ad
  ad-cli request 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90")]
pub(crate) struct RequestArgs {
    /// Id of the request
    #[arg(value_name = "REQUEST_ID", value_parser = request_id)]
    id: Uuid,
}

fn request_id(text: &str) -> Result<Uuid, &'static str> {
    text.parse().map_err(|_| "expected the id of a request, as `ad-cli log SOURCE_ID --verbose` shows it")
}

const COLUMNS: &[Column] = &[
    Column::new("ACTION", "action"),
    Column::new("STATE", "state").shown(ad_table::action_state),
    Column::new("CREATED", "created").shown(ad_table::second),
    Column::new("CODE", "code"),
    Column::new("MESSAGE", "external_message").shown(|message| crate::message_text(message).into()).wrapped(),
];

pub(crate) async fn run(context: &Context, args: &RequestArgs) -> Result<(), Failure> {
    let status = context.client()?.request(args.id).await?.body;
    if !context.out.is_for_people() {
        return Ok(context.out.record(&status)?);
    }
    let mut request = json!(status);
    request["actions"] = json!([]);
    context.out.record_in(&request, &["request_id", "source_id", "dealer_code", "state", "waiting_for", "accepted"])?;
    Ok(context.out.table(COLUMNS, &status.actions)?)
}
