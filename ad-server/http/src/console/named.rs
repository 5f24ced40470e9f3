//! What sellers know things by: ads by title and plate, money in their currency, and why an ad is not promoted.

use std::collections::{BTreeSet, HashMap};

use ad_core::{
    model::{Ad, Amount, Content, LastDay, Month},
    service::{Access, ServiceError, Target},
    violation::Code,
};
use futures_util::{StreamExt, stream};
use maud::{Markup, html};

use super::{
    act::AdKey,
    show,
    texts::{Language, Texts},
    visitor::{Visit, Visitor},
};
use crate::api::ApiError;

/// Ads that are read at once.
pub(super) const AT_ONCE: usize = 16;

/// Ads by dealer code and source id, as far as the visitor sees them.
#[derive(Debug, Default)]
pub(super) struct NamedAds(HashMap<(String, String), Option<Ad>>);

impl NamedAds {
    /// Reads ads by dealer code and source id.
    pub(super) async fn read(visit: &Visit, wanted: BTreeSet<(String, String)>) -> Result<Self, ApiError> {
        let (service, scope) = (&visit.visitor.context.service, &visit.caller.scope);
        let read = |key: (String, String)| async move {
            let target = Target::from(&key.1).of_dealer(Some(&key.0));
            let found = found(service.read_without_log(scope, target).await)?;
            Ok::<_, ApiError>((key, found.map(|found| found.ad)))
        };
        let mut reads = stream::iter(wanted).map(read).buffer_unordered(AT_ONCE);
        let mut ads = HashMap::new();
        while let Some(read) = reads.next().await {
            ads.extend([read?]);
        }
        Ok(Self(ads))
    }

    fn get(&self, dealer_code: &str, source_id: &str) -> Option<&Option<Ad>> {
        self.0.get(&(dealer_code.to_owned(), source_id.to_owned()))
    }

    /// An ad by title and plate, with a link to its page; by its source id if it was not read, and without a link if it is gone.
    pub(super) fn link(&self, visit: &Visit, dealer_code: &str, source_id: &str) -> Markup {
        match self.get(dealer_code, source_id) {
            Some(Some(ad)) => link(&visit.visitor, ad),
            Some(None) => html! { code { (source_id) } },
            None => html! { a href=(address(&visit.visitor, source_id, dealer_code)) { (source_id) } },
        }
    }
}

impl NamedAds {
    /// An ad by photo, title, plate and price.
    pub(super) fn described(&self, visit: &Visit, dealer_code: &str, source_id: &str) -> Markup {
        let Some(Some(ad)) = self.get(dealer_code, source_id) else {
            return html! { code { (source_id) } };
        };
        html! {
            div.row.photo {
                @if let Some(image) = ad.image_refs.first() {
                    img src=(show::rendition(visit, image, 320)) alt="" width="96" height="72";
                }
                div { (link(&visit.visitor, ad)) br; (show::price(visit.visitor.texts, &ad.content)) }
            }
        }
    }
}

/// What was found; `None` if there is no such ad in the scope.
pub(super) fn found<T>(read: Result<T, ServiceError>) -> Result<Option<T>, ServiceError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error @ ServiceError::Store(_)) => Err(error),
        Err(_) => Ok(None),
    }
}

/// The page of an ad.
fn address(visitor: &Visitor, source_id: &str, dealer_code: &str) -> String {
    visitor.address(&format!("/ad?{}", AdKey::query(source_id, dealer_code)))
}

/// An ad by title and plate, with a link to its page.
pub(super) fn link(visitor: &Visitor, ad: &Ad) -> Markup {
    html! { (title_link(visitor, ad)) (plate(&ad.content)) }
}

/// The title of an ad, with a link to its page.
pub(super) fn title_link(visitor: &Visitor, ad: &Ad) -> Markup {
    html! { a href=(address(visitor, &ad.source_id, &ad.dealer_code)) { (show::title(ad)) } }
}

fn plate(content: &Content) -> Markup {
    html! { @if let Some(plate) = content.registration_number() { " " span.plate { (plate) } } }
}

/// An amount in the words of a language: `189 900 kr`, `189 900 SEK`.
pub(super) fn money(language: Language, amount: Amount, currency: &str) -> String {
    #[expect(clippy::cast_precision_loss, reason = "amounts are below 2^53 hundredths")]
    let text = show::money(amount.hundredths().max(0) as f64 / 100.0);
    let text = if language == Language::Swedish { text.replace('.', ",") } else { text };
    format!("{text} {}", language.texts().currency(currency))
}

/// What something costs; a word where it is free.
pub(super) fn cost(visit: &Visit, amount: Option<Amount>, currency: &str) -> String {
    match amount {
        Some(amount) => money(visit.visitor.language, amount, currency),
        None => visit.visitor.texts.free.to_owned(),
    }
}

const MONTHS: [[&str; 12]; 2] = [
    [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ],
    [
        "januari",
        "februari",
        "mars",
        "april",
        "maj",
        "juni",
        "juli",
        "augusti",
        "september",
        "oktober",
        "november",
        "december",
    ],
];

/// The name of a month by its number, such as `11`.
fn month_name(language: Language, number: &str) -> Option<&'static str> {
    let [english, swedish] = &MONTHS;
    let names = match language {
        Language::English => english,
        Language::Swedish => swedish,
    };
    names.get(number.parse::<usize>().ok()?.checked_sub(1)?).copied()
}

/// A month by its name, such as `November 2026`.
pub(super) fn month(language: Language, month: Month) -> String {
    let text = month.to_string();
    match (text.get(5..).and_then(|number| month_name(language, number)), text.get(..4)) {
        (Some(name), Some(year)) => format!("{name} {year}"),
        _ => text,
    }
}

/// A date such as `2026-11-30` in words, such as `30 November 2026`; `None` if it is no date.
pub(super) fn date(language: Language, text: &str) -> Option<String> {
    let date: LastDay = text.parse().ok()?;
    let text = date.to_string();
    let day = text.get(8..10)?.trim_start_matches('0');
    Some(format!("{day} {} {}", month_name(language, text.get(5..7)?)?, text.get(..4)?))
}

/// A date in words beside its input. The script keeps it up to date.
pub(super) fn date_in_words(language: Language, text: &str) -> Markup {
    html! { span.date-words data-date { (date(language, text).unwrap_or_default()) } }
}

/// Why an ad is not promoted, by its code.
pub(super) const fn not_promoted(texts: &Texts, code: Code) -> &'static str {
    match code {
        Code::AdHidden => texts.skip_hidden,
        Code::AdDeleted => texts.skip_deleted,
        Code::AdNotPublished => texts.skip_not_published,
        Code::NotFound => texts.skip_not_found,
        Code::PromotionNotPermitted => texts.skip_not_permitted,
        Code::NotAllowed => texts.skip_not_allowed,
        Code::DealerSuspended => texts.skip_suspended,
        Code::PolePositionActive => texts.skip_pole_position,
        Code::AlreadyPromoted => texts.skip_already,
        Code::BudgetExceeded => texts.skip_budget,
        Code::QuotaExceeded => texts.skip_quota,
        other => texts.failure(other),
    }
}

/// The dealer that a page is about: the one of the query, or the first one of the scope.
pub(super) fn dealer(visit: &Visit, named: Option<&str>) -> Result<std::sync::Arc<ad_core::model::Dealer>, ApiError> {
    let dealers = visit.visitor.context.service.dealers_in(&visit.caller.scope);
    let wanted = dealers.into_iter().find(|dealer| named.is_none_or(|code| dealer.code == code));
    wanted.ok_or_else(|| ServiceError::NotFound.into())
}

/// The name of a dealer; its code where the visitor has no such dealer.
pub(super) fn dealer_name(visit: &Visit, code: &str) -> String {
    dealer(visit, Some(code)).map_or_else(|_| code.to_owned(), |dealer| dealer.name.clone())
}

/// What a scope is called: a dealer by its name, a group by its code.
pub(super) fn scope_name(visitor: &Visitor, scope: &Access) -> String {
    let dealers =
        if matches!(scope, Access::Dealer(_)) { visitor.context.service.dealers_in(scope) } else { Vec::new() };
    dealers.first().map_or_else(|| scope.name().to_owned(), |dealer| dealer.name.clone())
}

/// Whether the visitor has several dealers.
pub(super) fn is_group(visit: &Visit) -> bool {
    matches!(visit.caller.scope, Access::Group(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_written_as_in_the_language() {
        let amount = Amount::from_hundredths(18_990_050);
        assert_eq!(money(Language::Swedish, amount, "SEK"), "189\u{202f}900,50 kr");
        assert_eq!(money(Language::English, amount, "SEK"), "189\u{202f}900.50 SEK");
        assert_eq!(money(Language::Swedish, Amount::from_hundredths(5900), "EUR"), "59 EUR");
    }

    #[test]
    fn months_have_names() {
        let november = "2026-11".parse().unwrap();
        assert_eq!(month(Language::English, november), "November 2026");
        assert_eq!(month(Language::Swedish, november), "november 2026");
        assert_eq!(date(Language::English, "2026-12-01").unwrap(), "1 December 2026");
        assert_eq!(date(Language::Swedish, "2027-05-31").unwrap(), "31 maj 2027");
        assert_eq!([date(Language::English, "2026-02-30"), date(Language::English, "")], [None, None]);
    }
}
