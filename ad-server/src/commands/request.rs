//! `ad-server request`: what has become of an accepted request, and who sent it.

use ad_core::{
    model::{ActionStatus, AskedBy, RequestStatus, WaitingFor},
    ports::Clock,
};
use clap::Args;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{CommandError, GlobalArgs, ListArgs, refused};
use crate::output;
use ad_server_base::system::SystemClock;

#[derive(Debug, Args)]
pub(super) struct RequestArgs {
    /// Request id (`X-Request-Id`)
    #[arg(value_name = "REQUEST_ID")]
    id: Uuid,
    #[command(flatten)]
    list: ListArgs,
}

pub(super) async fn run(base: GlobalArgs, RequestArgs { id, list }: RequestArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let Some(request) = opened.answer(opened.database.request(id).await)? else {
        return refused(format!("no accepted request has the id {id}"));
    };
    let token = request.asked_by.clone();
    let label = match &token {
        Some(jti) => opened.answer(opened.database.token(jti).await)?.and_then(|token| token.label),
        None => None,
    };
    let asked_by = AskedBy { token, label };
    let status = request.status(SystemClock.now());
    if list.json {
        let mut value = json!(status);
        value["asked_by"] = json!(asked_by);
        return Ok(output::json_value(&value)?);
    }
    let RequestStatus {
        source_id, dealer_code, accepted, finished, state, attempts, next_attempt, waiting_for, ..
    } = status;
    output::table(
        ["STATE", "WAITING FOR", "ATTEMPTS", "NEXT ATTEMPT", "ACCEPTED", "FINISHED", "DEALER", "SOURCE ID"],
        [[
            state.to_string(),
            waiting_for.map_or("-", WaitingFor::name).to_owned(),
            attempts.to_string(),
            output::or_dash(next_attempt),
            accepted.to_string(),
            output::or_dash(finished),
            dealer_code,
            source_id,
        ]],
    )?;
    if let AskedBy { token: Some(jti), label } = asked_by {
        output::text("\n")?;
        output::table(["SENT WITH TOKEN", "LABEL"], [[jti, output::or_dash(label)]])?;
    }
    let row = |ActionStatus { action, state, created, code, external_message }| {
        let text = match external_message {
            Value::String(text) => text,
            details => details["message"].as_str().unwrap_or_default().to_owned(),
        };
        [action.to_string(), state.to_string(), created.to_string(), output::or_dash(code), text]
    };
    Ok(output::further(["ACTION", "STATE", "SINCE", "CODE", "MESSAGE"], status.actions, row)?)
}
