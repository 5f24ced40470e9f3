//! `ad-server demo`: shows the service at work.
//!
//! Starts the service as a sandbox with a new database and two sample dealers, posts a bundled stock of cars and
//! boats over HTTP as a dealer's system would, and prints each ad's log and status, what to do about ads that are not as they should
//! be, tokens, and a first ad to send. A webhook tells the demo's receiver what happens. The demo is a client of the API and uses no
//! internal shortcut.

mod receiver;
mod show;
pub mod stock;

use std::{collections::HashMap, io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use ad_core::service::Access;
use percent_encoding::utf8_percent_encode;
use serde_json::Value;

use self::{
    receiver::Receiver,
    stock::{DemoAd, dealers, listings, stock},
};
use crate::{
    app::{self, AppError, RunningService},
    config::Settings,
    sandbox,
};
use ad_server_access::auth::{self, IssueRequest};
use ad_server_base::http_server::ServerError;
use ad_server_http::api::versions::SEGMENT;
use ad_server_outside::marketplace;

/// Pause between two reads of the ads.
const LOOK: Duration = Duration::from_millis(50);
/// How long it waits for an ad to be published.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the demo's tokens are valid.
const TOKEN_LIFETIME: Duration = Duration::from_hours(24);

/// Flags of `demo`.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// Address on which the service is shown; any free port when this one is taken
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// End after the stock has been published, instead of serving on
    #[arg(long)]
    once: bool,
}

/// Why the demo cannot run.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    App(#[from] AppError),
    #[error("cannot prepare the demo: {0}")]
    Io(#[from] io::Error),
    #[error("database of the demo: {0}")]
    Database(String),
    #[error("no answer from the service of the demo: {0}")]
    Http(#[from] reqwest::Error),
    #[error(transparent)]
    Receiver(#[from] ServerError),
    #[error("ad \"{0}\" was not published in time; see its log above")]
    Late(String),
    #[error("the webhook was not told in time that ad \"{0}\" was published")]
    Untold(String),
}

/// Runs the demo.
///
/// # Errors
/// When it cannot be prepared, or an ad is not processed in time.
pub async fn run(args: DemoArgs) -> Result<(), DemoError> {
    let folder = tempfile::tempdir()?;
    let running = start(&args, folder.path()).await?;
    let base = running.base_url.clone();
    let images = format!("{base}{}", ad_server_http::sandbox::IMAGES);
    let stock = stock(&images);
    let dealer_token = token(&running, Access::Dealer("north-cars".to_owned())).await?;
    let group_token = token(&running, Access::Group("north".to_owned())).await?;
    show::opening(&base, &stock);

    let client = Client { http: http()?, base, token: group_token };
    let receiver = if has_receiver(&args) {
        let receiver = Receiver::start(Arc::clone(&running.clock)).await?;
        client.add_webhook(&receiver).await?;
        Some(receiver)
    } else {
        None
    };
    let ended = client.post_all(&stock).await?;
    let rows = client.watch(&stock, ended).await?;
    show::table(&rows);
    show::what_to_do(&client.statuses(&rows).await?);
    if let Some(receiver) = &receiver {
        client.wait_for_webhooks(receiver, &rows).await?;
        show::webhook(receiver);
    }
    show::console(&client.base, &running.links.create(&client.token, &*running.clock)?);
    show::first_ad(&client.base, &dealer_token, &sandbox::first_ad(&images));
    show::print_next_steps(&client.base, &client.token, rows.first());
    if !args.once {
        app::stop_signal().await;
        show::line("\nStopping.");
    }
    running.stop().await?;
    Ok(())
}

fn http() -> reqwest::Result<reqwest::Client> {
    ad_server_outside::outbound::client().no_proxy().build()
}

/// Whether events are sent to a receiver of the demo. Whoever can reach the demo can then make it send requests to this machine, so
/// nobody else must reach it.
fn has_receiver(args: &DemoArgs) -> bool {
    args.listen.ip().is_loopback()
}

/// Starts the service in a folder, with the sample dealers and what the marketplaces listed before.
async fn start(args: &DemoArgs, folder: &Path) -> Result<RunningService, DemoError> {
    let mut settings = Settings {
        listen: args.listen,
        database_url: format!("sqlite://{}", folder.join("ads.db").display()),
        media: folder.join("media").into(),
        token_key: folder.join("token-keys.json"),
        allow_private_images: true,
        allow_private_webhooks: has_receiver(args),
        webhook_key: folder.join("webhook-key"),
        ..Settings::of_sandbox()
    };
    let running = match app::start(&settings).await {
        Err(AppError::Listen(ServerError::Listen { address, .. })) => {
            show::line(&format!("{address} is in use; using another port."));
            settings.listen.set_port(0);
            app::start(&settings).await?
        }
        started => started?,
    };
    let failed = |error: &dyn std::fmt::Display| DemoError::Database(error.to_string());
    running.database.import_dealers(&dealers()).await.map_err(|error| failed(&error))?;
    running.directory.refresh().await.map_err(|error| failed(&error))?;
    marketplace::import_listings(&running.database, listings().as_bytes(), running.clock.now())
        .await
        .map_err(|error| failed(&error))?;
    Ok(running)
}

async fn token(running: &RunningService, scope: Access) -> Result<String, DemoError> {
    let failed = |error: &dyn std::fmt::Display| DemoError::Database(error.to_string());
    let request = IssueRequest {
        label: None,
        scope,
        permissions: None,
        expires_in: Some(TOKEN_LIFETIME),
        now: running.clock.now(),
        jti: running.ids.next(),
    };
    let (token, record) = auth::issue(&running.keys, &request).map_err(|error| failed(&error))?;
    running.database.record_token(&record).await.map_err(|error| failed(&error))?;
    Ok(token)
}

/// An ad as the table shows it in the end.
#[derive(Debug)]
struct DemoRow {
    vehicle_type: &'static str,
    source_id: String,
    dealer_code: String,
    /// The ad as last read; `None` if it was refused.
    ad: Option<Value>,
}

/// A dealer's system, as far as the demo needs one.
struct Client {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Client {
    /// Has the service send the end of every action to a receiver.
    async fn add_webhook(&self, receiver: &Receiver) -> Result<(), DemoError> {
        let body = serde_json::json!({"url": receiver.url(), "description": "The demo's receiver"}).to_string();
        let request =
            self.http.post(format!("{}/v4/webhooks", self.base)).header("X-Auth-Token", &self.token).body(body);
        let bytes = request.send().await?.error_for_status()?.bytes().await?;
        let webhook: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        receiver.set_secret(webhook["secret"].as_str().unwrap_or_default());
        Ok(())
    }

    /// Waits until the receiver has got the event that ends publishing of every accepted ad.
    async fn wait_for_webhooks(&self, receiver: &Receiver, rows: &[DemoRow]) -> Result<(), DemoError> {
        let start = tokio::time::Instant::now();
        for row in rows.iter().filter(|row| row.ad.is_some()) {
            while !receiver.has_published(&row.source_id) {
                if start.elapsed() > PATIENCE {
                    return Err(DemoError::Untold(row.source_id.clone()));
                }
                tokio::time::sleep(LOOK).await;
            }
        }
        Ok(())
    }

    /// The status of each ad with a failure.
    async fn statuses(&self, rows: &[DemoRow]) -> Result<Vec<Value>, DemoError> {
        let mut statuses = Vec::new();
        for row in rows {
            let log = row.ad.as_ref().and_then(|ad| ad["log"].as_array());
            if log.is_some_and(|log| log.iter().any(|entry| entry["state"] == "error")) {
                let id = utf8_percent_encode(&row.source_id, SEGMENT);
                statuses.push(self.get(&format!("/v4/ad/{id}/status?dealer_code={}", row.dealer_code)).await?);
            }
        }
        Ok(statuses)
    }

    /// Posts every ad; returns whether each was accepted.
    async fn post_all(&self, stock: &[DemoAd]) -> Result<Vec<bool>, DemoError> {
        let mut accepted = Vec::new();
        for ad in stock {
            let response = self
                .http
                .post(format!("{}/v4/{}", self.base, ad.vehicle_type))
                .header("X-Auth-Token", &self.token)
                .header("Content-Type", "application/json")
                .body(ad.payload.to_string())
                .send()
                .await?;
            let status = response.status();
            let body = serde_json::from_slice(&response.bytes().await?).unwrap_or_default();
            show::posted(ad, status, &body);
            accepted.push(status.is_success());
        }
        Ok(accepted)
    }

    /// Shows the log of each accepted ad as it grows, until every ad is published or refused.
    async fn watch(&self, stock: &[DemoAd], accepted: Vec<bool>) -> Result<Vec<DemoRow>, DemoError> {
        let mut rows: Vec<DemoRow> = stock
            .iter()
            .map(|ad| DemoRow {
                vehicle_type: ad.vehicle_type,
                source_id: ad.source_id().to_owned(),
                dealer_code: ad.dealer_code.clone(),
                ad: None,
            })
            .collect();
        let mut shown: HashMap<String, usize> = HashMap::new();
        let start = tokio::time::Instant::now();
        show::line("\nAll requests are answered. The worker now processes them; log entries of the ads:\n");
        loop {
            let page = self.get("/v4/ad?include=log,status,quality&limit=500").await?;
            let (mut waiting, mut news) = (None, Vec::new());
            for (row, _) in rows.iter_mut().zip(&accepted).filter(|(_, accepted)| **accepted) {
                let ads = page["results"].as_array().into_iter().flatten();
                let found =
                    ads.clone().find(|ad| ad["source_id"] == *row.source_id && ad["dealer_code"] == *row.dealer_code);
                let log = found.and_then(|ad| ad["log"].as_array()).map_or(&[][..], Vec::as_slice);
                let seen = shown.entry(row.source_id.clone()).or_default();
                news.extend(log.iter().skip(*seen).map(|entry| (row.source_id.clone(), entry)));
                *seen = log.len();
                if !log.iter().any(|entry| entry["action"] == "publish" && entry["state"] != "processing") {
                    waiting = Some(row.source_id.clone());
                }
                row.ad = found.cloned();
            }
            show::entries(news);
            match waiting {
                None => return Ok(rows),
                Some(source_id) if start.elapsed() > PATIENCE => return Err(DemoError::Late(source_id)),
                Some(_) => tokio::time::sleep(LOOK).await,
            }
        }
    }

    async fn get(&self, path: &str) -> Result<Value, DemoError> {
        let request = self.http.get(format!("{}{path}", self.base)).header("X-Auth-Token", &self.token);
        let bytes = request.send().await?.error_for_status()?.bytes().await?;
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}
