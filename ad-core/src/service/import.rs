//! Import of ads that another system has stored, including V3 ads and trailers, which clients can no longer create (decision 28).
//! A line of an import is an ad as GET returns it.
//!
//! Only an operator imports. An import fetches and publishes nothing; the ad's leftover has what is left to do, and a retry does
//! it.

use std::sync::Arc;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    categories::{self, Category, Heading},
    fields::{FieldErrors, not_a_choice},
    model::{
        Ad, AdState, ApiVersion, Dealer, Leftover, Market, NotATime, Publication, PublishedChannel, StatusWords,
        Timestamp,
    },
    ports::DealerDirectory,
    rulebook::{Rulebook, SourceId, WriteContext},
    status,
    violation::{Code, Expected, TextFormat, Violation},
};

/// An ad to be imported.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedAd {
    /// The ad as it is stored.
    pub ad: Ad,
    /// What a retry has to do, besides fetching the images.
    pub leftover: Leftover,
    /// Where it is listed: a listing of a visible ad is believed to be shown.
    pub publication: Publication,
}

impl ImportedAd {
    /// The status of the ad.
    pub fn words(&self) -> StatusWords {
        status::words(&self.ad, &self.publication, None)
    }
}

/// Reads an ad as GET returns it. `id` and `now` replace a missing id and missing times.
///
/// In addition to the fields of a write it may have `id`, `state`, `api_version` (the newest that has its category, if absent),
/// `marketplace_ad_id`, `offer_id`, `created` and `updated`; `image_refs` serve as `image_urls` where these are absent.
/// `dealer_code` is required. A generated title is generated again; `log` is ignored.
///
/// # Errors
/// All errors of the ad, by field.
pub fn read(
    rulebook: &Rulebook,
    directory: &dyn DealerDirectory,
    mut sent: Map<String, Value>,
    id: Uuid,
    now: Timestamp,
) -> Result<ImportedAd, FieldErrors> {
    let mut errors = FieldErrors::default();
    let kept = ServiceFields::take(&mut sent, &mut errors, id, now);
    let category = category(&sent, kept.version, &mut errors);
    let dealer_code = sent.get("dealer_code").and_then(Value::as_str).map(str::to_owned);
    if sent.get("dealer_code").is_none_or(Value::is_null) {
        errors.push("dealer_code", Violation::Required);
    }
    let (Some((category, version)), Some(dealer_code)) = (category, dealer_code) else {
        errors.absorb(rulebook.without_category(kept.version.unwrap_or(ApiVersion::V4), sent, SourceId::Required));
        return Err(errors);
    };
    if category.heading == Heading::Forbidden {
        sent.remove("title");
    }
    images_of_refs(&mut sent);
    let dealer = directory.dealer(&dealer_code).unwrap_or_else(|| Arc::new(Dealer::named(&dealer_code)));
    let checked = match rulebook.import(WriteContext { category, version, dealer: Some(&dealer) }, sent) {
        Ok(checked) if errors.is_empty() => checked,
        Ok(_) => return Err(errors),
        Err(wrong) => {
            errors.absorb(wrong);
            return Err(errors);
        }
    };
    let ad = Ad {
        id: kept.id,
        source_id: checked.source_id,
        dealer_code,
        category_id: category.id,
        state: kept.state,
        api_version: version,
        content: checked.content,
        image_refs: Vec::new(),
        marketplace_ad_id: kept.marketplace_ad_id,
        offer_id: kept.offer_id,
        created: kept.created,
        updated: kept.updated,
    };
    Ok(ImportedAd { leftover: leftover(&ad, category), publication: publication(&ad, category), ad })
}

/// The fields of an ad that the service adds.
struct ServiceFields {
    id: Uuid,
    state: AdState,
    version: Option<ApiVersion>,
    marketplace_ad_id: Option<String>,
    offer_id: Option<String>,
    created: Timestamp,
    updated: Timestamp,
}

impl ServiceFields {
    fn take(sent: &mut Map<String, Value>, errors: &mut FieldErrors, id: Uuid, now: Timestamp) -> Self {
        let not_a_time = |error: NotATime| Violation::stated(Code::InvalidFormat, error.to_string());
        let time = |text: &str| text.parse::<Timestamp>().map_err(not_a_time);
        let text = |text: &str| Ok(text.to_owned());
        let uuid = |text: &str| text.parse::<Uuid>().map_err(|_| Violation::WrongFormat(TextFormat::Uuid));
        let state = |text: &str| AdState::from_name(text).ok_or_else(|| not_one_of(text, AdState::NAMES));
        let version = |text: &str| ApiVersion::from_name(text).ok_or_else(|| not_one_of(text, ApiVersion::NAMES));
        let created = take_parsed(sent, errors, "created", time).unwrap_or(now);
        Self {
            id: take_parsed(sent, errors, "id", uuid).unwrap_or(id),
            state: take_parsed(sent, errors, "state", state).unwrap_or(AdState::Created),
            version: take_parsed(sent, errors, "api_version", version),
            marketplace_ad_id: take_parsed(sent, errors, "marketplace_ad_id", text),
            offer_id: take_parsed(sent, errors, "offer_id", text),
            created,
            updated: take_parsed(sent, errors, "updated", time).unwrap_or(created),
        }
    }
}

/// Takes a field that is a text, and reads it; `None` if it is absent or wrong.
fn take_parsed<T>(
    sent: &mut Map<String, Value>,
    errors: &mut FieldErrors,
    name: &str,
    read: impl FnOnce(&str) -> Result<T, Violation>,
) -> Option<T> {
    let read = match sent.remove(name)? {
        Value::Null => return None,
        Value::String(text) => read(&text),
        _ => Err(Violation::WrongType(Expected::Text)),
    };
    read.map_err(|wrong| errors.push(name, wrong)).ok()
}

fn not_one_of(text: &str, names: &[&str]) -> Violation {
    not_a_choice(&text.into(), names.iter().copied())
}

/// The category of an ad, with its API version.
fn category(
    sent: &Map<String, Value>,
    version: Option<ApiVersion>,
    errors: &mut FieldErrors,
) -> Option<(&'static Category, ApiVersion)> {
    let sent = sent.get("category_id").filter(|sent| !sent.is_null())?;
    // The check of the table reports a value that is no number.
    let id = categories::sent_id(sent)?;
    let Some(category) = categories::by_id(id) else {
        let ids: Vec<_> = categories::all().map(|category| category.id.to_string()).collect();
        errors.push("category_id", not_a_choice(&id.to_string().into(), ids.iter().map(String::as_str)));
        return None;
    };
    let newest = if category.is_in(ApiVersion::V4) { ApiVersion::V4 } else { ApiVersion::V3 };
    let version = version.unwrap_or(newest);
    if !category.is_in(version) {
        let text = format!("Category {id} is not in {}.", version.name());
        errors.push("api_version", Violation::stated(Code::NotAllowed, text));
        return None;
    }
    Some((category, version))
}

/// Takes missing `image_urls` from `image_refs`, as answers have them.
fn images_of_refs(sent: &mut Map<String, Value>) {
    if sent.get("image_urls").is_some_and(|urls| !urls.is_null()) {
        return;
    }
    let Some(Value::Array(refs)) = sent.get("image_refs") else { return };
    let urls: Vec<_> = refs.iter().filter_map(|image| image.get("url").cloned()).collect();
    if !urls.is_empty() {
        sent.insert("image_urls".to_owned(), Value::Array(urls));
    }
}

/// What a retry has to do: publish a visible ad on all its marketplaces.
fn leftover(ad: &Ad, category: &Category) -> Leftover {
    let shown = ad.state == AdState::Created && ad.content.visible();
    Leftover::publishing(if shown { category.markets() } else { Vec::new() })
}

/// Where an ad is listed.
fn publication(ad: &Ad, category: &Category) -> Publication {
    let shown = ad.state == AdState::Created && ad.content.visible();
    let listed = |market: &Market| shown && ad.listing(*market).is_some();
    let channel = |market| (market, PublishedChannel { listed: true, since: ad.updated, failure: None });
    let channels = category.markets().into_iter().filter(listed).map(channel).collect();
    Publication { channels, ..Publication::default() }
}
