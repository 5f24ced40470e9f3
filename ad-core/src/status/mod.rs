//! The status of an ad, computed from the facts that the worker acts on (extensions E6): what ended requests left on the
//! marketplaces, and the progress of the request under way. The pipeline computes the words that stores keep for lists and counts
//! by the same functions that compute the status of a single ad.

mod advice;
mod page;

use crate::{
    categories::Category,
    model::{
        Action, Ad, AdPromotions, AdState, AdStatus, ChannelFailure, ChannelReport, ChannelStatus, ImageReport,
        ImageStatus, Market, Plan, Progress, PromotionTimes, Publication, StatusCount, StatusReport, StatusWords,
        StoredRequest, Summary, Timestamp,
    },
    ports::{StatusFacts, StoredAd},
    violation::Code,
};
pub use advice::{Advice, advice, codes, text_of_channel};
pub use page::markdown;

/// The oldest unfinished request of an ad: those behind it have not begun.
#[derive(Debug, Clone, Copy)]
pub struct OldestRequest<'a> {
    /// Its plan; `None` for a retry that has not begun.
    pub plan: Option<&'a Plan>,
    /// What is done, what failed, and when it is tried again.
    pub progress: &'a Progress,
}

impl<'a> OldestRequest<'a> {
    /// A request, by its plan as it was accepted.
    pub fn new(plan: Option<&'a Plan>, progress: &'a Progress) -> Self {
        Self { plan: plan.or(progress.plan.as_ref()), progress }
    }

    /// Whether an attempt at the action under way has failed.
    fn has_failed_attempt(&self) -> bool {
        self.progress.reason.is_some()
    }

    /// The action under way, and those after it.
    fn remaining(&self) -> &'a [Action] {
        self.plan.and_then(|plan| plan.actions.get(self.progress.ended..)).unwrap_or_default()
    }

    /// The action under way, if it changes what marketplaces list and has reached this one.
    fn has_reached(&self, market: Market) -> Option<Action> {
        let action = self.remaining().first().copied().filter(|action| action.changes_listings())?;
        self.progress.reached.contains(&market).then_some(action)
    }

    /// Whether it is to change what a marketplace lists, and has not done so yet.
    fn is_to_reach(&self, market: Market) -> bool {
        self.plan.is_some_and(|plan| plan.markets.contains(&market))
            && self.remaining().iter().any(|action| action.changes_listings())
            && self.has_reached(market).is_none()
    }

    /// Whether it is to fetch images, and has not done so yet.
    fn is_to_fetch(&self) -> bool {
        // A retry decides when it begins.
        self.plan.is_none() || self.remaining().contains(&Action::HandleMedia)
    }
}

fn markets(ad: &Ad) -> Vec<Market> {
    ad.category().map_or_else(Vec::new, Category::markets)
}

/// The status of an ad for which a request has been accepted, and none before it has failed.
pub fn accepted(ad: &Ad) -> StatusWords {
    StatusWords::processing(&markets(ad))
}

/// The status of an ad in words, by the oldest of its unfinished requests.
pub fn words(ad: &Ad, publication: &Publication, under_way: Option<OldestRequest<'_>>) -> StatusWords {
    let markets = markets(ad);
    let channels: Vec<_> = markets.iter().map(|market| channel_status(ad, publication, under_way, *market).0).collect();
    let word = |market| markets.iter().position(|it| *it == market).map(|place| channels[place]);
    let failure = markets.iter().find_map(|market| channel_failure(publication, under_way, *market).map(|it| it.code));
    StatusWords {
        status: ad_status(ad, under_way, &channels),
        primary: word(Market::Primary),
        secondary: word(Market::Secondary),
        failure: match under_way {
            Some(under_way) if !under_way.has_failed_attempt() => None,
            Some(OldestRequest { progress, .. }) => failure.or(progress.code),
            None => failure.or_else(|| missing_image(ad, publication)),
        },
    }
}

fn ad_status(ad: &Ad, under_way: Option<OldestRequest<'_>>, channels: &[ChannelStatus]) -> AdStatus {
    let is_listed = |channel: &ChannelStatus| matches!(channel, ChannelStatus::Live | ChannelStatus::Outdated);
    match under_way {
        Some(under_way) if under_way.has_failed_attempt() => AdStatus::Waiting,
        Some(_) => AdStatus::Processing,
        None if ad.state == AdState::Deleted => AdStatus::Deleted,
        None if !ad.content.visible() => AdStatus::Hidden,
        None if !channels.iter().any(is_listed) => {
            if channels.contains(&ChannelStatus::Waiting) {
                AdStatus::Waiting
            } else {
                AdStatus::Failed
            }
        }
        None if channels.iter().all(|channel| *channel == ChannelStatus::Live) => AdStatus::Live,
        None => AdStatus::PartlyLive,
    }
}

/// The status of a channel, and since when it has been so, if it has none of a request under way.
fn channel_status(
    ad: &Ad,
    publication: &Publication,
    under_way: Option<OldestRequest<'_>>,
    market: Market,
) -> (ChannelStatus, Option<Timestamp>) {
    if let Some(under_way) = under_way {
        if !under_way.has_failed_attempt() {
            return (ChannelStatus::Processing, None);
        }
        if under_way.is_to_reach(market) {
            let paused = under_way.progress.failures.get(&market).is_some_and(|failure| failure.paused);
            return (if paused { ChannelStatus::Paused } else { ChannelStatus::Waiting }, None);
        }
        if let Some(action) = under_way.has_reached(market) {
            let is_listed = action == Action::Publish;
            return (if is_listed { ChannelStatus::Live } else { ChannelStatus::NotListed }, None);
        }
    }
    // What has been accepted meanwhile may hide or show the ad, and the marketplaces do not know of it yet.
    let is_shown = under_way.is_some() || (ad.state == AdState::Created && ad.content.visible());
    settled_status(publication, market, is_shown)
}

/// The status of a channel as the actions that ended have left it.
fn settled_status(publication: &Publication, market: Market, is_shown: bool) -> (ChannelStatus, Option<Timestamp>) {
    let Some(channel) = publication.channels.get(&market) else { return (ChannelStatus::NotListed, None) };
    let status = match (channel.listed, &channel.failure) {
        (true, None) => ChannelStatus::Live,
        (true, Some(_)) => ChannelStatus::Outdated,
        // The service publishes the ad by itself when a slot is free.
        (false, Some(failure)) if is_shown && failure.code == Code::SlotsExceeded => ChannelStatus::Waiting,
        (false, Some(_)) if is_shown => ChannelStatus::Failed,
        (false, _) => ChannelStatus::NotListed,
    };
    (status, Some(channel.since))
}

/// Why the latest attempt on a marketplace failed.
fn channel_failure<'a>(
    publication: &'a Publication,
    under_way: Option<OldestRequest<'a>>,
    market: Market,
) -> Option<&'a ChannelFailure> {
    match under_way {
        Some(under_way) if !under_way.has_failed_attempt() => None,
        Some(under_way) if under_way.is_to_reach(market) => under_way.progress.failures.get(&market),
        Some(under_way) if under_way.has_reached(market).is_some() => None,
        _ => publication.channels.get(&market)?.failure.as_ref(),
    }
}

/// Whether an image is stored for an address.
fn is_stored(ad: &Ad, url: &str) -> bool {
    ad.image_refs.iter().any(|image| image.url == url)
}

/// The code of a missing image, first of one that the dealer can act on.
fn missing_image(ad: &Ad, publication: &Publication) -> Option<Code> {
    let is_missing = |url: &str| ad.content.image_urls().any(|sent| sent == url) && !is_stored(ad, url);
    let missing = publication.failed_images.iter().filter(|image| is_missing(&image.url));
    let codes = missing.map(|image| image.code);
    codes.clone().find(|code| *code == Code::ImageFailed).or_else(|| codes.clone().next())
}

/// The status of an ad, with its reasons.
pub fn report(facts: StatusFacts, now: Timestamp) -> StatusReport {
    let StatusFacts { stored, unfinished } = facts;
    let oldest = unfinished.first().and_then(|(plan, request)| Some((plan.as_ref(), request.queued.as_ref()?)));
    let under_way = oldest.map(|(plan, queued)| OldestRequest::new(plan, &queued.progress));
    let next_attempt = oldest.and_then(|(_, queued)| queued.claimable.filter(|due| queued.progress.due == Some(*due)));
    let StoredAd { ad, publication, status_since, pole_position_until, .. } = &stored;
    let words = words(ad, publication, under_way);
    let channels = markets(ad).into_iter().map(|market| channel(&stored, under_way, next_attempt, market)).collect();
    let images = ad.content.image_urls().map(|url| image(ad, publication, under_way, url)).collect();
    StatusReport {
        source_id: ad.source_id.clone(),
        state: ad.state,
        status: words.status,
        since: *status_since,
        text: if words.waits_for_slot() { advice::WAITS_FOR_SLOT } else { advice::of_ad(words.status) }.to_owned(),
        channels,
        images,
        pole_position_until: pole_position_until.filter(|until| *until > now),
        promotions: promotions(&stored, now),
        unfinished: unfinished.into_iter().map(|(_, request)| StoredRequest::status(request, now)).collect(),
    }
}

/// When the promotions of an ad ended. Its schedules are not known here.
fn promotions(stored: &StoredAd, now: Timestamp) -> AdPromotions {
    let ended = |ended| PromotionTimes { ended, next: None, most: None };
    AdPromotions {
        bump: ended(stored.publication.bumped),
        pole_position: ended(stored.pole_position_until.filter(|until| *until <= now)),
    }
}

fn channel(
    stored: &StoredAd,
    under_way: Option<OldestRequest<'_>>,
    next_attempt: Option<Timestamp>,
    market: Market,
) -> ChannelReport {
    let StoredAd { ad, publication, status_since, leftover, .. } = stored;
    let (status, since) = channel_status(ad, publication, under_way, market);
    let waits = matches!(status, ChannelStatus::Waiting | ChannelStatus::Paused);
    let failure = channel_failure(publication, under_way, market);
    let progress = under_way.filter(|_| waits).map(|under_way| under_way.progress);
    // A channel whose ad waits for images has no failure of its own.
    let code = failure.map(|failure| failure.code).or_else(|| progress?.code);
    let reason = failure.map(|failure| failure.reason.as_str()).or_else(|| progress?.reason.as_deref());
    let is_to_be_listed = ad.state == AdState::Created && ad.content.visible() && !leftover.delete;
    let (text, Advice { who_acts, what_to_do }) = advice::of_channel(status, code, reason, is_to_be_listed);
    ChannelReport {
        marketplace: market,
        status,
        listing_id: ad.listing(market).map(str::to_owned),
        since: since.unwrap_or(*status_since),
        code,
        text,
        reason: reason.map(str::to_owned),
        who_acts,
        what_to_do: what_to_do.map(str::to_owned),
        attempts: progress.map_or_else(|| failure.map_or(0, |failure| failure.attempts), Progress::attempts),
        next_attempt: next_attempt.filter(|_| waits),
    }
}

fn image(ad: &Ad, publication: &Publication, under_way: Option<OldestRequest<'_>>, url: &str) -> ImageReport {
    let of_url = |image: &&crate::model::FailedImage| image.url == url;
    let fetching = under_way.filter(OldestRequest::is_to_fetch);
    let given_up = fetching.and_then(|under_way| under_way.progress.failed_images.iter().find(of_url));
    let failed = given_up.or_else(|| publication.failed_images.iter().find(of_url));
    let waiting = fetching.filter(|it| it.has_failed_attempt() && it.remaining().first() == Some(&Action::HandleMedia));
    let was_stored = fetching.is_some_and(|it| it.progress.stored.iter().any(|image| image.shown.url == url));
    let (status, code, text, attempts) = match (fetching, failed) {
        _ if is_stored(ad, url) || was_stored => {
            let text = failed
                .map_or_else(|| "Stored.".to_owned(), |it| format!("Stored; fetching it again failed: {}", it.error));
            (ImageStatus::Stored, failed.map(|it| it.code), text, failed.map_or(0, |it| it.attempts))
        }
        (Some(_), _) if given_up.is_none() => match waiting.map(|it| it.progress) {
            Some(progress) => {
                let own = progress.waiting_images.iter().find(of_url).map(|image| (image.code, image.error.as_str()));
                // Stored by an earlier version of the service, it has the reason of the request alone.
                let of_request = progress.code.zip(progress.reason.as_deref());
                let (code, error) = own.or(of_request).unzip();
                let text = format!("Is fetched again: {}", error.unwrap_or_default());
                (ImageStatus::Waiting, code, text, progress.attempts())
            }
            None => (ImageStatus::Waiting, None, "Is being fetched.".to_owned(), 0),
        },
        (_, Some(failed)) => (ImageStatus::Failed, Some(failed.code), failed.error.clone(), failed.attempts),
        (_, None) => (ImageStatus::Waiting, None, "Has not been fetched; `retry` fetches it.".to_owned(), 0),
    };
    let own = waiting.and_then(|it| it.progress.waiting_images.iter().find(of_url));
    let flaw = own.filter(|_| status == ImageStatus::Waiting).or(failed).and_then(|image| image.flaw);
    ImageReport { url: url.to_owned(), status, code, flaw: flaw.filter(|_| code.is_some()), text, attempts }
}

/// Adds up the ads of a scope.
pub fn summary(counts: impl IntoIterator<Item = StatusCount>) -> Summary {
    let mut summary = Summary::default();
    for StatusCount { words, category_id, ads } in counts {
        let vehicle_type = crate::categories::by_id(category_id).and_then(|category| category.vehicle_type);
        let vehicle_type = vehicle_type.map_or_else(|| category_id.to_string(), str::to_owned);
        summary.ads += ads;
        *summary.by_status.entry(words.status).or_default() += ads;
        *summary.by_vehicle_type.entry(vehicle_type).or_default().entry(words.status).or_default() += ads;
        for market in [Market::Primary, Market::Secondary] {
            if let Some(channel) = words.channel(market) {
                *summary.by_channel.entry(market).or_default().entry(channel).or_default() += ads;
            }
        }
        if let Some(code) = words.failure {
            *summary.failures.entry(code).or_default() += ads;
        }
    }
    summary
}
