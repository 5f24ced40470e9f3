//! How ads are at the service now: asked for many at a time.

use std::collections::HashMap;

use ad_core::{
    model::{AdState, LogEntry, Timestamp},
    parameters::MAX_LIMIT,
};
use futures_util::TryStreamExt;
use serde::Deserialize;

use super::stock::Identity;
use crate::{Client, Error, ListQuery};

/// Ads of one question, and bytes of their source ids, which stand in its address.
const MOST_ADS: usize = 100;
const MOST_TEXT: usize = 3000;

/// What is asked of an ad.
#[derive(Debug, Deserialize)]
pub(super) struct State {
    source_id: String,
    dealer_code: String,
    #[serde(rename = "state")]
    pub(super) is: AdState,
    pub(super) updated: Timestamp,
    /// Its latest entries, where they were asked for.
    #[serde(default)]
    pub(super) log: Vec<LogEntry>,
}

/// How these ads are; those that are not there are missing.
pub(super) async fn of<'a>(
    client: &Client,
    ads: impl IntoIterator<Item = &'a Identity>,
    with_log: bool,
) -> Result<HashMap<Identity, State>, Error> {
    let mut found = HashMap::new();
    for (parameter, ids) in questions(ads.into_iter().map(|ad| ad.source_id.as_str())) {
        let mut query = ListQuery::new()
            .with(parameter, ids)
            .with("fields", "source_id,dealer_code,state,updated")
            .with("ordering", "created")
            .with("limit", MAX_LIMIT);
        if with_log {
            query = query.with("include", "log");
        }
        let mut states = client.v4().all_as::<State>(&query);
        while let Some(state) = states.try_next().await? {
            let ad = Identity { source_id: state.source_id.clone(), dealer_code: state.dealer_code.clone() };
            found.insert(ad, state);
        }
    }
    Ok(found)
}

/// The parameter and its value for each question. A comma separates ids, so one with a comma is asked for by itself.
fn questions<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<(&'static str, String)> {
    let mut questions = Vec::new();
    let (mut list, mut count) = (String::new(), 0);
    for id in ids {
        if id.contains(',') {
            questions.push(("source_id", id.to_owned()));
            continue;
        }
        if count == MOST_ADS || (count > 0 && list.len() + id.len() > MOST_TEXT) {
            questions.push(("source_id__in", std::mem::take(&mut list)));
            count = 0;
        }
        if count > 0 {
            list.push(',');
        }
        list.push_str(id);
        count += 1;
    }
    if count > 0 {
        questions.push(("source_id__in", list));
    }
    questions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_few_and_not_too_long() {
        assert_eq!(
            questions(["a", "b,c", "d"].into_iter()),
            [("source_id", "b,c".to_owned()), ("source_id__in", "a,d".to_owned())]
        );
        let ids: Vec<_> = (0..250).map(|index| format!("ad-{index}")).collect();
        let sizes: Vec<_> =
            questions(ids.iter().map(String::as_str)).iter().map(|(_, list)| list.split(',').count()).collect();
        assert_eq!(sizes, [100, 100, 50]);
        let long = "x".repeat(2000);
        assert_eq!(questions([long.as_str(), &long].into_iter()).len(), 2);
        assert_eq!(questions(std::iter::empty()), []);
    }
}
