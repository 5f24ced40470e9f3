//! What cures a failure of an ad: the one button that leads to it.

use ad_core::{
    model::{Ad, ImageStatus, StatusReport, WhoActs},
    status,
    violation::Code,
};
use maud::{Markup, html};

use super::{
    act::{self, AdAction},
    form_links, show,
    visitor::Visit,
};
use ad_server_access::auth::Permission;

/// What a seller can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
    /// Correct what the ad says.
    Edit,
    /// Replace or remove a photo.
    ReplacePhoto,
    Retry,
}

impl Cure {
    /// `None`: to wait, or what others do.
    pub(super) const fn of(code: Code) -> Option<Self> {
        Some(match code {
            Code::MarketplaceRefused => Self::Edit,
            Code::ImageFailed | Code::HeldByImages => Self::ReplacePhoto,
            Code::ImageStoreUnavailable
            | Code::MarketplaceUnreachable
            | Code::MarketplaceBusy
            | Code::MarketplaceCredentials
            | Code::NotListed
            | Code::GivenUp => Self::Retry,
            _ => return None,
        })
    }
}

/// The failure of which an ad's page speaks first: of a marketplace that does not try again by itself, or else of a photo.
pub(super) fn failure(report: &StatusReport) -> Option<Code> {
    let of_channel = |channel: &ad_core::model::ChannelReport| {
        channel.code.filter(|_| channel.who_acts != WhoActs::Nobody && channel.next_attempt.is_none())
    };
    let mut failed = report.images.iter().filter(|image| image.status == ImageStatus::Failed);
    report.channels.iter().find_map(of_channel).or_else(|| failed.find_map(|image| image.code))
}

/// Why an ad is not live or lacks photos, for its form; `None` if nothing has failed.
pub(super) fn failures(visit: &Visit, report: &StatusReport) -> Option<Markup> {
    let (texts, failed) = (visit.visitor.texts, failure(report)?);
    let photos = (1..).zip(&report.images).filter(|(_, image)| image.status == ImageStatus::Failed);
    let photos: Vec<(u32, _)> = photos.collect();
    Some(html! {
        div.notice.error {
            p { strong { (texts.failure(failed)) ". " } (what_helps(visit, failed)) }
            @for channel in report.channels.iter().filter(|channel| channel.code == Some(Code::MarketplaceRefused)) {
                p { (show::refusal(texts, channel.code, channel.reason.as_deref().unwrap_or_default())) }
            }
            @for (number, image) in photos {
                p { (texts.photo) " " (number) ": " (show::why_no_photo(visit, image.code, image.flaw, &image.text)) }
            }
        }
    })
}

/// What is wrong and what helps, in a sentence each, with the button.
pub(super) fn section(visit: &Visit, ad: &Ad, code: Code) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        p { strong { (texts.failure(code)) ". " } (what_helps(visit, code)) }
        div.actions {
            @match Cure::of(code) {
                Some(Cure::Retry) => (act::button(visit, AdAction::Retry, &ad.source_id, &ad.dealer_code, "primary")),
                Some(_) => (link(visit, ad, code, "button primary")),
                None => {}
            }
        }
    }
}

/// Who acts, for a visitor: a failure that somebody of the dealer cures is not for who may only read.
pub(super) fn who_acts(visit: &Visit, who: WhoActs) -> &'static str {
    let texts = visit.visitor.texts;
    if who == WhoActs::Dealer && !visit.may(Permission::Write) { texts.who_may_change } else { texts.who_acts(who) }
}

/// What helps against a failure that an ad's page tells first, and who does it if that is somebody else of the dealer.
fn what_helps(visit: &Visit, code: Code) -> Markup {
    let texts = visit.visitor.texts;
    let is_for_others = status::advice(code, false).who_acts == WhoActs::Dealer && !visit.may(Permission::Write);
    html! { @if is_for_others { (texts.who_may_change) ": " } (texts.what_helps(code)) }
}

/// The link to the part of the form where a failure is cured; nothing if it is cured elsewhere.
pub(super) fn link(visit: &Visit, ad: &Ad, code: Code, class: &str) -> Markup {
    let texts = visit.visitor.texts;
    let (text, part) = match Cure::of(code) {
        Some(Cure::Edit) => (texts.edit_ad, ""),
        Some(Cure::ReplacePhoto) => (texts.replace_photo, "#section-photos"),
        Some(Cure::Retry) | None => return html! {},
    };
    html! { @if let Some(address) = form_links::address(visit, ad) { a class=(class) href={ (address) (part) } { (text) } } }
}
