//! Finds allowed values by id or display name, ignoring case and diacritics. Made once for each list of ad-core.

use std::sync::{Arc, OnceLock};

use ad_core::{
    catalogue::{Catalogue, List},
    fields::ChoiceValue,
    synonyms::models::{self, FoundModel},
    violation::{Choices, nearest},
};
use rustc_hash::FxHashMap;

use super::fold::{fold_into, folded};

#[derive(Debug, Default)]
pub(crate) struct Lookup {
    ids: Vec<Box<str>>,
    /// Ids and names in small letters.
    exact: FxHashMap<Box<str>, u32>,
    /// The same without diacritics, spaces and hyphens; `None` if several values remain: Saab's 9-3 is not its 93.
    loose: FxHashMap<Box<str>, Option<u32>>,
}

impl Lookup {
    fn new<'a>(values: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut lookup = Self::default();
        for (id, name) in values {
            let index = u32::try_from(lookup.ids.len()).unwrap_or(u32::MAX);
            lookup.ids.push(id.into());
            for text in [id, name] {
                lookup.exact.entry(text.to_lowercase().into()).or_insert(index);
                lookup
                    .loose
                    .entry(folded(text).into())
                    .and_modify(|known| *known = known.filter(|known| *known == index))
                    .or_insert(Some(index));
            }
        }
        lookup
    }

    pub(crate) fn of_list(list: &List) -> Self {
        Self::new(list.entries().iter().map(|entry| (entry.id.as_str(), entry.name.as_str())))
    }

    /// The id that a text means. `scratch` is a reused buffer.
    pub(crate) fn find(&self, text: &str, scratch: &mut String) -> Option<&str> {
        scratch.clear();
        if text.is_ascii() {
            scratch.push_str(text);
            scratch.make_ascii_lowercase();
        } else {
            text.chars().flat_map(char::to_lowercase).for_each(|letter| scratch.push(letter));
        }
        let index = if let Some(index) = self.exact.get(scratch.as_str()) {
            *index
        } else {
            fold_into(text, scratch);
            (*self.loose.get(scratch.as_str())?)?
        };
        self.ids.get(index as usize).map(|id| &**id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> + Clone {
        self.ids.iter().map(|id| &**id)
    }

    /// The models whose names the text misspells, as a sentence.
    pub(crate) fn misspelled(&self, text: &str) -> Option<String> {
        nearest::did_you_mean_one_of(models::misspelled(text, self.ids()).into_iter())
    }

    /// The nearest values, as a sentence.
    pub(crate) fn hint(&self, text: &str) -> Option<String> {
        Choices::of(Some(text), self.ids()).text()
    }
}

/// The models of each brand, by the id of the brand.
#[derive(Debug, Default)]
pub(crate) struct Models {
    brands: FxHashMap<Box<str>, ModelsOfBrand>,
}

#[derive(Debug)]
struct ModelsOfBrand {
    /// Ids and names, which texts are compared with that are neither.
    names: Vec<(Box<str>, Box<str>)>,
    /// Made when the first model of the brand is looked for: a file has few of all brands.
    lookup: OnceLock<Lookup>,
}

impl ModelsOfBrand {
    fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(id, name)| (&**id, &**name))
    }

    fn lookup(&self) -> &Lookup {
        self.lookup.get_or_init(|| Lookup::new(self.names()))
    }
}

impl Models {
    /// The models of a file, for the brands of a list.
    pub(crate) fn new(catalogue: &Catalogue, file: &str, brands: &List) -> Self {
        let brands = brands.ids().map(|brand| {
            let models = catalogue.models(file, brand).entries().iter();
            let names = models.map(|model| (model.id.as_str().into(), model.name.as_str().into())).collect();
            (brand.into(), ModelsOfBrand { names, lookup: OnceLock::new() })
        });
        Self { brands: brands.collect() }
    }

    /// The model of a brand that a text is a designation of: `320d` is a 3 series.
    pub(crate) fn designated(&self, brand: &str, text: &str) -> Option<FoundModel<'_>> {
        models::find(brand, text, self.brands.get(brand)?.names())
    }

    pub(crate) fn of(&self, brand: &str) -> Option<&Lookup> {
        self.brands.get(brand).map(ModelsOfBrand::lookup)
    }

    /// The brands that have a model of this name.
    pub(crate) fn brands_with(&self, text: &str, scratch: &mut String) -> Vec<&str> {
        let brands = self.brands.iter().filter(|(_, models)| models.lookup().find(text, scratch).is_some());
        let mut names: Vec<_> = brands.map(|(brand, _)| &**brand).collect();
        names.sort_unstable();
        names
    }

    /// Whether any brand has a model of this name.
    pub(crate) fn has(&self, text: &str, scratch: &mut String) -> bool {
        self.brands.values().any(|models| models.lookup().find(text, scratch).is_some())
    }
}

/// A cache of lookups by list.
#[derive(Debug, Default)]
pub(crate) struct Lookups {
    lists: FxHashMap<&'static str, Arc<Lookup>>,
    choices: FxHashMap<usize, Arc<Lookup>>,
    models: FxHashMap<&'static str, Arc<Models>>,
}

impl Lookups {
    pub(crate) fn list(&mut self, catalogue: &Catalogue, name: &'static str) -> Arc<Lookup> {
        Arc::clone(self.lists.entry(name).or_insert_with(|| Arc::new(Lookup::of_list(catalogue.list(name)))))
    }

    pub(crate) fn choice(&mut self, values: &'static [ChoiceValue]) -> Arc<Lookup> {
        let entry = self.choices.entry(values.as_ptr().addr());
        Arc::clone(entry.or_insert_with(|| Arc::new(Lookup::new(values.iter().copied()))))
    }

    pub(crate) fn models(&mut self, catalogue: &Catalogue, file: &'static str, brands: &'static str) -> Arc<Models> {
        let made = || Arc::new(Models::new(catalogue, file, catalogue.list(brands)));
        Arc::clone(self.models.entry(file).or_insert_with(made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_id_name_and_what_is_nearly_one() {
        let catalogue = Catalogue::embedded();
        let brands = Lookup::of_list(catalogue.list("car.brand"));
        let mut scratch = String::new();
        for (text, id) in [
            ("VOLVO", "volvo"),
            ("Škoda", "skoda"),
            ("Skoda", "skoda"),
            ("Mercedes Benz", "mercedes-benz"),
            ("Citroën", "citroen"),
            ("Lynk & Co", "lynk-co"),
        ] {
            assert_eq!(brands.find(text, &mut scratch), Some(id), "{text}");
        }
        assert_eq!(brands.find("Wolvo", &mut scratch), None);
        assert_eq!(brands.hint("Wolvo").as_deref(), Some("Did you mean \"volvo\"?"));
    }

    #[test]
    fn models_are_those_of_their_brand() {
        let catalogue = Catalogue::embedded();
        let models = Models::new(&catalogue, "car-models", catalogue.list("car.brand"));
        let mut scratch = String::new();
        let mut find = |brand, text| models.of(brand).unwrap().find(text, &mut scratch).map(str::to_owned);
        assert_eq!(find("saab", "9-3").as_deref(), Some("9-3"));
        assert_eq!(find("saab", "93").as_deref(), Some("93"));
        assert_eq!(find("saab", "9 3"), None, "could be either");
        assert_eq!(find("tesla", "Model 3").as_deref(), Some("model-3"));
        assert_eq!(find("volkswagen", "ID3").as_deref(), Some("id-3"));
        assert_eq!(find("volvo", "Golf"), None);
        assert_eq!(models.brands_with("golf", &mut String::new()), ["volkswagen"]);
        assert!(models.brands_with("Gulf", &mut String::new()).is_empty());
    }
}
