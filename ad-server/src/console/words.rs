//! The words of the console for names of the API, which `words.toml` has in English and Swedish: states, failures, fields.

use std::{collections::BTreeMap, sync::LazyLock};

use ad_core::{
    model::{
        Action, ActionState, AdStatus, ChannelStatus, DeliveryState, DisabledReason, ImageStatus, Level, Market,
        RequestState, WaitingFor, WhoActs,
    },
    violation::Code,
};

use super::texts::{Language, Texts};

/// The English and the Swedish word of each name, by its kind.
static WORDS: LazyLock<BTreeMap<String, BTreeMap<String, [String; 2]>>> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).expect("a test reads it"));

/// The word for a name of this kind, if there is one.
pub(super) fn word(language: Language, kind: &str, name: &str) -> Option<&'static str> {
    let [english, swedish] = WORDS.get(kind)?.get(name)?;
    Some(match language {
        Language::English => english,
        Language::Swedish => swedish,
    })
}

impl Texts {
    /// The word for a name that has one.
    pub(super) fn word(&self, kind: &str, name: &'static str) -> &'static str {
        word(self.in_language, kind, name).unwrap_or(name)
    }

    pub(super) fn ad_status(&self, status: AdStatus) -> &'static str {
        self.word("ad_status", status.name())
    }

    pub(super) fn channel_status(&self, status: ChannelStatus) -> &'static str {
        self.word("channel_status", status.name())
    }

    /// What went wrong, by its code.
    pub(super) fn failure(&self, code: Code) -> &'static str {
        word(self.in_language, "failure", code.name()).unwrap_or(code.about().title)
    }

    /// What to do about it.
    pub(super) fn what_helps(&self, code: Code) -> &'static str {
        word(self.in_language, "what_helps", code.name()).unwrap_or(code.about().cure)
    }

    /// What is wrong with a photo, in the few words that fit below it.
    pub(super) fn wrong_with_photo(&self, code: Code) -> Option<&'static str> {
        word(self.in_language, "wrong_with_photo", code.name())
    }

    /// What to do about ads with a status.
    pub(super) fn what_to_do(&self, status: AdStatus) -> &'static str {
        self.word("what_to_do", status.name())
    }

    pub(super) fn image_status(&self, status: ImageStatus) -> &'static str {
        self.word("image_status", status.name())
    }

    pub(super) fn request_state(&self, state: RequestState) -> &'static str {
        self.word("request_state", state.name())
    }

    pub(super) fn waiting_for(&self, what: WaitingFor) -> &'static str {
        self.word("waiting_for", what.name())
    }

    pub(super) fn market(&self, market: Market) -> &'static str {
        self.word("market", market.name())
    }

    pub(super) fn who_acts(&self, who: WhoActs) -> &'static str {
        self.word("who_acts", who.name())
    }

    pub(super) fn action(&self, action: Action) -> &'static str {
        self.word("action", action.name())
    }

    pub(super) fn action_state(&self, state: ActionState) -> &'static str {
        self.word("action_state", state.name())
    }

    pub(super) fn delivery_state(&self, state: DeliveryState) -> &'static str {
        self.word("delivery_state", state.name())
    }

    pub(super) fn disabled_reason(&self, reason: DisabledReason) -> &'static str {
        self.word("disabled_reason", reason.name())
    }

    /// The name of a section of the form.
    pub(super) fn section(&self, id: &'static str) -> &'static str {
        self.word("section", id)
    }

    pub(super) fn level(&self, level: Level) -> &'static str {
        self.word("level", level.name())
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

    use super::*;

    #[test]
    fn every_name_of_the_api_has_a_word() {
        let all = [
            ("ad_status", AdStatus::NAMES),
            ("what_to_do", AdStatus::NAMES),
            ("channel_status", ChannelStatus::NAMES),
            ("image_status", ImageStatus::NAMES),
            ("request_state", RequestState::NAMES),
            ("waiting_for", WaitingFor::NAMES),
            ("market", Market::NAMES),
            ("who_acts", WhoActs::NAMES),
            ("action", Action::NAMES),
            ("action_state", ActionState::NAMES),
            ("delivery_state", DeliveryState::NAMES),
            ("disabled_reason", DisabledReason::NAMES),
            ("level", Level::NAMES),
        ];
        for (kind, names) in all {
            let mut expected = names.to_vec();
            expected.sort_unstable();
            assert_eq!(WORDS[kind].keys().collect::<Vec<_>>(), expected, "{kind}");
        }
        for (kind, count) in [("ad_action", 6), ("ad_action_does", 6), ("order", 6), ("limit", 4), ("section", 13)] {
            assert_eq!(WORDS[kind].len(), count, "{kind}");
        }
        for kind in ["failure", "what_helps", "wrong_with_photo"] {
            for name in WORDS[kind].keys() {
                assert_ne!(Code::from_name(name), Code::Unknown, "{kind} {name}");
            }
        }
    }

    #[test]
    fn every_code_of_a_failure_has_both_languages() {
        let [english, swedish] = [Language::English, Language::Swedish].map(Language::texts);
        for code in status::codes() {
            assert_ne!(english.failure(code), swedish.failure(code), "{code}");
            assert_ne!(english.what_helps(code), swedish.what_helps(code), "{code}");
        }
    }
}
