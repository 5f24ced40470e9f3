//! New ads and changes of ads, by the form of their category.

use ad_core::{
    categories::{self, Category, TRAILER},
    fields::FieldErrors,
    model::{Ad, AdState, ApiVersion},
    rulebook::versions::{AdRef, Conversion, VersionError, conversion},
    service::{Accepted, Access, Incoming, ServiceError, TaggedAd, Target, Validated},
    violation::Violation,
};
use maud::{Markup, html};
use poem::{Response, http::StatusCode};
use serde_json::{Map, Value};

use super::{
    act::AdKey,
    form::{AdForm, Difference, FormValues, REVISION, label},
    page::{self, NoticeKind, Section},
    quality,
    visitor::{PageResult, Visit},
};
use crate::api::{ApiError, body::Payload};
use ad_server_access::auth::Permission;

/// Maximum size of a form: the encoded size of the longest text.
pub(super) const MOST_FORM_BYTES: usize = 2 * 1024 * 1024;

/// Name of the button, and of the value that checks without saving.
const BUTTON: &str = "do";
const CHECK: &str = "check";

enum FormOutcome {
    /// The form was not checked.
    Unchecked,
    /// An ad as it would be stored.
    Valid(Box<Validated>),
    /// The refusal, and the stored ad if it has changed meanwhile.
    Refused(ApiError, Vec<Difference>),
}

/// A form of an ad.
struct Editor {
    category: &'static Category,
    values: FormValues,
    /// The ad that is edited; `None` if it is new.
    edited: Option<Edited>,
    outcome: FormOutcome,
    only_checks: bool,
}

struct Edited {
    source_id: String,
    dealer_code: String,
    revision: i64,
}

/// The form of a new ad, or the choice of its type.
pub(super) async fn new(visit: Visit) -> PageResult {
    let Some(vehicle_type) = visit.parameter("type") else { return Ok(choice(&visit)) };
    let category = creatable(vehicle_type)?;
    Editor {
        category,
        values: FormValues::default(),
        edited: None,
        outcome: FormOutcome::Unchecked,
        only_checks: false,
    }
    .page(&visit)
    .await
}

/// Checks or creates a new ad.
pub(super) async fn create(mut visit: Visit) -> PageResult {
    let category = creatable(visit.parameter("type").unwrap_or_default())?;
    let (values, checks) = sent(&mut visit, category, true);
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let payload = Payload::of_form(values.payload(category), &context.limits, access).await?;
    let is_large = payload.is_large();
    let outcome = if checks {
        let check = validate(&visit, category, payload.object);
        context.in_turn(access, None, is_large, check).await.map(|it| FormOutcome::Valid(Box::new(it)))
    } else {
        let origin = visit.origin();
        let incoming = Incoming { id: visit.request_id, keep: None, origin: Some(&origin) };
        let create = context.service.create(access, incoming, category, payload.object);
        match context.in_turn(access, None, is_large, create).await {
            Ok(accepted) => return Ok(to_ad(&visit, &accepted)),
            Err(error) => Err(error),
        }
    };
    let outcome = outcome.or_else(|error| refused(error, Vec::new()))?;
    Editor { category, values, edited: None, outcome, only_checks: checks }.page(&visit).await
}

/// The outcome of what a use case refuses. Other errors have a page of their own.
fn refused(error: ApiError, differences: Vec<Difference>) -> Result<FormOutcome, ApiError> {
    match error {
        error @ ApiError::Service(_) => Ok(FormOutcome::Refused(error, differences)),
        error => Err(error),
    }
}

/// Checks a new ad. It needs a source id, without which the API checks ads too.
pub(super) async fn validate(
    visit: &Visit,
    category: &'static Category,
    payload: Map<String, Value>,
) -> Result<Validated, ServiceError> {
    let has_source_id = payload.contains_key("source_id");
    let checked = visit.visitor.context.service.validate(&visit.caller.scope, category, payload).await;
    if has_source_id {
        return checked;
    }
    let mut errors = match checked {
        Ok(_) => FieldErrors::default(),
        Err(ServiceError::Invalid(errors)) => errors,
        Err(error) => return Err(error),
    };
    errors.push("source_id", Violation::Required);
    Err(errors.into())
}

/// The form of an ad.
pub(super) async fn edit(visit: Visit) -> PageResult {
    let (shown, category) = read(&visit).await?;
    let values = FormValues::of_ad(shown.ad.content.fields(), category, false);
    let edited = Some(Edited::of(&shown));
    Editor { category, values, edited, outcome: FormOutcome::Unchecked, only_checks: false }.page(&visit).await
}

/// Checks or saves what was changed in the form of an ad.
pub(super) async fn save(mut visit: Visit) -> PageResult {
    let revision = visit.field(REVISION).and_then(|revision| revision.parse().ok());
    let revision: i64 = revision.ok_or_else(|| ApiError::BadBody(format!("The form has no \"{REVISION}\".")))?;
    let (shown, category) = read(&visit).await?;
    let (values, checks) = sent(&mut visit, category, false);
    let stored = shown.ad.content.fields();
    let patch = values.patch(stored, category);
    let edited = Edited::of(&shown);
    let is_current = revision == shown.tag.revision;
    if is_current && !checks && patch.is_empty() {
        return Ok(visit.visitor.redirect(&edited.address("/ad")));
    }
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let patch = Payload::of_form(patch, &context.limits, access).await?;
    let (revisions, changed, is_large) = ([revision], Some(&*edited.source_id), patch.is_large());
    let target = Target { revisions: Some(&revisions), ..edited.target() };
    let outcome = if !is_current {
        // The differences are applied to the stored ad, which may not be the one that the form showed.
        Err(ServiceError::PreconditionFailed(shown.tag).into())
    } else if checks {
        let check = context.service.validate_update(access, ApiVersion::V4, target, &patch.object);
        context.in_turn(access, changed, is_large, check).await.map(|it| FormOutcome::Valid(Box::new(it)))
    } else {
        let origin = visit.origin();
        let incoming = Incoming { id: visit.request_id, keep: None, origin: Some(&origin) };
        let update = context.service.update(access, incoming, ApiVersion::V4, target, &patch.object);
        match context.in_turn(access, changed, is_large, update).await {
            Ok(accepted) => return Ok(to_ad(&visit, &accepted)),
            Err(error) => Err(error),
        }
    };
    let outcome = outcome.or_else(|error| {
        let is_lost = matches!(error, ApiError::Service(ServiceError::PreconditionFailed(_)));
        refused(error, if is_lost { values.differences(stored, category) } else { Vec::new() })
    })?;
    Editor { category, values, edited: Some(edited), outcome, only_checks: checks }.page(&visit).await
}

/// The link to the form of an ad, if it has one that the visitor may use.
pub(super) fn link(visit: &Visit, ad: &Ad) -> Markup {
    let has_form = conversion(ad) != Conversion::Migration && ad.state == AdState::Created;
    let address = || visit.visitor.address(&format!("/ad/edit?{}", AdKey::query(&ad.source_id, &ad.dealer_code)));
    html! {
        @if has_form && visit.may(Permission::Write) { a.button.primary href=(address()) { (visit.visitor.texts.edit) } }
    }
}

/// The category of a vehicle type whose ads can be created.
pub(super) fn creatable(vehicle_type: &str) -> Result<&'static Category, ApiError> {
    let category = categories::by_vehicle_type(vehicle_type);
    let category =
        category.ok_or_else(|| ApiError::NotFound(format!("There is no vehicle type \"{vehicle_type}\".")))?;
    if category.id == TRAILER {
        return Err(ServiceError::from(VersionError::TrailerCreateDisabled).into());
    }
    Ok(category)
}

/// The ad of the query, whose category has a form.
async fn read(visit: &Visit) -> Result<(TaggedAd, &'static Category), ApiError> {
    let key = AdKey::of(&visit.query).ok_or(ServiceError::NotFound)?;
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let read = context.service.read_without_log(access, key.target());
    let shown = context.in_turn(access, None, false, Box::pin(read)).await?;
    let category = shown.ad.category().ok_or(ApiError::Internal)?;
    if conversion(&shown.ad) == Conversion::Migration {
        let ad = AdRef { source_id: shown.ad.source_id.clone(), category };
        return Err(ServiceError::from(VersionError::IncompatibleApiVersion(ad)).into());
    }
    Ok((shown, category))
}

/// The form data, and whether only a check was requested.
fn sent(visit: &mut Visit, category: &Category, is_new: bool) -> (FormValues, bool) {
    let checks = visit.field(BUTTON) == Some(CHECK);
    let pairs = std::mem::take(&mut visit.form).into_iter().filter(|(name, _)| name != BUTTON);
    (FormValues::sent(pairs, category, is_new), checks)
}

/// Leads to the page of an ad.
fn to_ad(visit: &Visit, Accepted { ad, .. }: &Accepted) -> Response {
    visit.visitor.redirect(&format!("/ad?{}", AdKey::query(&ad.source_id, &ad.dealer_code)))
}

/// The choice of the type of a new ad.
fn choice(visit: &Visit) -> Response {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let types = categories::typed().filter(|(_, category)| category.id != TRAILER);
    let content = html! {
        div.heading { h1 { (texts.new_ad) } a.button href=(visitor.address("/paste")) { (texts.paste) } }
        p.lead { (texts.choose_type) }
        ul.choices {
            @for (vehicle_type, category) in types {
                li { a.button href=(visitor.address(&format!("/new?type={vehicle_type}"))) { (category.name) } }
            }
        }
    };
    page::page(visit, Section::NewAd, texts.new_ad, &content)
}

impl Edited {
    fn of(TaggedAd { ad, tag, .. }: &TaggedAd) -> Self {
        Self { source_id: ad.source_id.clone(), dealer_code: ad.dealer_code.clone(), revision: tag.revision }
    }

    fn target(&self) -> Target<'_> {
        Target::from(&self.source_id).of_dealer(Some(&self.dealer_code))
    }

    fn address(&self, path: &str) -> String {
        format!("{path}?{}", AdKey::query(&self.source_id, &self.dealer_code))
    }
}

impl Editor {
    async fn page(&self, visit: &Visit) -> PageResult {
        let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
        let access = &visit.caller.scope;
        let mut dealers = visitor.context.service.dealers(access).await?;
        if let Some(edited) = &self.edited {
            dealers.retain(|(dealer, _)| dealer.code == edited.dealer_code);
        }
        let salespersons: Vec<_> = dealers.iter().flat_map(|(dealer, _)| dealer.salespersons.iter().cloned()).collect();
        let codes: Vec<_> = match access {
            Access::Group(_) => dealers.iter().map(|(dealer, _)| dealer.code.clone()).collect(),
            Access::Dealer(_) | Access::Operator => Vec::new(),
        };
        let errors = self.errors();
        let form = AdForm {
            texts,
            language: visitor.language,
            category: self.category,
            catalogue: &visitor.context.service.rulebook().catalogue,
            values: &self.values,
            errors: &errors,
            dealers: &codes,
            salespersons: &salespersons,
            revision: self.edited.as_ref().map(|edited| edited.revision),
        };
        let (title, action) = if let Some(edited) = &self.edited {
            (format!("{} {}", texts.edit, edited.source_id), edited.address("/ad/edit"))
        } else {
            let vehicle_type = self.category.vehicle_type.unwrap_or_default();
            (format!("{}: {}", texts.new_ad, self.category.name), format!("/new?type={vehicle_type}"))
        };
        let content = html! {
            div.heading { h1 { (title) } }
            form.ad-form method="post" action=(visitor.address(&action)) novalidate data-check {
                div { (form.inputs()) }
                aside.panel aria-label=(texts.assessment) {
                    div #assessment data-checked aria-live="polite" { (self.assessment(visit, &form)) }
                    div.actions {
                        button.primary name=(BUTTON) value="save" {
                            @if self.edited.is_some() { (texts.save) } @else { (texts.create) }
                        }
                        button name=(BUTTON) value=(CHECK) { (texts.check) }
                    }
                }
            }
        };
        let section = if self.edited.is_some() { Section::Stock } else { Section::NewAd };
        Ok(page::page_with_status(visit, self.status(), section, &title, &content))
    }

    /// The status that the API would answer. A check succeeds, whatever it finds.
    fn status(&self) -> StatusCode {
        match &self.outcome {
            FormOutcome::Refused(error, _) if !self.only_checks => error.default_response().status(),
            _ => StatusCode::OK,
        }
    }

    /// The texts of the errors, by the paths of their fields.
    fn errors(&self) -> Vec<(String, String)> {
        let of_form = |text: &str| (String::new(), text.to_owned());
        let FormOutcome::Refused(error, _) = &self.outcome else { return Vec::new() };
        match error {
            ApiError::Service(ServiceError::Invalid(errors)) => {
                errors.flatten().into_iter().map(|(path, text)| (path, text.into_owned())).collect()
            }
            ApiError::Service(ServiceError::Duplicate { .. }) => vec![("source_id".to_owned(), error.detail())],
            error => page::reasons(error).iter().map(|text| of_form(text)).collect(),
        }
    }

    /// The result of a check.
    fn assessment(&self, visit: &Visit, form: &AdForm<'_>) -> Markup {
        let texts = visit.visitor.texts;
        match &self.outcome {
            FormOutcome::Unchecked => html! { h2 { (texts.assessment) } p { (texts.not_checked) } },
            FormOutcome::Valid(validated) => html! {
                h2 { (texts.can_be_saved) }
                (quality::section(visit, &validated.quality))
                @if !validated.warnings.is_empty() {
                    h3 { (texts.warnings) }
                    ul { @for warning in &validated.warnings { li { code { (warning.field) } ": " (warning.message) } } }
                }
            },
            FormOutcome::Refused(_, differences) => {
                let errors = html! { h2 { (texts.not_saved) } (form.error_summary()) };
                html! {
                    (page::notice(NoticeKind::Error, &errors))
                    @if !differences.is_empty() {
                        h3 { (texts.stored_now) }
                        dl {
                            @for Difference { path, stored, .. } in differences {
                                dt { (label(form.language, path)) }
                                dd { @match stored { Some(value) => code { (value) }, None => "–" } }
                            }
                        }
                        p { (texts.save_overwrites) }
                    }
                }
            }
        }
    }
}
