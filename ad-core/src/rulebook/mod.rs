//! Everything that decides whether a payload is an ad: the tables, the rules beside them, the catalogue and the
//! operator's settings. What comes out is either normalised content or all errors.

mod derived;
mod example;
pub mod merge;
pub mod payload;
pub mod size;
pub mod title;
pub mod versions;
mod warnings;

use serde_json::{Map, Value};

use crate::{
    catalogue::Catalogue,
    categories::{self, AdFacts, Category, Facts, Settings, ad_fields, rules},
    fields::{Against, Check, FieldErrors, Mode},
    model::{Ad, ApiVersion, Content, Dealer, get},
    rulebook::merge::merge,
    violation::{Choices, Code, Violation},
};

pub use warnings::Warning;

/// The rules, ready to check payloads with.
#[derive(Debug)]
pub struct Rulebook {
    /// Allowed values.
    pub catalogue: Catalogue,
    /// What an operator can set.
    pub settings: Settings,
}

impl Default for Rulebook {
    fn default() -> Self {
        Self { catalogue: Catalogue::embedded(), settings: Settings::default() }
    }
}

/// A payload that passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The client's reference; empty where none was sent and none was needed.
    pub source_id: String,
    /// The ad's content, normalised, with derived fields and generated title.
    pub content: Content,
    /// What is allowed but probably not meant.
    pub warnings: Vec<Warning>,
}

/// Who writes what, for a check.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// The category, by the path's vehicle type.
    pub category: &'static Category,
    /// The API version of the path.
    pub version: ApiVersion,
    /// The dealer; `None` when it is itself in error and rules about it cannot be held.
    pub dealer: Option<&'a Dealer>,
}

impl Rulebook {
    /// Checks the payload of a create. With `source_id_optional` (validate), the client's reference may be missing.
    ///
    /// # Errors
    /// All errors of the payload at their paths.
    pub fn create(
        &self,
        write: Write<'_>,
        payload: Map<String, Value>,
        source_id_optional: bool,
    ) -> Result<Checked, FieldErrors> {
        self.complete(write, Mode::Create, payload, source_id_optional)
    }

    /// Checks a stored ad of another system that is to be imported: as a create, but for what only a new ad may not have.
    ///
    /// # Errors
    /// All errors of the ad at their paths.
    pub fn import(&self, write: Write<'_>, ad: Map<String, Value>) -> Result<Checked, FieldErrors> {
        self.complete(write, Mode::Whole, ad, false)
    }

    fn complete(
        &self,
        write: Write<'_>,
        mode: Mode,
        mut payload: Map<String, Value>,
        source_id_optional: bool,
    ) -> Result<Checked, FieldErrors> {
        let mut check = self.check(write.version, mode, against(write.category));
        let mut errors = check.object(&ad_fields::CREATE, &mut payload);
        if source_id_optional && !payload.contains_key("source_id") {
            errors.forget("source_id");
        }
        // What identifies the ad is no part of its content.
        let [source_id, _, category_id] = ["source_id", "dealer_code", "category_id"].map(|name| payload.remove(name));
        let id = write.category.id;
        if let Some(sent) = category_id.as_ref().and_then(Value::as_u64)
            && sent != u64::from(id)
        {
            let note = Some(format!("The category of {} is {id}.", write.category));
            let (sent, choices) = (format!("\"{sent}\""), Choices::Untold);
            errors.push("category_id", Violation::NotAChoice { sent, choices, note });
        }
        let mut checked = self.finish(write, mode, &check, payload, Before::default(), errors)?;
        if let Some(Value::String(source_id)) = source_id {
            checked.source_id = source_id;
        }
        Ok(checked)
    }

    /// What is wrong with the payload of a create whose category is itself in error: all that does not depend on it.
    pub fn without_category(
        &self,
        version: ApiVersion,
        mut payload: Map<String, Value>,
        source_id_optional: bool,
    ) -> FieldErrors {
        let mut errors = self.check(version, Mode::Create, Against::Unknown).object(&ad_fields::CREATE, &mut payload);
        if source_id_optional && !payload.contains_key("source_id") {
            errors.forget("source_id");
        }
        errors
    }

    /// Checks an update: the patch is merged into what is stored, and the result is checked as a whole.
    ///
    /// # Errors
    /// All errors of the patch and of the merged ad at their paths.
    pub fn update(&self, write: Write<'_>, stored: &Ad, mut patch: Map<String, Value>) -> Result<Checked, FieldErrors> {
        let mut fixed = FieldErrors::default();
        unchanged(stored, &mut patch, &mut fixed);
        let before = stored.content.fields();
        let sends_title = patch.contains_key("title");
        let follows = derived::follows_the_mileage(write.category, before, &patch);
        let mut patched = rules::OF_THE_DIRECTORY.to_vec();
        let fields = patch.get("category_fields").and_then(Value::as_object);
        patched.retain(|path| fields.is_some_and(|fields| get(fields, path).is_some()));
        let mut merged = merge(before, patch);
        derived::forget_generated_title(&self.catalogue, write.category, before, &mut merged, sends_title);
        if follows {
            derived::forget_is_new_vehicle(&mut merged);
        }
        self.revised(write, Mode::Update, stored, &patched, merged, fixed)
    }

    /// Checks a migration: the payload replaces what is stored, but for the images when it has none
    /// ('Endpoints' rule 7, decision 28).
    ///
    /// # Errors
    /// All errors of the payload at their paths.
    pub fn migrate(
        &self,
        write: Write<'_>,
        stored: &Ad,
        mut payload: Map<String, Value>,
    ) -> Result<Checked, FieldErrors> {
        let mut fixed = FieldErrors::default();
        unchanged(stored, &mut payload, &mut fixed);
        let before = stored.content.fields();
        derived::forget_generated_title(&self.catalogue, write.category, before, &mut payload, true);
        if payload.get("image_urls").is_none_or(Value::is_null)
            && let Some(images) = before.get("image_urls")
        {
            payload.insert("image_urls".to_owned(), images.clone());
        }
        self.revised(write, Mode::Whole, stored, &[], payload, fixed)
    }

    fn revised(
        &self,
        write: Write<'_>,
        mode: Mode,
        stored: &Ad,
        patched: &[&'static str],
        mut ad: Map<String, Value>,
        fixed: FieldErrors,
    ) -> Result<Checked, FieldErrors> {
        let mut check = self.check(write.version, mode, against(write.category));
        let mut errors = check.object(&ad_fields::UPDATE, &mut ad);
        errors.absorb(fixed);
        let before = Before { content: Some(&stored.content), patched };
        let mut checked = self.finish(write, mode, &check, ad, before, errors)?;
        checked.source_id.clone_from(&stored.source_id);
        Ok(checked)
    }

    fn check<'a>(&'a self, version: ApiVersion, mode: Mode, category: Against<'a>) -> Check<'a> {
        Check::new(&self.catalogue, version, mode, category).with_http_images(self.settings.http_images)
    }

    /// What follows the walk over the tables: derived fields, the rules, and the result.
    fn finish(
        &self,
        write: Write<'_>,
        mode: Mode,
        check: &Check<'_>,
        mut ad: Map<String, Value>,
        before: Before<'_>,
        mut errors: FieldErrors,
    ) -> Result<Checked, FieldErrors> {
        derived::fill(write.category, write.dealer, &mut ad);
        let facts = Facts {
            ad: AdFacts::from(&ad),
            before: before.content,
            patched: before.patched,
            mode,
            category: write.category,
            dealer: write.dealer,
            catalogue: &self.catalogue,
            settings: &self.settings,
            check,
        };
        // Without category fields there is one thing to say about them, and the walk has said it.
        let of_the_category = if facts.ad.category_fields.is_some() { write.category.rules } else { &[] };
        for rule in ad_fields::RULES.iter().chain(of_the_category).copied().flatten() {
            (rule.check)(&facts, &mut errors);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let warnings = warnings::of(&facts);
        let cleared_mileage = rules::cleared_mileage(&facts);
        if !facts.ad.has_title
            && let Some(title) = derived::generated_title(&self.catalogue, write.category, &ad)
        {
            ad.insert("title".to_owned(), Value::from(title));
        }
        size::check(&ad, before.content)?;
        let content = Content::from(ad).with_cleared_mileage(cleared_mileage);
        Ok(Checked { source_id: String::new(), content, warnings })
    }
}

/// What a revision builds on.
#[derive(Debug, Clone, Copy, Default)]
struct Before<'a> {
    /// What was stored; `None` for a new ad.
    content: Option<&'a Content>,
    /// Which fields of [`rules::OF_THE_DIRECTORY`] the patch sends.
    patched: &'a [&'static str],
}

/// What the `category_fields` of a category are held against.
fn against(category: &Category) -> Against<'_> {
    if category.is_open() { Against::Open } else { Against::Table(category.tree()) }
}

/// What an update may send only unchanged (decisions 11 and 12); what it sends unchanged is dropped.
fn unchanged(stored: &Ad, patch: &mut Map<String, Value>, errors: &mut FieldErrors) {
    let mut hold = |name: &str, is: Value, same: fn(&Value, &Value) -> bool| {
        if let Some(sent) = patch.remove(name)
            && !same(&sent, &is)
        {
            errors.push(name, Violation::stated(Code::Immutable, format!("Cannot be changed (it is {is}).")));
        }
    };
    hold("source_id", Value::from(stored.source_id.as_str()), Value::eq);
    hold("dealer_code", Value::from(stored.dealer_code.as_str()), Value::eq);
    hold("category_id", Value::from(stored.category_id), |sent, is| {
        categories::sent_id(sent).is_some_and(|id| is.as_u64() == Some(id.into()))
    });
}

#[cfg(test)]
mod tests;
