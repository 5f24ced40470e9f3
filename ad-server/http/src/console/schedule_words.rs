//! A schedule in the words of a seller.

use ad_core::{
    categories,
    model::{AdStatus, Promotion, PromotionRules, Weekday},
};
use serde_json::{Map, Value};

use super::{
    account::kind_of,
    form::named,
    named::{dealer, is_group, money},
    page::Text,
    texts::{Language, Texts},
    visitor::Visit,
};

/// The orders in which a run takes the ads, by their value.
pub(super) const ORDERS: [(&str, Text); 5] = [
    ("updated", |texts| texts.longest_unchanged_first),
    ("created", |texts| texts.oldest_first),
    ("-created", |texts| texts.newest_first),
    ("-updated", |texts| texts.changed_first),
    ("source_id", |texts| texts.by_source_id),
];

pub(super) const fn weekday(texts: &Texts, day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => texts.monday,
        Weekday::Tuesday => texts.tuesday,
        Weekday::Wednesday => texts.wednesday,
        Weekday::Thursday => texts.thursday,
        Weekday::Friday => texts.friday,
        Weekday::Saturday => texts.saturday,
        Weekday::Sunday => texts.sunday,
    }
}

/// Which ads a schedule selects, as far as the form has a field for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// A status; empty: any.
    pub(super) status: String,
    /// The number of a category; empty: any.
    pub(super) category: String,
    /// One ad; empty: any.
    pub(super) source_id: String,
}

impl Selection {
    /// What `select` of a schedule says; `None` if it says something that the form has no field for.
    pub(super) fn of(select: &Map<String, Value>) -> Option<Self> {
        let mut selection = Self::default();
        for (name, value) in select {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match name.as_str() {
                "status" if AdStatus::from_name(&text).is_some() => selection.status = text,
                "state" if text == "created" => {}
                "category_id" => selection.category = text,
                "source_id" => selection.source_id = text,
                _ => return None,
            }
        }
        Some(selection)
    }

    /// The same as `select` of a schedule.
    pub(super) fn select(&self) -> Map<String, Value> {
        let mut select = Map::new();
        let mut put = |name: &str, text: &str| {
            if !text.is_empty() {
                let number = text.parse::<u16>().ok().filter(|_| name == "category_id");
                select.insert(name.to_owned(), number.map_or_else(|| text.into(), Value::from));
            }
        };
        if !self.source_id.is_empty() {
            put("source_id", &self.source_id);
            return select;
        }
        put("status", &self.status);
        put("category_id", &self.category);
        if self.status.is_empty() {
            // Every ad that is not deleted.
            put("state", "created");
        }
        select
    }
}

/// The type of vehicle of a category.
fn vehicle_type(language: Language, category: &str) -> &str {
    let found = categories::typed().find(|(_, known)| known.id.to_string() == category);
    found.map_or(category, |(_, known)| named(language, known.name))
}

/// Which ads, in words.
fn which(language: Language, rules: &PromotionRules) -> String {
    let texts = language.texts();
    let Some(selection) = Selection::of(&rules.select) else { return texts.own_selection.to_owned() };
    if !selection.source_id.is_empty() {
        return format!("{} {}", texts.one_ad, selection.source_id);
    }
    let mut words = vec![match AdStatus::from_name(&selection.status) {
        Some(status) => format!("{}: {}", texts.ads_heading, texts.ad_status(status)),
        None => texts.all_ads.to_owned(),
    }];
    if !selection.category.is_empty() {
        words.push(vehicle_type(language, &selection.category).to_owned());
    }
    if let Some(days) = rules.min_age_days {
        words.push(format!("{} {days} {}", texts.older_than, texts.days));
    }
    words.join(", ")
}

/// A schedule in one line: what, which ads, how many, when, until when, and for how much.
pub(super) fn summary(visit: &Visit, schedule: &Promotion) -> String {
    let (texts, rules) = (visit.visitor.texts, &schedule.rules);
    let is_once = schedule.is_once();
    let days = match &rules.weekdays {
        Some(days) => days.iter().map(|day| weekday(texts, *day)).collect::<Vec<_>>().join(", "),
        None => texts.every_day.to_owned(),
    };
    let mut parts = vec![kind_of(visit, rules.kind).to_owned(), which(visit.visitor.language, rules)];
    if is_once {
        parts.push(format!("{} {}", texts.at_most, rules.most_per_run));
        parts.extend(rules.until.map(|day| format!("{} {day} {}", texts.once, rules.at)));
    } else {
        parts.push(format!("{} {} {}", texts.at_most, rules.most_per_run, texts.each_time));
        parts.push(format!("{days} {}", rules.at));
    }
    if let Some(until) = rules.until.filter(|_| !is_once) {
        parts.push(format!("{} {until}", texts.until_day));
    }
    let dealer = dealer(visit, Some(&schedule.dealer_code)).ok();
    if let (Some(budget), Some(dealer)) = (rules.budget, &dealer) {
        parts.push(format!(
            "{} {}{}",
            texts.at_most,
            money(visit.visitor.language, budget, &dealer.currency),
            if is_once { "" } else { texts.per_month }
        ));
    }
    if let Some(dealer) = dealer.filter(|_| is_group(visit)) {
        parts.push(dealer.name.clone());
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_form_says_what_the_schedule_says() {
        let select = |value: Value| value.as_object().unwrap().clone();
        for value in [
            json!({"status": "live"}),
            json!({"status": "live", "category_id": 1020}),
            json!({"state": "created"}),
            json!({"state": "created", "category_id": 1020}),
            json!({"source_id": "car-1"}),
        ] {
            assert_eq!(Selection::of(&select(value.clone())).unwrap().select(), select(value));
        }
        for other in [json!({"search": "volvo"}), json!({"status": "live,failed"}), json!({"state": "deleted"})] {
            assert_eq!(Selection::of(&select(other)), None);
        }
    }
}
