//! Parts of ads that several pages show: title, price, facts, photos.

use ad_core::{
    categories::Category,
    model::{Ad, Content, ImageFlaw, ImageRef, PlateMatch, Timestamp},
    violation::Code,
};
use maud::{Markup, html};
use serde_json::{Number, Value};

use super::{
    form::{unit as unit_in_words, value_in_words},
    page::number,
    texts::{Language, Texts},
    visitor::Visit,
    words::flaw_in_swedish,
};

/// The title of an ad, or else its source id.
pub(super) fn title(ad: &Ad) -> &str {
    ad.content.title().filter(|title| !title.is_empty()).unwrap_or(&ad.source_id)
}

/// Address of a stored photo as it came.
pub(super) fn photo(visit: &Visit, image: &ImageRef) -> String {
    reachable(visit, image.cdn_url.clone())
}

/// Address of a photo for a display width in pixels: a rendition or, until there are some, the photo as it came.
pub(super) fn rendition(visit: &Visit, image: &ImageRef, width: u32) -> String {
    reachable(visit, image.rendition_at(width).unwrap_or_else(|| image.cdn_url.clone()))
}

/// A photo that this service stores is shown from wherever the visitor reaches the service.
pub(super) fn reachable(visit: &Visit, address: String) -> String {
    match (&visit.visitor.console.media_origin, address.rsplit_once("/media/")) {
        (None, Some((_, name))) => format!("{}/media/{name}", visit.visitor.service_root()),
        _ => address,
    }
}

/// The prices of an ad, the one that buyers pay first.
pub(super) fn prices(content: &Content) -> Vec<(&str, f64, &str)> {
    const ORDER: [&str; 4] = ["reduced", "list", "monthly", "leasing"];
    let prices = content.get("price").and_then(Value::as_array).into_iter().flatten();
    let mut prices: Vec<_> = prices
        .filter_map(|price| {
            let text = |name: &str| price.get(name).and_then(Value::as_str).unwrap_or_default();
            Some((text("type"), price.get("amount")?.as_f64()?, text("currency")))
        })
        .collect();
    prices.sort_by_key(|(kind, ..)| ORDER.iter().position(|known| known == kind).unwrap_or(ORDER.len()));
    prices
}

/// A value of a field of an ad in the words of the pages, by the path of the field. The brand, on which the name of the model depends, is
/// that of the ad unless it is given.
pub(super) fn value(visit: &Visit, ad: Option<&Ad>, brand: Option<&Value>, path: &str, value: &Value) -> String {
    let own = || ad.and_then(|ad| ad.content.text("category_fields.brand"));
    let of = (ad.and_then(Ad::category), brand.and_then(Value::as_str).or_else(own).unwrap_or_default());
    value_of(visit, of, path, value)
}

/// The same of an ad of this category and brand.
pub(super) fn value_of(visit: &Visit, of: (Option<&Category>, &str), path: &str, value: &Value) -> String {
    let texts = visit.visitor.texts;
    if let Value::Bool(is) = value {
        return if *is { texts.yes } else { texts.no }.to_owned();
    }
    value_in_words(&visit.visitor.context.service.rulebook().catalogue, visit.visitor.language, of, path, value)
}

/// The price of an ad in short.
pub(super) fn price(texts: &Texts, content: &Content) -> Markup {
    let prices = prices(content);
    let list = prices.iter().find(|(kind, ..)| *kind == "list");
    html! {
        @match prices.first() {
            Some(("call", ..)) => span.price { (texts.call_for_price) },
            Some((kind, amount, currency)) => {
                span.price { (money(*amount)) " " (texts.currency(currency)) @if matches!(*kind, "monthly" | "leasing") { (texts.per_month) } }
                @if let (true, Some((_, before, currency))) = (*kind == "reduced", list) {
                    " " s.faint { (money(*before)) " " (texts.currency(currency)) }
                }
            }
            None => span.faint { (texts.no_price) },
        }
    }
}

/// An amount of an ad with its currency.
pub(super) fn amount(texts: &Texts, amount: &Number, currency: &str) -> String {
    format!("{} {}", money(amount.as_f64().unwrap_or_default()), texts.currency(currency))
}

/// An amount with its thousands apart, and with decimals if it has some.
pub(super) fn money(amount: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "prices are positive and below 2^53")]
    let whole = amount.trunc() as u64;
    let cents = (amount.fract() * 100.0).round();
    if cents == 0.0 { number(whole) } else { format!("{}.{cents:02}", number(whole)) }
}

/// The main facts: year, mileage or hours, fuel, transmission. `said` says a value in words, by the path of its field.
pub(super) fn facts(language: Language, content: &Content, said: impl Fn(&str, &Value) -> String) -> Vec<String> {
    let field = |path: &str| content.get(&format!("category_fields.{path}"));
    let measure = |path: &str| {
        let (value, unit) = (field(path)?.get("value")?, field(path)?.get("unit")?.as_str()?);
        let value = value.as_u64().map_or_else(|| value.to_string(), number);
        Some(format!("{value} {}", unit_in_words(language, unit)))
    };
    let words = |path: &str| {
        let value = field(path).filter(|value| value.is_string() || value.is_array())?;
        Some(said(&format!("category_fields.{path}"), value)).filter(|said| !said.is_empty())
    };
    let year = field("model_year").filter(|year| year.is_number()).map(Value::to_string);
    let of_vehicle = [
        year,
        measure("condition.mileage").or_else(|| measure("condition.engine_runtime")),
        words("powertrain.fuels").or_else(|| words("powertrain.fuel")),
        words("powertrain.transmission"),
    ];
    of_vehicle.into_iter().flatten().collect()
}

/// Why a marketplace has refused an ad, in its own words, which are marked as such.
pub(super) fn refusal(texts: &Texts, code: Option<Code>, reason: &str) -> Markup {
    html! { @if code == Some(Code::MarketplaceRefused) { (texts.marketplace_says) " " q lang="en" { (reason) } } }
}

/// Why a photo is missing: by its code, and in the words that the API or the host has, which are marked as such, unless the console has its
/// own.
pub(super) fn why_no_photo(visit: &Visit, code: Option<Code>, flaw: Option<ImageFlaw>, reason: &str) -> Markup {
    let own = flaw.filter(|_| visit.visitor.language == Language::Swedish).and_then(flaw_in_swedish);
    html! {
        @if let Some(code) = code { (visit.visitor.texts.failure(code)) ". " }
        @match own { Some(own) => (own), None => q lang="en" { (reason) } }
    }
}

/// What an entry of the log says: with its parts, by its code, or else as the API has it.
pub(super) fn log_text(visit: &Visit, code: Option<Code>, message: &Value) -> Markup {
    let texts = visit.visitor.texts;
    let text = message.get("message").unwrap_or(message).as_str().unwrap_or_default();
    // Without a failure, action and state say the same, unless the message has more than a text.
    if code.is_none() && !message.is_object() {
        return html! {};
    }
    if let Some(told) = told_by_parts(texts, message) {
        return told;
    }
    match code {
        None => html! { span lang="en" { (text) } },
        Some(code) => html! { (texts.failure(code)) ". " (refusal(texts, Some(code), text)) },
    }
}

/// What a message says with its members, in the words of the console: photos that failed, and listings of the same plate.
fn told_by_parts(texts: &Texts, message: &Value) -> Option<Markup> {
    let matches = PlateMatch::in_message(message);
    if !matches.is_empty() {
        return Some(html! {
            @for PlateMatch { marketplace, listing, linked, .. } in &matches {
                (texts.market(*marketplace)) ": " (if *linked { texts.linked_to_listing } else { texts.other_has_listing }) " " code { (listing) } ". "
            }
        });
    }
    let photos = message.get("images")?.as_array().filter(|photos| !photos.is_empty())?;
    let kept = photos.iter().filter(|photo| photo.get("kept").is_some()).count();
    Some(html! {
        (texts.photos_not_fetched) ": " (photos.len()) "."
        @if kept > 0 { " " (texts.photos_kept) ": " (kept) "." }
    })
}

/// A code with the page that explains it.
pub(super) fn code(visit: &Visit, code: Code) -> Markup {
    html! { a href={ (visit.visitor.service_root()) "/docs/errors/" (code.name()) } { code { (code.name()) } } }
}

/// How long ago that was.
pub(super) fn age(texts: &Texts, since: Timestamp, now: Timestamp) -> String {
    let minutes = (now - since).as_secs() / 60;
    match minutes {
        0..60 => format!("{minutes} {}", texts.minutes),
        60..2880 => format!("{} {}", minutes / 60, texts.hours),
        _ => format!("{} {}", minutes / 1440, texts.days),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content(value: Value) -> Content {
        let Value::Object(fields) = value else { panic!("{value}") };
        fields.into()
    }

    #[test]
    fn the_price_that_buyers_pay_comes_first() {
        let price = |prices: Value| super::price(Language::English.texts(), &content(json!({"price": prices}))).0;
        let list = json!({"type": "list", "amount": 349_900, "currency": "SEK"});
        assert!(price(json!([list])).contains("349\u{202f}900 SEK"));
        let reduced = price(json!([list, {"type": "reduced", "amount": 299_900.5, "currency": "SEK"}]));
        assert!(reduced.find("299\u{202f}900.50").unwrap() < reduced.find("<s class").unwrap(), "{reduced}");
        assert!(price(json!([{"type": "monthly", "amount": 2995, "currency": "SEK"}])).contains("995 SEK/month"));
        assert!(price(json!([{"type": "call", "amount": 0, "currency": "SEK"}])).contains("Call"));
        assert!(price(json!([])).contains("No price"));
    }

    #[test]
    fn facts_are_those_that_the_ad_has() {
        let car = json!({"category_fields": {
            "model_year": 2022,
            "condition": {"mileage": {"unit": "mil", "value": 2800}},
            "powertrain": {"fuels": ["gasoline", "electric"], "transmission": "automatic"},
        }});
        let said = |path: &str, _: &Value| path.rsplit('.').next().unwrap_or_default().to_owned();
        assert_eq!(
            facts(Language::English, &content(car), said),
            ["2022", "2\u{202f}800 mil", "fuels", "transmission"]
        );
        let empty = content(json!({"category_fields": {"model_year": null}}));
        assert_eq!(facts(Language::English, &empty, said), [] as [String; 0]);
    }

    #[test]
    fn ages_are_in_units_that_people_use() {
        let age = |seconds: i64| {
            age(Language::English.texts(), Timestamp::from_millis(0), Timestamp::from_millis(seconds * 1000))
        };
        let shown = [30, 3540, 3600, 172_799, 172_800].map(age);
        assert_eq!(shown, ["0 min", "59 min", "1 h", "47 h", "2 days"]);
    }
}
