//! The words of the API for states and failures, as the console shows them.

use ad_core::{
    model::{
        Action, ActionState, AdStatus, ChannelStatus, DeliveryState, DisabledReason, ImageStatus, Level, Market,
        RequestState, WaitingFor, WhoActs,
    },
    violation::Code,
};

use super::texts::Texts;

impl Texts {
    pub(super) const fn ad_status(&self, status: AdStatus) -> &'static str {
        match status {
            AdStatus::Live => self.status_live,
            AdStatus::PartlyLive => self.status_partly_live,
            AdStatus::Hidden => self.status_hidden,
            AdStatus::Processing => self.status_processing,
            AdStatus::Waiting => self.status_waiting,
            AdStatus::Failed => self.status_failed,
            AdStatus::Deleted => self.status_deleted,
        }
    }

    pub(super) const fn channel_status(&self, status: ChannelStatus) -> &'static str {
        match status {
            ChannelStatus::Live => self.status_live,
            ChannelStatus::Outdated => self.channel_outdated,
            ChannelStatus::NotListed => self.channel_not_listed,
            ChannelStatus::Processing => self.status_processing,
            ChannelStatus::Waiting => self.status_waiting,
            ChannelStatus::Failed => self.status_failed,
            ChannelStatus::Paused => self.channel_paused,
        }
    }

    /// What went wrong, by its code.
    pub(super) const fn failure(&self, code: Code) -> &'static str {
        match code {
            Code::ImageFailed => self.failure_image_failed,
            Code::ImageStoreUnavailable => self.failure_image_store,
            Code::QuotaExceeded => self.failure_quota,
            Code::HeldByImages => self.failure_held,
            Code::MarketplaceRefused => self.failure_refused,
            Code::MarketplaceUnreachable => self.failure_unreachable,
            Code::MarketplaceBusy => self.failure_busy,
            Code::MarketplaceCredentials => self.failure_credentials,
            Code::MarketplacePaused => self.failure_paused,
            Code::NotListed => self.failure_not_listed,
            Code::GivenUp => self.failure_given_up,
            other => other.about().title,
        }
    }

    /// What to do about it.
    pub(super) const fn what_helps(&self, code: Code) -> &'static str {
        match code {
            Code::ImageFailed => self.helps_image_failed,
            Code::ImageStoreUnavailable => self.helps_image_store,
            Code::QuotaExceeded => self.helps_quota,
            Code::HeldByImages => self.helps_held,
            Code::MarketplaceRefused => self.helps_refused,
            Code::MarketplaceUnreachable | Code::MarketplaceBusy => self.helps_later,
            Code::MarketplaceCredentials => self.helps_credentials,
            Code::MarketplacePaused => self.helps_paused,
            Code::NotListed => self.helps_not_listed,
            Code::GivenUp => self.helps_given_up,
            other => other.about().cure,
        }
    }

    /// What is wrong with a photo, in the few words that fit below it.
    pub(super) const fn wrong_with_photo(&self, code: Code) -> Option<&'static str> {
        Some(match code {
            Code::PhotoUndecodable => self.photo_undecodable,
            Code::PhotoRepeated => self.photo_repeated,
            Code::PhotoSmall => self.photo_small,
            Code::PhotoUpright => self.photo_upright,
            Code::PhotoDark => self.photo_dark,
            Code::PhotoBlurred => self.photo_blurred,
            Code::PhotoInOtherAd => self.photo_in_other_ad,
            _ => return None,
        })
    }

    /// What to do about ads with a status.
    pub(super) const fn what_to_do(&self, status: AdStatus) -> &'static str {
        match status {
            AdStatus::Live => self.do_live,
            AdStatus::PartlyLive => self.do_partly_live,
            AdStatus::Hidden => self.do_hidden,
            AdStatus::Processing => self.do_processing,
            AdStatus::Waiting => self.do_waiting,
            AdStatus::Failed => self.do_failed,
            AdStatus::Deleted => self.do_deleted,
        }
    }

    pub(super) const fn image_status(&self, status: ImageStatus) -> &'static str {
        match status {
            ImageStatus::Stored => self.image_stored,
            ImageStatus::Waiting => self.status_waiting,
            ImageStatus::Failed => self.status_failed,
        }
    }

    pub(super) const fn request_state(&self, state: RequestState) -> &'static str {
        match state {
            RequestState::Queued => self.request_queued,
            RequestState::Processing => self.status_processing,
            RequestState::Waiting => self.status_waiting,
            RequestState::Done => self.state_done,
            RequestState::Error => self.state_error,
        }
    }

    pub(super) const fn waiting_for(&self, what: WaitingFor) -> &'static str {
        match what {
            WaitingFor::Request => self.for_request,
            WaitingFor::Images => self.for_images,
            WaitingFor::ImageStore => self.for_image_store,
            WaitingFor::Primary => self.market_primary,
            WaitingFor::Secondary => self.market_secondary,
        }
    }

    pub(super) const fn market(&self, market: Market) -> &'static str {
        match market {
            Market::Primary => self.market_primary,
            Market::Secondary => self.market_secondary,
        }
    }

    pub(super) const fn who_acts(&self, who: WhoActs) -> &'static str {
        match who {
            WhoActs::Nobody => self.who_nobody,
            WhoActs::Dealer => self.who_dealer,
            WhoActs::ImageHost => self.who_image_host,
            WhoActs::Marketplace => self.who_marketplace,
            WhoActs::Operator => self.who_operator,
        }
    }

    pub(super) const fn action(&self, action: Action) -> &'static str {
        match action {
            Action::Create => self.action_create,
            Action::Update => self.action_update,
            Action::Bump => self.action_bump,
            Action::Boost => self.action_boost,
            Action::HandleMedia => self.action_handle_media,
            Action::Publish => self.action_publish,
            Action::Delete => self.action_delete,
            Action::Unpublish => self.action_unpublish,
        }
    }

    pub(super) const fn action_state(&self, state: ActionState) -> &'static str {
        match state {
            ActionState::Processing => self.state_processing,
            ActionState::Done => self.state_done,
            ActionState::Error => self.state_error,
        }
    }

    pub(super) const fn delivery_state(&self, state: DeliveryState) -> &'static str {
        match state {
            DeliveryState::Pending => self.pending,
            DeliveryState::Delivered => self.delivered,
            DeliveryState::Failed => self.status_failed,
        }
    }

    pub(super) const fn disabled_reason(&self, reason: DisabledReason) -> &'static str {
        match reason {
            DisabledReason::Requested => self.disabled_requested,
            DisabledReason::Gone => self.disabled_gone,
            DisabledReason::Failing => self.disabled_failing,
        }
    }

    pub(super) const fn level(&self, level: Level) -> &'static str {
        match level {
            Level::Basic => self.level_basic,
            Level::Good => self.level_good,
            Level::Excellent => self.level_excellent,
        }
    }
}

/// What the status of a channel means, in Swedish; the API says it in English.
pub(super) const fn channel_in_swedish(status: ChannelStatus) -> &'static str {
    match status {
        ChannelStatus::Live => "Publicerad och aktuell.",
        ChannelStatus::Outdated => "Publicerad, men den senaste uppdateringen misslyckades.",
        ChannelStatus::NotListed => "Inte publicerad.",
        ChannelStatus::Processing => "En begäran för annonsen pågår.",
        ChannelStatus::Waiting => "Ett försök misslyckades; nästa väntar eller pågår.",
        ChannelStatus::Failed => "Inte publicerad, eftersom publiceringen misslyckades.",
        ChannelStatus::Paused => {
            "Tjänsten gör en kort paus i anropen till marknadsplatsen, som har svarat fel flera gånger."
        }
    }
}

#[cfg(test)]
mod tests {
    use ad_core::status;

    use crate::console::texts::Language;

    #[test]
    fn every_code_of_a_failure_has_both_languages() {
        let [english, swedish] = [Language::English, Language::Swedish].map(Language::texts);
        for code in status::codes() {
            assert_ne!(english.failure(code), swedish.failure(code), "{code}");
            assert_ne!(english.what_helps(code), swedish.what_helps(code), "{code}");
        }
    }
}
