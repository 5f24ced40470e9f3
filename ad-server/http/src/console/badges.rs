//! States as coloured words. The word alone is enough to understand the state.

use ad_core::model::{ActionState, Ad, AdStatus, ChannelStatus, Level, RequestState};
use maud::{Markup, html};

use super::texts::Texts;

/// A word in the colour of its meaning.
fn badge(kind: &str, word: &str) -> Markup {
    html! { span class={ "badge " (kind) } { (word) } }
}

/// The colour of a state: good, in progress, idle, or needing attention.
const WELL: &str = "well";
const UNDER_WAY: &str = "under-way";
const AT_REST: &str = "at-rest";
const ATTENTION: &str = "attention";
const FAILURE: &str = "failure";

pub(super) fn ad_status(texts: &Texts, status: AdStatus) -> Markup {
    let kind = match status {
        AdStatus::Live => WELL,
        AdStatus::Processing => UNDER_WAY,
        AdStatus::PartlyLive | AdStatus::Waiting => ATTENTION,
        AdStatus::Failed => FAILURE,
        AdStatus::Hidden | AdStatus::Deleted => AT_REST,
    };
    badge(kind, texts.ad_status(status))
}

/// The status of an ad. What hides it is told apart: it is a draft, which was never listed, or sold, or somebody has hidden it.
pub(super) fn status_of(texts: &Texts, ad: &Ad, status: AdStatus, is_sold: bool) -> Markup {
    if status == AdStatus::Hidden { badge(AT_REST, hidden_as(texts, ad, is_sold)) } else { ad_status(texts, status) }
}

/// Why a hidden ad is hidden, in a word.
pub(super) const fn hidden_as(texts: &Texts, ad: &Ad, is_sold: bool) -> &'static str {
    if is_sold {
        texts.status_sold
    } else if ad.was_listed() {
        texts.status_hidden
    } else {
        texts.status_draft
    }
}

pub(super) fn channel_status(texts: &Texts, status: ChannelStatus) -> Markup {
    let kind = match status {
        ChannelStatus::Live => WELL,
        ChannelStatus::Processing => UNDER_WAY,
        ChannelStatus::Outdated | ChannelStatus::Waiting | ChannelStatus::Paused => ATTENTION,
        ChannelStatus::Failed => FAILURE,
        ChannelStatus::NotListed => AT_REST,
    };
    badge(kind, texts.channel_status(status))
}

pub(super) fn action_state(texts: &Texts, state: ActionState) -> Markup {
    let kind = match state {
        ActionState::Processing => UNDER_WAY,
        ActionState::Done => WELL,
        ActionState::Error => FAILURE,
    };
    badge(kind, texts.action_state(state))
}

pub(super) fn request_state(texts: &Texts, state: RequestState) -> Markup {
    let kind = match state {
        RequestState::Queued | RequestState::Processing => UNDER_WAY,
        RequestState::Waiting => ATTENTION,
        RequestState::Done => WELL,
        RequestState::Error => FAILURE,
    };
    badge(kind, texts.request_state(state))
}

/// A quality score with what it means.
pub(super) fn score(texts: &Texts, score: u8, level: Level) -> Markup {
    html! {
        span.score {
            meter min="0" max="100" low=(Level::GOOD) high=(Level::EXCELLENT) optimum="100" value=(score) aria-hidden="true" {}
            (score) " " span.faint { (texts.level(level)) }
        }
    }
}
