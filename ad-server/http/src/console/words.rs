//! The words of the API for states and failures, as the console shows them.

use ad_core::{
    model::{
        Action, ActionState, AdStatus, ChannelStatus, DeliveryState, DisabledReason, ImageFlaw, ImageStatus, Level,
        Market, RequestState, WaitingFor, WebhookProblem, WhoActs,
    },
    violation::Code,
};

use super::texts::Texts;

/// Methods of [`Texts`] that say a value of the API.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident: $type:ident { $($value:ident => $text:ident),+ $(,)? })+) => {
        impl Texts {
            $($(#[$doc])* pub(super) const fn $name(&self, value: $type) -> &'static str {
                match value { $($type::$value => self.$text),+ }
            })+
        }
    };
}

words! {
    ad_status: AdStatus {
        Live => status_live, PartlyLive => status_partly_live, Hidden => status_hidden,
        Processing => status_processing, Waiting => status_waiting, Failed => status_failed,
        Deleted => status_deleted,
    }
    channel_status: ChannelStatus {
        Live => status_live, Outdated => channel_outdated, NotListed => channel_not_listed,
        Processing => status_processing, Waiting => status_waiting, Failed => status_failed, Paused => channel_paused,
    }
    /// What to do about ads with a status.
    what_to_do: AdStatus {
        Live => do_live, PartlyLive => do_partly_live, Hidden => do_hidden, Processing => do_processing,
        Waiting => do_waiting, Failed => do_failed, Deleted => do_deleted,
    }
    image_status: ImageStatus { Stored => image_stored, Waiting => status_waiting, Failed => status_failed }
    request_state: RequestState {
        Queued => request_queued, Processing => status_processing, Waiting => status_waiting, Done => state_done,
        Error => state_error,
    }
    waiting_for: WaitingFor {
        Request => for_request, Images => for_images, ImageStore => for_image_store, Primary => market_primary,
        Secondary => market_secondary,
    }
    market: Market { Primary => market_primary, Secondary => market_secondary }
    who_acts: WhoActs {
        Nobody => who_nobody, Dealer => who_dealer, ImageHost => who_image_host, Marketplace => who_marketplace,
        Operator => who_operator,
    }
    action: Action {
        Create => action_create, Update => action_update, Bump => action_bump, Boost => action_boost,
        HandleMedia => action_handle_media, Publish => action_publish, Delete => action_delete,
        Unpublish => action_unpublish,
    }
    action_state: ActionState { Processing => state_processing, Done => state_done, Error => state_error }
    delivery_state: DeliveryState { Pending => pending, Delivered => delivered, Failed => status_failed }
    disabled_reason: DisabledReason {
        Requested => disabled_requested, Gone => disabled_gone, Failing => disabled_failing,
    }
    webhook_problem: WebhookProblem { SecretUnreadable => webhook_unreadable }
    level: Level { Basic => level_basic, Good => level_good, Excellent => level_excellent }
}

impl Texts {
    /// A currency as people write it behind an amount.
    pub(super) fn currency<'a>(&self, code: &'a str) -> &'a str {
        if code == "SEK" { self.sek } else { code }
    }

    /// What went wrong, by its code.
    pub(super) const fn failure(&self, code: Code) -> &'static str {
        match code {
            Code::ImageFailed => self.failure_image_failed,
            Code::ImageStoreUnavailable => self.failure_image_store,
            Code::QuotaExceeded => self.failure_quota,
            Code::HeldByImages => self.failure_held,
            Code::SlotsExceeded => self.failure_slots,
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

    pub(super) const fn what_helps(&self, code: Code) -> &'static str {
        match code {
            Code::ImageFailed => self.helps_image_failed,
            Code::ImageStoreUnavailable => self.helps_image_store,
            Code::QuotaExceeded => self.helps_quota,
            Code::HeldByImages => self.helps_held,
            Code::SlotsExceeded => self.helps_slots,
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
}

/// What the status of a channel means, in Swedish; the API says it in English.
pub(super) const fn channel_in_swedish(status: ChannelStatus, code: Option<Code>) -> &'static str {
    match status {
        ChannelStatus::Waiting if matches!(code, Some(Code::SlotsExceeded)) => "Annonsen väntar på en ledig plats.",
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

/// What is wrong with an image, in Swedish; the API says it in English. `None`: only its host can say it.
pub(super) const fn flaw_in_swedish(flaw: ImageFlaw) -> Option<&'static str> {
    Some(match flaw {
        ImageFlaw::NotAPhoto => "Filen är varken JPEG eller PNG. Använd ett annat foto.",
        ImageFlaw::Damaged => "Filen är skadad. Ladda upp den på nytt, eller använd ett annat foto.",
        ImageFlaw::TooLarge => "Filen är för stor. Använd en mindre.",
        ImageFlaw::Missing => "Det finns inget foto på adressen. Använd ett annat foto.",
        ImageFlaw::Address => "Adressen går inte att hämta från. Den ska vara öppen för alla och börja med https://.",
        ImageFlaw::Redirect => "Adressen leder vidare till en som inte går att hämta från. Använd en annan adress.",
        ImageFlaw::Certificate => "Värden har inget giltigt certifikat. Använd en annan adress.",
        ImageFlaw::NoAnswer => "Värden svarar inte, eller svarar fel.",
        ImageFlaw::Refused => return None,
    })
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
