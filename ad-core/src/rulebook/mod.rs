//! The check of payloads by tables, rules, catalogue and the operator's settings. The result is normalised content or all errors.

mod derived;
mod example;
mod hints;
mod meant;
pub mod merge;
pub mod payload;
pub mod repeated;
pub mod size;
pub mod title;
pub mod versions;
mod warnings;

use serde_json::{Map, Value};

use hints::Hints;

use crate::{
    catalogue::Catalogue,
    categories::{self, AdFacts, Category, Facts, RuleSettings, ad_fields, rules},
    fields::{CategoryTable, Check, FieldErrors, Mode},
    model::{Ad, AdState, ApiVersion, Content, Dealer, get},
    rulebook::merge::merge,
    violation::{Choices, Code, Violation},
};

pub(crate) use derived::locked_newness;
pub use example::example_text;
pub use meant::cured;

pub use crate::violation::Warning;

/// Checks and normalises payloads by the tables of the categories.
#[derive(Debug)]
pub struct Rulebook {
    /// The lists of allowed values.
    pub catalogue: Catalogue,
    /// What the operator has set for rules.
    pub settings: RuleSettings,
}

impl Default for Rulebook {
    fn default() -> Self {
        Self { catalogue: Catalogue::embedded(), settings: RuleSettings::default() }
    }
}

/// The result of checking a valid payload.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPayload {
    /// The client's reference; empty if none was sent and none is required.
    pub source_id: String,
    /// The normalised content, with derived fields and generated title.
    pub content: Content,
    /// Warnings about what is allowed but probably a mistake.
    pub warnings: Vec<Warning>,
}

/// Whether the payload of a new ad must have a `source_id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceId {
    /// The payload must have one: a create.
    Required,
    /// The payload may lack one: a validation.
    Optional,
}

/// Where a payload is sent and by whom.
#[derive(Debug, Clone, Copy)]
pub struct WriteContext<'a> {
    /// The category of the ad.
    pub category: &'static Category,
    /// The API version of the path.
    pub version: ApiVersion,
    /// The dealer; `None` if it is unknown or an error itself, and rules that need it are not checked.
    pub dealer: Option<&'a Dealer>,
}

impl Rulebook {
    /// Checks the payload of a create.
    ///
    /// # Errors
    /// All errors of the payload, by field.
    pub fn create(
        &self,
        write: WriteContext<'_>,
        payload: Map<String, Value>,
        source_id: SourceId,
    ) -> Result<CheckedPayload, FieldErrors> {
        self.complete(write, Mode::Create, payload, source_id)
    }

    /// Checks an ad of another system for import: as a create, without the rules that apply only to new ads.
    ///
    /// # Errors
    /// All errors of the ad, by field.
    pub fn import(&self, write: WriteContext<'_>, ad: Map<String, Value>) -> Result<CheckedPayload, FieldErrors> {
        self.complete(write, Mode::Whole, ad, SourceId::Required)
    }

    fn complete(
        &self,
        write: WriteContext<'_>,
        mode: Mode,
        mut payload: Map<String, Value>,
        source_id: SourceId,
    ) -> Result<CheckedPayload, FieldErrors> {
        let mut check = self.check(write.version, mode, category_table(write.category));
        let mut errors = check.object(&ad_fields::CREATE, &mut payload);
        if source_id == SourceId::Optional && !payload.contains_key("source_id") {
            errors.remove_member("source_id");
        }
        if !errors.is_empty() {
            Hints::new(self, write.version, mode, Some(write.category), &payload).add(&mut errors);
        }
        // The fields that identify the ad are not part of its content.
        let [sent_source_id, _, category_id] =
            ["source_id", "dealer_code", "category_id"].map(|name| payload.remove(name));
        let id = write.category.id;
        if let Some(sent) = category_id.as_ref().and_then(Value::as_u64)
            && sent != u64::from(id)
        {
            let advice = u16::try_from(sent).ok().map(|sent| payload::of_another_path(write.category, sent));
            let (note, request) = advice.map_or((None, None), |(note, request)| (Some(note), request));
            let (sent, choices) = (format!("\"{sent}\""), Choices::Omitted);
            errors.push("category_id", Violation::NotAChoice { sent, choices, note, request });
        }
        let mut checked = self.finish(write, mode, &check, payload, WriteBasis::default(), errors)?;
        if let Some(Value::String(source_id)) = sent_source_id {
            checked.warnings.extend(warnings::spaces(&source_id));
            checked.source_id = source_id;
        }
        Ok(checked)
    }

    /// The errors of the payload of a create whose category is an error itself: all that do not depend on the category.
    pub fn without_category(
        &self,
        version: ApiVersion,
        mut payload: Map<String, Value>,
        source_id: SourceId,
    ) -> FieldErrors {
        let mut errors =
            self.check(version, Mode::Create, CategoryTable::Unknown).object(&ad_fields::CREATE, &mut payload);
        if source_id == SourceId::Optional && !payload.contains_key("source_id") {
            errors.remove_member("source_id");
        }
        Hints::new(self, version, Mode::Create, None, &payload).add(&mut errors);
        errors
    }

    /// Checks an update: merges the patch into the stored content, and checks the result as a whole.
    ///
    /// # Errors
    /// All errors of the patch and of the merged ad, by field.
    pub fn update(
        &self,
        write: WriteContext<'_>,
        stored: &Ad,
        mut patch: Map<String, Value>,
    ) -> Result<CheckedPayload, FieldErrors> {
        let mut fixed = FieldErrors::default();
        unchanged(stored, &mut patch, &mut fixed);
        let before = stored.content.fields();
        let dropped = warnings::dropped_prices(before, &patch);
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
        let mut checked = self.revised(write, Mode::Update, stored, &patched, merged, fixed)?;
        checked.warnings.extend(dropped);
        Ok(checked)
    }

    /// Checks a migration: the payload replaces the stored content, except for the images if it has none ('Endpoints' rule 7,
    /// decision 28).
    ///
    /// # Errors
    /// All errors of the payload, by field.
    pub fn migrate(
        &self,
        write: WriteContext<'_>,
        stored: &Ad,
        mut payload: Map<String, Value>,
    ) -> Result<CheckedPayload, FieldErrors> {
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
        write: WriteContext<'_>,
        mode: Mode,
        stored: &Ad,
        patched: &[&'static str],
        mut ad: Map<String, Value>,
        fixed: FieldErrors,
    ) -> Result<CheckedPayload, FieldErrors> {
        let mut check = self.check(write.version, mode, category_table(write.category));
        let mut errors = check.object(&ad_fields::UPDATE, &mut ad);
        errors.absorb(fixed);
        let before = WriteBasis { content: Some(&stored.content), patched };
        let mut checked = self.finish(write, mode, &check, ad, before, errors)?;
        checked.source_id.clone_from(&stored.source_id);
        Ok(checked)
    }

    /// The schemes that the addresses of images may have.
    pub fn image_schemes(&self) -> &'static [&'static str] {
        if self.settings.http_images { &["https", "http"] } else { &["https"] }
    }

    fn check<'a>(&'a self, version: ApiVersion, mode: Mode, category: CategoryTable<'a>) -> Check<'a> {
        Check::new(&self.catalogue, version, mode, category).with_image_schemes(self.image_schemes())
    }

    /// The steps after the check of the tables: derived fields, rules, and the result.
    fn finish(
        &self,
        write: WriteContext<'_>,
        mode: Mode,
        check: &Check<'_>,
        mut ad: Map<String, Value>,
        before: WriteBasis<'_>,
        mut errors: FieldErrors,
    ) -> Result<CheckedPayload, FieldErrors> {
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
        // Missing category fields are one error, which the check of the table reports.
        let of_the_category = if facts.ad.category_fields.is_some() { write.category.rules } else { &[] };
        for rule in ad_fields::RULES.iter().chain(of_the_category).copied().flatten() {
            (rule.check)(&facts, &mut errors);
        }
        if !errors.is_empty() {
            Hints::new(self, write.version, mode, Some(write.category), &ad).add(&mut errors);
            return Err(errors);
        }
        let warnings = warnings::of(&facts);
        let cleared_mileage = rules::cleared_mileage(&facts);
        if !facts.ad.has_title
            && let Some(title) = derived::generated_title(&self.catalogue, write.category, &facts.ad.fields)
        {
            ad.insert("title".to_owned(), Value::from(title));
        }
        size::check(&ad, before.content)?;
        let content = Content::from(ad).with_cleared_mileage(cleared_mileage);
        Ok(CheckedPayload { source_id: String::new(), content, warnings })
    }
}

/// What a write is based on.
#[derive(Debug, Clone, Copy, Default)]
struct WriteBasis<'a> {
    /// The stored content; `None` for a new ad.
    content: Option<&'a Content>,
    /// The fields of [`rules::OF_THE_DIRECTORY`] that the patch has.
    patched: &'a [&'static str],
}

/// The table by which the `category_fields` of a category are checked.
fn category_table(category: &Category) -> CategoryTable<'_> {
    if category.is_open() { CategoryTable::Open } else { CategoryTable::Known(category.tree()) }
}

/// Reports changes of fields that an update cannot change (decisions 3, 11 and 12), and removes these fields from the patch.
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
    if let Some(sent) = patch.get("state").filter(|sent| !sent.is_null() && sent.as_str() != Some(stored.state.name()))
    {
        let instead = match (sent.as_str().and_then(AdState::from_name), stored.state) {
            (Some(AdState::Deleted), _) => None,
            (_, AdState::Deleted) => Some("Any update without it revives the ad."),
            _ => Some("Only the service sets it."),
        };
        let text = format!("Cannot be set (it is \"{}\").", stored.state);
        let wrong = Violation::stated(Code::NotAllowed, text).with_note(instead.map(str::to_owned));
        let is_deleted = stored.state == AdState::Deleted;
        errors.push("state", if is_deleted { wrong } else { wrong.with_request("To delete the ad, send DELETE.") });
    }
}

#[cfg(test)]
mod tests;
