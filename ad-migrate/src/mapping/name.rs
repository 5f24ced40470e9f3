//! The name of a vehicle, such as `Volvo V70 2.4D Summum`, as brand, model and model type of the catalogue.

use std::sync::Arc;

use super::lookup::{Lookup, Models};

/// Most words of a brand or a model.
const MOST_WORDS: usize = 5;

/// The part of a name that a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamePart {
    Brand,
    Model,
    /// What remains behind brand and model.
    Rest,
}

/// Divides names by the brands and models of a category.
#[derive(Debug)]
pub(super) struct NameParts {
    pub(super) part: NamePart,
    pub(super) brands: Arc<Lookup>,
    pub(super) models: Option<Arc<Models>>,
}

impl NameParts {
    /// The part of a name. Of an unknown brand or model, the first word, so that the error names it.
    pub(super) fn of<'t>(&self, name: &'t str, scratch: &mut String) -> &'t str {
        let (brand, rest) =
            longest(&self.brands, name, scratch).map_or((None, name), |(id, end)| (Some((id, end)), &name[end..]));
        let Some((brand, brand_end)) = brand else {
            return if self.part == NamePart::Brand { first_word(name) } else { "" };
        };
        if self.part == NamePart::Brand {
            return &name[..brand_end];
        }
        let rest = rest.trim_start_matches([' ', ',', '-']);
        let models = self.models.as_ref().and_then(|models| models.of(brand));
        let end = models.and_then(|models| longest(models, rest, scratch)).map(|(_, end)| end);
        match (self.part, end) {
            (NamePart::Model, Some(end)) => &rest[..end],
            (NamePart::Model, None) if self.is_designation(brand, rest) => rest,
            (NamePart::Model, None) => first_word(rest),
            (_, Some(end)) => rest[end..].trim_start_matches([' ', ',', '-']),
            (_, None) => rest,
        }
    }
}

impl NameParts {
    /// Whether a text begins with a designation of a model.
    fn is_designation(&self, brand: &str, text: &str) -> bool {
        self.models.as_ref().is_some_and(|models| models.designated(brand, text).is_some())
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// The value with the most words that a text begins with, and its end.
fn longest<'l>(lookup: &'l Lookup, text: &str, scratch: &mut String) -> Option<(&'l str, usize)> {
    let ends: Vec<usize> = word_ends(text).take(MOST_WORDS).collect();
    ends.into_iter().rev().find_map(|end| {
        let words = text[..end].trim_end_matches(',');
        lookup.find(words, scratch).map(|id| (id, words.len()))
    })
}

fn word_ends(text: &str) -> impl Iterator<Item = usize> {
    let mut at = 0;
    text.split(' ').filter_map(move |word| {
        let end = at + word.len();
        at = end + 1;
        (!word.is_empty()).then_some(end)
    })
}
