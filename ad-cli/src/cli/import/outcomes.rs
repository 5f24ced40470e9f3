//! What becomes of ads after the service has accepted them: asked for many at a time, since each ad's log comes along in a list.

use std::{collections::HashMap, sync::Arc, time::Duration};

use ad_core::model::LogEntry;
use serde::Deserialize;
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    State,
    journal::{End, Identity},
};
use crate::{Client, Error, ListQuery, Outcome, Target};

/// Ads of one question, and bytes of their source ids, which stand in the address.
const MOST_ADS: usize = 150;
const MOST_TEXT: usize = 6000;

/// Pauses between questions when nothing has changed; while ads are still being sent, they go first.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// An ad whose outcome is not known yet.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) index: u64,
    pub(super) ad: Identity,
    pub(super) request_id: Option<Uuid>,
}

/// What is asked of an ad.
#[derive(Debug, Deserialize)]
struct Progress {
    source_id: String,
    dealer_code: String,
    marketplace_ad_id: Option<String>,
    offer_id: Option<String>,
    #[serde(default)]
    log: Vec<LogEntry>,
}

impl Progress {
    /// What became of a request, when it has come to its end.
    fn end(&self, request_id: Option<Uuid>) -> Option<End> {
        let request_id = request_id.or_else(|| self.log.first().map(|entry| entry.request_id))?;
        let outcome = Outcome::of(self.log.iter().filter(|entry| entry.request_id == request_id))?;
        let message = match &outcome {
            Outcome::Failed { action, message } => Some(format!("{action}: {message}")),
            Outcome::Published { warning, .. } => warning.clone(),
            _ => None,
        };
        let name = outcome.name().to_owned();
        let linked = match outcome {
            Outcome::Published { linked, .. } => linked,
            _ => Vec::new(),
        };
        Some(End {
            linked,
            outcome: name,
            message,
            marketplace_ad_id: self.marketplace_ad_id.clone(),
            offer_id: self.offer_id.clone(),
        })
    }
}

/// Follows accepted ads until all have come to an end and no more are sent, or the time is up behind the last one.
pub(super) async fn follow(client: &Client, state: &Arc<State>, within: Duration) -> Result<(), Error> {
    let mut pause = FIRST_PAUSE;
    let mut waiting_since = None;
    while !state.is_stopping() {
        let is_sending = state.is_sending();
        let batch = state.pending(MOST_ADS, MOST_TEXT);
        if batch.is_empty() && !is_sending {
            return Ok(());
        }
        if !is_sending && waiting_since.get_or_insert_with(Instant::now).elapsed() > within {
            state.put_back(batch);
            return Ok(());
        }
        let progressed = match ask(client, &batch).await {
            Ok(found) => settle(state, batch, &found),
            Err(error) => {
                state.put_back(batch);
                return Err(error);
            }
        };
        if progressed {
            (pause, waiting_since) = (FIRST_PAUSE, None);
        }
        if !progressed || is_sending {
            state.pause(pause).await;
            pause = (pause * 3 / 2).min(LONGEST_PAUSE);
        }
    }
    Ok(())
}

/// Notes who has come to an end, and puts the others back; whether anybody has.
fn settle(state: &State, batch: Vec<Pending>, found: &HashMap<(String, Option<String>), Progress>) -> bool {
    let mut under_way = Vec::new();
    let before = batch.len();
    for pending in batch {
        let Identity { source_id, dealer_code } = pending.ad.clone();
        let end = found.get(&(source_id, dealer_code)).and_then(|progress| progress.end(pending.request_id));
        match end {
            Some(end) => state.ended(pending.index, pending.ad, end),
            None => under_way.push(pending),
        }
    }
    let progressed = under_way.len() < before;
    state.put_back(under_way);
    progressed
}

/// How far these ads have come, by what they are asked for by.
async fn ask(client: &Client, batch: &[Pending]) -> Result<HashMap<(String, Option<String>), Progress>, Error> {
    let mut found = HashMap::new();
    // A comma separates the items of a list, so that one with a comma must be asked for by itself.
    let (single, listed): (Vec<_>, Vec<_>) = batch.iter().partition(|pending| pending.ad.source_id.contains(','));
    if !listed.is_empty() {
        let ids: Vec<_> = listed.iter().map(|pending| pending.ad.source_id.as_str()).collect();
        let query = ListQuery::new()
            .with("source_id__in", ids.join(","))
            .with("fields", "source_id,dealer_code,marketplace_ad_id,offer_id")
            .with("include", "log")
            .with("limit", ad_core::parameters::MAX_LIMIT);
        for progress in client.v4().list_as::<Progress>(&query).await?.body.results {
            let dealer_code = Some(progress.dealer_code.clone());
            // Payloads of a dealer's token need not name the dealer.
            let key = |dealer_code| (progress.source_id.clone(), dealer_code);
            let named = listed
                .iter()
                .any(|pending| pending.ad.source_id == progress.source_id && pending.ad.dealer_code == dealer_code);
            let key = key(if named { dealer_code } else { None });
            found.insert(key, progress);
        }
    }
    for pending in single {
        let Identity { source_id, dealer_code } = &pending.ad;
        let ad = client.v4().read(Target::from(source_id).of_dealer(dealer_code.as_deref())).await?.body;
        let progress = Progress {
            source_id: ad.source_id,
            dealer_code: ad.dealer_code,
            marketplace_ad_id: ad.marketplace_ad_id,
            offer_id: ad.offer_id,
            log: ad.log.unwrap_or_default(),
        };
        found.insert((source_id.clone(), dealer_code.clone()), progress);
    }
    Ok(found)
}
