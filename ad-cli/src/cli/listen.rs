//! Events for a receiver under development: printed as they happen, or sent to a local address as a webhook would be.

use std::time::{Duration, Instant};

use ad_core::model::{ActionState, EventTypes};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use futures_util::TryStreamExt;
use ring::{
    hmac,
    rand::{SecureRandom, SystemRandom},
};
use serde::Serialize;
use serde_json::json;
use url::Url;

use crate::{
    After, Client, Event, EventQuery,
    cli::commands::events::{self, SelectionArgs},
    terminal::{Cell, Column, Context, Failure, Tone, ad_table, plain},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The events come over the stream of events, so no public address is needed. With --forward-to, each event is sent once, with the body, headers \
and signature of a webhook. The secret is that of AD_WEBHOOK_SECRET, or a new one, which is printed. Without --after, the events from now on \
are sent; without --types, every done and error.

Examples:
  ad-cli webhooks listen --forward-to http://127.0.0.1:3000/hooks")]
pub(crate) struct ListenArgs {
    /// Send each event to this address, and print the status of the answer
    #[arg(long, value_name = "URL", value_parser = receiver)]
    forward_to: Option<Url>,
    #[command(flatten)]
    selection: SelectionArgs,
}

/// The secret of a receiver that was configured before; an option would show it to everybody on the machine.
const SECRET: &str = "AD_WEBHOOK_SECRET";

/// Prefix of secrets, before the base64.
const PREFIX: &str = "whsec_";

/// Time for an answer, as the service gives it.
const TIMEOUT: Duration = Duration::from_secs(15);

const COLUMNS: &[Column] = &[
    Column::new("TIME", "event.timestamp").shown(ad_table::second).wide(20),
    Column::new("SOURCE ID", "event.source_id").wide(12).ends_line(),
    Column::new("ACTION", "event.action").wide(12),
    Column::new("STATE", "event.state").shown(ad_table::action_state).wide(10),
    Column::new("STATUS", "status")
        .shown(|status| match status.as_u64() {
            Some(code @ 200..300) => Cell::toned(code.to_string(), Tone::Good),
            Some(code) => Cell::toned(code.to_string(), Tone::Bad),
            None => Cell::toned("none", Tone::Bad),
        })
        .wide(6),
    Column::new("MS", "latency_ms").wide(5),
    Column::new("ERROR", "error").shown(|error| plain(error).into()).least(12),
    Column::new("EVENT", "event.id").for_programs(),
];

fn receiver(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or("expected an address such as http://127.0.0.1:3000/hooks")
}

pub(crate) async fn run(context: &Context, client: &Client, args: &ListenArgs) -> Result<(), Failure> {
    let mut query = args.selection.query(After::Now);
    if query.types.is_empty() {
        // Those of a webhook that names none.
        let ended = [ActionState::Done, ActionState::Error];
        query.types = ended.map(|state| EventTypes { action: None, state: Some(state) }).to_vec();
    }
    match &args.forward_to {
        Some(url) => forward(context, client, &query, url).await,
        None => events::follow(context, client, &query).await,
    }
}

async fn forward(context: &Context, client: &Client, query: &EventQuery, url: &Url) -> Result<(), Failure> {
    let secret = Secret::of_environment()?;
    context.out.headed_note("secret:", &secret.reveal());
    let http =
        reqwest::Client::builder().timeout(TIMEOUT).redirect(reqwest::redirect::Policy::none()).no_proxy().build();
    let http = http.map_err(|error| Failure::failed(format!("cannot create the HTTP client: {error}")))?;
    let mut rows = context.out.live_rows(COLUMNS);
    let mut events = events::stream(context, client, query);
    while let Some(event) = events.try_next().await? {
        let answer = post(&http, url, &secret, &event, context.now().as_millis().div_euclid(1000)).await;
        rows.push(&answer)?;
        rows.flush()?;
    }
    Ok(rows.end()?)
}

#[derive(Debug, Serialize)]
struct Forwarded<'a> {
    event: &'a Event,
    status: Option<u16>,
    latency_ms: u128,
    error: Option<String>,
}

/// Sends an event as a webhook would send it at this time, in seconds.
async fn post<'a>(http: &reqwest::Client, url: &Url, secret: &Secret, event: &'a Event, at: i64) -> Forwarded<'a> {
    let body = json!({"type": event.event_type, "timestamp": event.timestamp, "data": event}).to_string();
    let request = http
        .post(url.clone())
        .header("content-type", "application/json")
        .header("webhook-id", &event.id)
        .header("webhook-timestamp", at)
        .header("webhook-signature", secret.sign(&event.id, at, &body))
        .body(body);
    let began = Instant::now();
    let result = request.send().await;
    let (status, error) = match result {
        Ok(answer) => (Some(answer.status().as_u16()), None),
        Err(error) if error.is_timeout() => (None, Some(format!("no answer within {} s", TIMEOUT.as_secs()))),
        Err(error) if error.is_connect() => (None, Some("cannot connect".to_owned())),
        Err(error) => (None, Some(error.without_url().to_string())),
    };
    Forwarded { event, status, latency_ms: began.elapsed().as_millis(), error }
}

struct Secret(Vec<u8>);

impl Secret {
    fn of_environment() -> Result<Self, Failure> {
        match std::env::var(SECRET) {
            Ok(text) if !text.is_empty() => Self::parse(text.trim()).ok_or_else(|| {
                Failure::usage(format!("{SECRET} is no secret: expected {PREFIX} and base64 of 24 to 64 bytes"))
            }),
            _ => {
                let mut bytes = vec![0; 32];
                SystemRandom::new().fill(&mut bytes).map_err(|_| Failure::failed("no random numbers to be had"))?;
                Ok(Self(bytes))
            }
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.strip_prefix(PREFIX)?).ok()?;
        (24..=64).contains(&bytes.len()).then_some(Self(bytes))
    }

    fn reveal(&self) -> String {
        format!("{PREFIX}{}", BASE64.encode(&self.0))
    }

    /// The value of `webhook-signature`: `v1,` and an HMAC-SHA256 (extensions E5.2).
    fn sign(&self, id: &str, at: i64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        format!("v1,{}", BASE64.encode(hmac::sign(&key, format!("{id}.{at}.{body}").as_bytes())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification of Standard Webhooks and of its libraries.
    #[test]
    fn a_message_is_signed_as_the_specification_says() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(secret.reveal(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        for wrong in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_%"] {
            assert!(Secret::parse(wrong).is_none(), "{wrong}");
        }
    }
}
