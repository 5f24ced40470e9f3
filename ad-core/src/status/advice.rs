//! What the statuses and codes of an ad mean, who acts, and what to do, as data: the API, the command line and `docs/status.md`
//! show these texts.

use crate::{
    model::{AdStatus, ChannelStatus, WhoActs},
    violation::Code,
};

/// Who can change a status, and what they can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// Who can change the status.
    pub who_acts: WhoActs,
    /// What; `None` if nobody has to do anything.
    pub what_to_do: Option<&'static str>,
}

/// Who acts on a code of a failed action, and what they do.
pub(super) struct CodeAdvice {
    pub(super) code: Code,
    /// Who acts once the service has stopped trying. The cure of the code says what they do.
    pub(super) failed: WhoActs,
    /// Who acts while the service is still trying.
    pub(super) waiting: WhoActs,
}

const fn code_advice(code: Code, failed: WhoActs, waiting: WhoActs) -> CodeAdvice {
    CodeAdvice { code, failed, waiting }
}

/// The codes that an ad, a channel or an image can have.
pub(super) const CODES: &[CodeAdvice] = &[
    code_advice(Code::ImageFailed, WhoActs::Dealer, WhoActs::ImageHost),
    code_advice(Code::ImageStoreUnavailable, WhoActs::Operator, WhoActs::Operator),
    code_advice(Code::QuotaExceeded, WhoActs::Dealer, WhoActs::Dealer),
    code_advice(Code::HeldByImages, WhoActs::Dealer, WhoActs::Dealer),
    code_advice(Code::SlotsExceeded, WhoActs::Dealer, WhoActs::Dealer),
    code_advice(Code::MarketplaceRefused, WhoActs::Dealer, WhoActs::Dealer),
    code_advice(Code::MarketplaceUnreachable, WhoActs::Marketplace, WhoActs::Marketplace),
    code_advice(Code::MarketplaceBusy, WhoActs::Marketplace, WhoActs::Marketplace),
    code_advice(Code::MarketplaceCredentials, WhoActs::Operator, WhoActs::Operator),
    code_advice(Code::MarketplacePaused, WhoActs::Operator, WhoActs::Operator),
    code_advice(Code::NotListed, WhoActs::Dealer, WhoActs::Dealer),
    code_advice(Code::GivenUp, WhoActs::Operator, WhoActs::Operator),
];

/// The codes that an ad, a channel or an image can have.
pub fn codes() -> impl Iterator<Item = Code> {
    CODES.iter().map(|row| row.code)
}

/// What to do while the service is still trying, unless the dealer has to act.
pub(super) const WAIT: &str = "Wait: the service tries again by itself.";
/// What to do about a listing that is missing although nothing has failed, as after an import.
pub(super) const PUBLISH: &str = "Publish the ad with `retry`.";

/// Who acts on a code, and what they do.
pub fn advice(code: Code, is_retried: bool) -> Advice {
    let row = CODES.iter().find(|row| row.code == code);
    let cure = code.about().cure;
    match row {
        Some(row) if is_retried && row.waiting != WhoActs::Dealer => {
            Advice { who_acts: row.waiting, what_to_do: Some(WAIT) }
        }
        Some(row) => Advice { who_acts: row.failed, what_to_do: Some(cure) },
        None => Advice { who_acts: WhoActs::Operator, what_to_do: Some(cure) },
    }
}

/// The status of an ad that waits for a slot, and of its channels.
pub(super) const WAITS_FOR_SLOT: &str = "The ad waits for a free slot.";

pub(super) fn of_ad(status: AdStatus) -> &'static str {
    match status {
        AdStatus::Live => "The ad is live on every marketplace of its category.",
        AdStatus::PartlyLive => "The ad is live on some of its marketplaces only, or its latest update failed there.",
        AdStatus::Hidden => "The ad is hidden: `visible` is false.",
        AdStatus::Processing => "A request of the ad is under way.",
        AdStatus::Waiting => "An attempt failed, and the service tries again by itself.",
        AdStatus::Failed => "The ad is not live on any marketplace, and nothing is under way.",
        AdStatus::Deleted => "The ad is deleted.",
    }
}

/// The status of a channel in a sentence, without its reason.
pub(super) fn of_channel_status(status: ChannelStatus) -> &'static str {
    match status {
        ChannelStatus::Live => "Listed and up to date.",
        ChannelStatus::Outdated => "Listed, but the latest update of the listing failed.",
        ChannelStatus::NotListed => "Not listed.",
        ChannelStatus::Processing => "A request of the ad is under way.",
        ChannelStatus::Waiting => "An attempt failed; the next one is due or under way.",
        ChannelStatus::Failed => "Not listed, because publishing failed.",
        ChannelStatus::Paused => {
            "The service does not call the marketplace for now, because it kept failing or an operator has paused it; the ad waits."
        }
    }
}

/// The status of a channel in a sentence, without the reason of a failure.
pub fn text_of_channel(status: ChannelStatus, code: Option<Code>) -> &'static str {
    let waits_for_slot = code == Some(Code::SlotsExceeded) && status == ChannelStatus::Waiting;
    if waits_for_slot { WAITS_FOR_SLOT } else { of_channel_status(status) }
}

/// The text of a channel and what to do, by its code and reason.
pub(super) fn of_channel(
    status: ChannelStatus,
    code: Option<Code>,
    reason: Option<&str>,
    is_to_be_listed: bool,
) -> (String, Advice) {
    let reason = reason.map_or_else(String::new, |reason| format!(" Reason: {reason}"));
    let text = format!("{}{reason}", text_of_channel(status, code));
    let is_retried = matches!(status, ChannelStatus::Waiting | ChannelStatus::Paused);
    let advice = match code {
        Some(code) => advice(code, is_retried),
        None if status == ChannelStatus::NotListed && is_to_be_listed => {
            Advice { who_acts: WhoActs::Dealer, what_to_do: Some(PUBLISH) }
        }
        None => Advice { who_acts: WhoActs::Nobody, what_to_do: None },
    };
    (text, advice)
}
