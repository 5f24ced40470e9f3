//! New ads and changes of ads, by the form of their category.

use ad_core::{
    categories::{self, Category, TRAILER},
    fields::FieldErrors,
    model::{Ad, AdState, ApiVersion, Content},
    rulebook::versions::{AdRef, Conversion, VersionError, conversion},
    service::{Accepted, Access, Incoming, ServiceError, TaggedAd, Target, UsedBy, Validated},
    violation::Violation,
};
use maud::{Markup, html};
use poem::{Response, http::StatusCode};
use serde_json::{Map, Value};

use super::{
    act::{AdKey, SAVED},
    cure,
    form::{
        AdForm, CHOICE, CONFLICT, Difference, FormError, FormValues, REVISION, STORED, errors_of, label, named, warned,
    },
    named::{found, title_link},
    page::{self, NoticeKind, Section},
    plans, quality, show,
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::api::{ApiError, body::Payload};

/// Maximum size of a form: the encoded size of the longest text.
pub(super) const MOST_FORM_BYTES: usize = 2 * 1024 * 1024;

/// Name of the buttons.
const BUTTON: &str = "do";

/// What somebody wants to do with a form. The first button of the form, which the Enter key presses, checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Nothing is stored.
    Check,
    /// Fill in what the register has about the vehicle.
    LookUp,
    Save,
    /// Save, and go on to the page with the button that publishes.
    Publish,
}

impl Wanted {
    fn of(name: Option<&str>) -> Self {
        match name {
            Some("save") => Self::Save,
            Some("publish") => Self::Publish,
            Some("look-up") => Self::LookUp,
            _ => Self::Check,
        }
    }

    const fn stores(self) -> bool {
        matches!(self, Self::Save | Self::Publish)
    }
}

enum FormOutcome {
    /// The form was not checked.
    Unchecked,
    /// An ad as it would be stored.
    Valid(Box<Validated>),
    Refused(ApiError),
    /// Somebody else has changed the same fields, and for each one of the values is to be chosen.
    Conflict,
}

/// A form of an ad.
struct Editor {
    category: &'static Category,
    values: FormValues,
    /// The ad that is edited; `None` if it is new.
    edited: Option<Edited>,
    outcome: FormOutcome,
    wanted: Wanted,
    /// Paths of the values that were read from what somebody has written.
    understood: Vec<String>,
    /// Paths of the values that come from the vehicle register.
    registered: Vec<String>,
    conflicts: Vec<Difference>,
    /// Fields that somebody else has changed meanwhile, and whose new values the form has taken.
    taken: Vec<String>,
    /// The title of the ad of which a new one is a copy.
    copy_of: Option<String>,
    /// Small pictures of the photos of the ad that is edited or copied, by their addresses.
    thumbnails: Value,
    /// Why the ad that is edited is not live.
    failures: Option<Markup>,
}

struct Edited {
    source_id: String,
    title: String,
    dealer_code: String,
    revision: i64,
    is_visible: bool,
}

/// What a form sent, without its buttons and choices.
struct SentForm {
    values: FormValues,
    wanted: Wanted,
    /// Which of two values somebody has chosen, by the path of the field; `None`: none yet.
    choices: Vec<(String, Option<bool>)>,
}

/// The form of a new ad, or the choice of its type.
pub(super) async fn new(visit: Visit) -> PageResult {
    let Some(vehicle_type) = visit.parameter("type") else { return Ok(choice(&visit)) };
    let category = creatable(vehicle_type)?;
    match AdKey::of(&visit.query) {
        Some(_) => copied(&visit, category).await?,
        None => Editor::new(category, FormValues::default(), Wanted::Check),
    }
    .page(&visit)
    .await
}

/// The form of a new ad with what another ad has, but for its source id. A copy of an ad that still is there is about another vehicle.
async fn copied(visit: &Visit, category: &'static Category) -> Result<Editor, ApiError> {
    let (shown, of_ad) = read(visit).await?;
    if of_ad.id != category.id {
        return Err(ServiceError::NotFound.into());
    }
    let is_other = shown.ad.state != AdState::Deleted;
    let mut fields = shown.ad.content.fields().clone();
    fields.insert("dealer_code".to_owned(), shown.ad.dealer_code.clone().into());
    if let Some(Value::Object(of_vehicle)) = fields.get_mut("category_fields").filter(|_| is_other) {
        of_vehicle.retain(|name, _| !matches!(name.as_str(), "registration_number" | "vin"));
    }
    let copy_of = is_other.then(|| show::title(&shown.ad).to_owned());
    let thumbnails = thumbnails(visit, &shown.ad);
    let values = FormValues::of_ad(&fields, category, true);
    Ok(Editor { copy_of, thumbnails, ..Editor::new(category, values, Wanted::Check) })
}

/// Small pictures of the stored photos of an ad, by their addresses.
fn thumbnails(visit: &Visit, ad: &Ad) -> Value {
    let pictures = ad.image_refs.iter().map(|image| (image.url.clone(), show::rendition(visit, image, 320).into()));
    pictures.collect::<Map<_, _>>().into()
}

/// Checks a new ad, or creates it as a hidden draft.
pub(super) async fn create(mut visit: Visit) -> PageResult {
    let category = creatable(visit.parameter("type").unwrap_or_default())?;
    let SentForm { values, wanted, .. } = sent(&mut visit, category, true);
    let mut editor = Editor::new(category, values, wanted).with_model(&visit);
    if wanted == Wanted::LookUp {
        editor.look_up(&visit).await;
    }
    let mut payload = editor.values.payload(category);
    let proposed = propose_source_id(&mut payload);
    payload.insert("visible".to_owned(), false.into());
    editor.outcome = match editor.check_new(&visit, &mut payload, proposed.as_deref()).await {
        Ok(_) if wanted.stores() => match create_draft(&visit, category, payload).await {
            Ok(accepted) => return Ok(to_next(&visit, &accepted, wanted)),
            Err(error) => refused(error)?,
        },
        Ok(validated) => FormOutcome::Valid(Box::new(validated)),
        Err(error) => refused(error)?,
    };
    editor.page(&visit).await
}

async fn create_draft(
    visit: &Visit,
    category: &'static Category,
    payload: Map<String, Value>,
) -> Result<Accepted, ApiError> {
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let payload = Payload::of_form(payload, &context.limits, access).await?;
    let is_large = payload.is_large();
    let origin = visit.origin();
    let incoming = Incoming { id: visit.request_id, keep: None, origin: Some(&origin) };
    let create = context.service.create(access, incoming, category, payload.object);
    context.in_turn(access, None, is_large, create).await
}

/// How often the same vehicle is numbered.
const MOST_NUMBERED: u32 = 20;

/// Gives a payload without source id the plate, or else the VIN or the title, as one. Returns what was proposed.
pub(super) fn propose_source_id(payload: &mut Map<String, Value>) -> Option<String> {
    if payload.contains_key("source_id") {
        return None;
    }
    let of_category = |name: &str| payload.get("category_fields")?.get(name)?.as_str();
    let title = payload.get("title").and_then(Value::as_str);
    let text = of_category("registration_number").or_else(|| of_category("vin")).or(title)?;
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let joint = if title == Some(text) { "-" } else { "" };
    let proposed: String = words.collect::<Vec<_>>().join(joint).chars().take(60).collect();
    let proposed = if title == Some(text) { proposed.to_lowercase() } else { proposed.to_uppercase() };
    if proposed.is_empty() {
        return None;
    }
    payload.insert("source_id".to_owned(), proposed.clone().into());
    Some(proposed)
}

/// The outcome of what a use case refuses. Other errors have a page of their own.
fn refused(error: ApiError) -> Result<FormOutcome, ApiError> {
    match error {
        error @ ApiError::Service(_) => Ok(FormOutcome::Refused(error)),
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
    let (edited, thumbnails) = (Edited::of(&shown), thumbnails(&visit, &shown.ad));
    let report = visit.visitor.context.status_of(&visit.caller.scope, edited.target()).await?;
    let failures = cure::failures(&visit, &report);
    Editor { edited: Some(edited), thumbnails, failures, ..Editor::new(category, values, Wanted::Check) }
        .page(&visit)
        .await
}

/// Checks or saves what was changed in the form of an ad. What somebody else has changed meanwhile stays as it is now; where both have
/// changed the same field, one of the values is chosen.
pub(super) async fn save(mut visit: Visit) -> PageResult {
    let revision = visit.field(REVISION).and_then(|revision| revision.parse().ok());
    let revision: i64 = revision.ok_or_else(|| ApiError::BadBody(format!("The form has no \"{REVISION}\".")))?;
    let (shown, category) = read(&visit).await?;
    let SentForm { values, wanted, choices } = sent(&mut visit, category, false);
    let stored = shown.ad.content.fields();
    let edited = Edited::of(&shown);
    let mut editor = Editor::new(category, values, wanted).with_model(&visit);
    let base = if revision == shown.tag.revision { None } else { base(&visit, &edited, revision).await? };
    editor.merge(stored, base.as_ref().map(|ad| ad.content.fields()), revision == shown.tag.revision, choices);
    let mut patch = editor.values.patch(stored, category);
    editor.outcome = if wanted.stores() && !editor.conflicts.is_empty() {
        FormOutcome::Conflict
    } else if wanted.stores() && patch.is_empty() {
        return Ok(visit.visitor.redirect(&edited.next(wanted)));
    } else {
        match editor.check_changed(&visit, &edited, &mut patch).await {
            Ok(_) if wanted.stores() => match update(&visit, &edited, patch).await {
                Ok(accepted) => return Ok(to_next(&visit, &accepted, wanted)),
                Err(error) => refused(error)?,
            },
            Ok(validated) => FormOutcome::Valid(Box::new(validated)),
            Err(error) => refused(error)?,
        }
    };
    let thumbnails = thumbnails(&visit, &shown.ad);
    Editor { edited: Some(edited), thumbnails, ..editor }.page(&visit).await
}

/// The ad that the form showed; `None` if that is not known any more.
async fn base(visit: &Visit, edited: &Edited, revision: i64) -> Result<Option<Ad>, ApiError> {
    match visit.visitor.context.service.revision(&visit.caller.scope, edited.target(), revision).await {
        Ok(past) => Ok(Some(past.ad)),
        Err(ServiceError::NotRecorded(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes changes of the ad as it was read.
async fn update(visit: &Visit, edited: &Edited, patch: Map<String, Value>) -> Result<Accepted, ApiError> {
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let patch = Payload::of_form(patch, &context.limits, access).await?;
    let revisions = [edited.revision];
    let target = Target { revisions: Some(&revisions), ..edited.target() };
    let origin = visit.origin();
    let incoming = Incoming { id: visit.request_id, keep: None, origin: Some(&origin) };
    let update = context.service.update(access, incoming, ApiVersion::V4, target, &patch.object);
    context.in_turn(access, Some(&edited.source_id), patch.is_large(), update).await
}

/// The category of a vehicle type whose ads can be created.
pub(super) fn creatable(vehicle_type: &str) -> Result<&'static Category, ApiError> {
    let category = categories::by_vehicle_type(vehicle_type);
    let category =
        category.ok_or_else(|| ApiError::not_found(format!("There is no vehicle type \"{vehicle_type}\".")))?;
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

/// What a form sent.
fn sent(visit: &mut Visit, category: &'static Category, is_new: bool) -> SentForm {
    let wanted = Wanted::of(visit.field(BUTTON));
    let form = std::mem::take(&mut visit.form);
    let chosen = |path: &str| {
        let choice = form.iter().find(|(name, _)| name.strip_prefix(CHOICE) == Some(path));
        choice.map(|(_, value)| value == STORED)
    };
    let open = form.iter().filter(|(name, _)| name == CONFLICT);
    let choices = open.map(|(_, path)| (path.clone(), chosen(path))).collect();
    let is_field = |(name, _): &(String, String)| name != BUTTON && name != CONFLICT && !name.starts_with(CHOICE);
    let values = FormValues::sent(form.into_iter().filter(is_field), category, is_new);
    SentForm { values, wanted, choices }
}

/// Leads to the page of an ad, or on to its publication.
fn to_next(visit: &Visit, Accepted { ad, .. }: &Accepted, wanted: Wanted) -> Response {
    visit.visitor.redirect(&next(&ad.source_id, &ad.dealer_code, wanted))
}

fn next(source_id: &str, dealer_code: &str, wanted: Wanted) -> String {
    let key = AdKey::query(source_id, dealer_code);
    if wanted == Wanted::Publish { format!("/ad/publish?{key}") } else { format!("/ad?{key}&done={SAVED}") }
}

/// The choice of the type of a new ad.
fn choice(visit: &Visit) -> Response {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let types = categories::typed().filter(|(_, category)| category.id != TRAILER);
    let content = html! {
        div.heading { h1 { (texts.new_ad) } @if plans::is_there(visit) { a.button href=(visitor.address("/import")) { (texts.import) } } }
        p.lead { (texts.choose_type) }
        ul.choices {
            @for (vehicle_type, category) in types {
                li { a.button href=(visitor.address(&format!("/new?type={vehicle_type}"))) { (named(visitor.language, category.name)) } }
            }
        }
    };
    page::page(visit, Section::NewAd, texts.new_ad, &content)
}

impl Edited {
    fn of(TaggedAd { ad, tag, .. }: &TaggedAd) -> Self {
        Self {
            source_id: ad.source_id.clone(),
            title: show::title(ad).to_owned(),
            dealer_code: ad.dealer_code.clone(),
            revision: tag.revision,
            is_visible: ad.content.visible(),
        }
    }

    fn target(&self) -> Target<'_> {
        Target::from(&self.source_id).of_dealer(Some(&self.dealer_code))
    }

    fn next(&self, wanted: Wanted) -> String {
        next(&self.source_id, &self.dealer_code, wanted)
    }
}

impl Editor {
    fn new(category: &'static Category, values: FormValues, wanted: Wanted) -> Self {
        Self {
            category,
            values,
            edited: None,
            outcome: FormOutcome::Unchecked,
            wanted,
            understood: Vec::new(),
            registered: Vec::new(),
            conflicts: Vec::new(),
            taken: Vec::new(),
            copy_of: None,
            thumbnails: Value::Null,
            failures: None,
        }
    }

    /// Reads the model as people write it.
    fn with_model(mut self, visit: &Visit) -> Self {
        let catalogue = &visit.visitor.context.service.rulebook().catalogue;
        self.understood = self.values.read_model(catalogue, self.category);
        self
    }

    /// Fills empty fields with what the register has about the vehicle.
    async fn look_up(&mut self, visit: &Visit) {
        let content = Content::from(self.values.payload(self.category));
        if let Some(found) = visit.visitor.context.service.registered(self.category, &content).await {
            self.registered = self.values.fill(&found.category_fields, self.category);
        }
    }

    /// Checks a new ad, with what somebody certainly means by what the form says. A source id that was proposed and belongs to a deleted
    /// ad gets a number behind it.
    async fn check_new(
        &mut self,
        visit: &Visit,
        payload: &mut Map<String, Value>,
        proposed: Option<&str>,
    ) -> Result<Validated, ApiError> {
        let mut number = 1;
        loop {
            let checked = checked(visit, None, payload, |object| validate(visit, self.category, object)).await;
            match (checked, proposed) {
                (Err(ApiError::Service(ServiceError::Invalid(errors))), _)
                    if self.understands(payload, &errors, true) => {}
                (
                    Err(ApiError::Service(ServiceError::Duplicate { used_by: UsedBy::Deleted { .. }, .. })),
                    Some(proposed),
                ) if number < MOST_NUMBERED => {
                    number += 1;
                    payload.insert("source_id".to_owned(), format!("{proposed}-{number}").into());
                }
                (checked, _) => return checked,
            }
        }
    }

    /// The same for changes of an ad.
    async fn check_changed(
        &mut self,
        visit: &Visit,
        edited: &Edited,
        patch: &mut Map<String, Value>,
    ) -> Result<Validated, ApiError> {
        let (service, access) = (&visit.visitor.context.service, &visit.caller.scope);
        loop {
            let validate = |object: Map<String, Value>| async move {
                service.validate_update(access, ApiVersion::V4, edited.target(), &object).await
            };
            match checked(visit, Some(&edited.source_id), patch, validate).await {
                Err(ApiError::Service(ServiceError::Invalid(errors))) if self.understands(patch, &errors, false) => {}
                checked => return checked,
            }
        }
    }

    /// Whether the errors say what is meant by some of the values, which the payload and the form now have.
    fn understands(&mut self, payload: &mut Map<String, Value>, errors: &FieldErrors, is_new: bool) -> bool {
        let mut understood = self.values.understand(payload, errors, self.category, is_new);
        // What is still wrong when it is understood stays wrong.
        understood.retain(|path| !self.understood.contains(path));
        let some = !understood.is_empty();
        self.understood.append(&mut understood);
        some
    }

    /// Takes what somebody else has changed since the form was made, and finds what both have changed.
    fn merge(
        &mut self,
        stored: &Map<String, Value>,
        base: Option<&Map<String, Value>>,
        is_current: bool,
        choices: Vec<(String, Option<bool>)>,
    ) {
        let category = self.category;
        let (mut stays, mut open) = (Vec::new(), Vec::new());
        for (path, choice) in choices {
            match choice {
                Some(true) => self.values.take(stored, category, &[path]),
                Some(false) => stays.push(path),
                None => open.push(path),
            }
        }
        let own = self.values.differences(stored, category);
        let of_others: Vec<String> = match base {
            _ if is_current => open,
            Some(base) => {
                let theirs = FormValues::of_ad(stored, category, false).differences(base, category);
                let mine: Vec<_> = self.values.differences(base, category).into_iter().map(|it| it.path).collect();
                let (both, only_theirs): (Vec<_>, Vec<_>) =
                    theirs.into_iter().map(|it| it.path).partition(|path| mine.contains(path));
                self.values.take(stored, category, &only_theirs);
                self.taken = only_theirs;
                both
            }
            // Whatever differs may be of either.
            None => own.iter().map(|difference| difference.path.clone()).collect(),
        };
        let in_both =
            |difference: &Difference| of_others.contains(&difference.path) && !stays.contains(&difference.path);
        self.conflicts = own.into_iter().filter(in_both).collect();
    }

    async fn page(&self, visit: &Visit) -> PageResult {
        let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
        let access = &visit.caller.scope;
        let mut dealers = visitor.context.service.dealers(access).await?;
        if let Some(edited) = &self.edited {
            dealers.retain(|(dealer, _)| dealer.code == edited.dealer_code);
        }
        let currency = dealers.first().map(|(dealer, _)| dealer.currency.clone()).unwrap_or_default();
        let salespersons: Vec<_> = dealers.iter().flat_map(|(dealer, _)| dealer.salespersons.iter().cloned()).collect();
        let codes: Vec<_> = match access {
            Access::Group(_) => dealers.iter().map(|(dealer, _)| (dealer.code.clone(), dealer.name.clone())).collect(),
            Access::Dealer(_) | Access::Operator => Vec::new(),
        };
        let errors = self.errors(visit).await?;
        let upload = match &self.edited {
            Some(edited) => format!("/photos?{}", AdKey::query(&edited.source_id, &edited.dealer_code)),
            None => "/photos".to_owned(),
        };
        let form = AdForm {
            texts,
            language: visitor.language,
            category: self.category,
            catalogue: &visitor.context.service.rulebook().catalogue,
            values: &self.values,
            errors: &errors,
            understood: &self.understood,
            registered: &self.registered,
            conflicts: &self.conflicts,
            has_register: self.category.registered && visitor.context.service.has_registry(),
            upload: &visitor.address(&upload),
            thumbnails: &self.thumbnails,
            dealers: &codes,
            currency: &currency,
            salespersons: &salespersons,
            revision: self.edited.as_ref().map(|edited| edited.revision),
        };
        let (title, action) = if let Some(edited) = &self.edited {
            let key = AdKey::query(&edited.source_id, &edited.dealer_code);
            (format!("{}: {}", texts.edit, edited.title), format!("/ad/edit?{key}"))
        } else {
            let vehicle_type = self.category.vehicle_type.unwrap_or_default();
            let name = named(visitor.language, self.category.name);
            (format!("{}: {name}", texts.new_ad), format!("/new?type={vehicle_type}"))
        };
        let content = html! {
            div.heading { h1 { (title) } }
            @if let Some(copied) = &self.copy_of { p.lead { (texts.copy_of) " " strong { (copied) } } }
            @if let Some(failures) = &self.failures { (failures) }
            form.ad-form method="post" action=(visitor.address(&action)) novalidate data-check data-draft=(action)
                data-scope=(access.name()) data-sign-in=(visitor.address("/sign-in")) data-words=(texts.form_words()) {
                div { (form.inputs()) }
                aside.panel aria-label=(texts.assessment) {
                    div #assessment data-checked aria-live="polite" { (self.assessment(visit, &form)) }
                    @for conflict in &self.conflicts { input type="hidden" name=(CONFLICT) value=(conflict.path); }
                    (self.buttons(texts))
                }
            }
        };
        let section = if self.edited.is_some() { Section::Stock } else { Section::NewAd };
        Ok(page::page_with_status(visit, self.status(), section, &title, &content))
    }

    /// The buttons. The Enter key presses the first one of a form.
    fn buttons(&self, texts: &Texts) -> Markup {
        let is_visible = self.edited.as_ref().is_some_and(|edited| edited.is_visible);
        let save = if self.edited.is_some() { texts.save } else { texts.save_draft };
        html! {
            div.actions {
                button name=(BUTTON) value="check" { (texts.check) }
                button.primary[is_visible] name=(BUTTON) value="save" { (save) }
                @if !is_visible { button.primary name=(BUTTON) value="publish" { (texts.publish) "…" } }
            }
            @if self.edited.is_none() { p.help { (texts.draft_is_hidden) } }
        }
    }

    /// The status that the API would answer. A check succeeds, whatever it finds.
    fn status(&self) -> StatusCode {
        match &self.outcome {
            FormOutcome::Refused(error) if self.wanted.stores() => error.default_response().status(),
            FormOutcome::Conflict => StatusCode::CONFLICT,
            _ => StatusCode::OK,
        }
    }

    async fn errors(&self, visit: &Visit) -> Result<Vec<FormError>, ApiError> {
        let texts = visit.visitor.texts;
        let FormOutcome::Refused(error) = &self.outcome else { return Ok(Vec::new()) };
        Ok(match error {
            ApiError::Service(ServiceError::Invalid(errors)) => {
                errors_of(errors, self.category, visit.visitor.language)
            }
            ApiError::Service(ServiceError::Duplicate { source_id, dealer_code, .. }) => {
                let target = Target::from(source_id).of_dealer(Some(dealer_code));
                let found = found(visit.visitor.context.service.read_without_log(&visit.caller.scope, target).await)?;
                vec![FormError { ad: found.map(|used| title_link(&visit.visitor, &used.ad)), ..self.used(texts) }]
            }
            ApiError::Service(ServiceError::PreconditionFailed(_)) => vec![FormError::new("", texts.changed_meanwhile)],
            error => page::why(&visit.visitor, error).into_iter().map(|text| FormError::new("", text)).collect(),
        })
    }

    /// The error of a source id that another ad has: at the field that it was proposed from, unless it was written.
    fn used(&self, texts: &Texts) -> FormError {
        let sources = ["source_id", "category_fields.registration_number", "category_fields.vin", "title"];
        let mut sources = sources.map(|path| (path, self.values.text(path).trim())).into_iter();
        match sources.find(|(_, text)| !text.is_empty()) {
            Some((path, text)) if path != "source_id" => {
                FormError::new(path, format!("{text} {}", texts.is_there_already))
            }
            _ => FormError::new("source_id", texts.number_is_used),
        }
    }

    /// The result of a check.
    fn assessment(&self, visit: &Visit, form: &AdForm<'_>) -> Markup {
        let texts = visit.visitor.texts;
        let names =
            |paths: &[String]| paths.iter().map(|path| label(form.language, path)).collect::<Vec<_>>().join(", ");
        html! {
            @match &self.outcome {
                FormOutcome::Unchecked => { h2 { (texts.assessment) } p { (texts.not_checked) } },
                FormOutcome::Valid(validated) => {
                    h2 { (texts.can_be_saved) }
                    (quality::section(visit, &validated.quality))
                    @let warnings: Vec<_> = validated
                        .warnings
                        .iter()
                        .filter_map(|it| Some((label(form.language, &it.field), warned(it, form.language)?)))
                        .collect();
                    @if !warnings.is_empty() {
                        h3 { (texts.warnings) }
                        ul { @for (field, text) in &warnings { li { (field) ": " (text) } } }
                    }
                }
                FormOutcome::Refused(_) if self.wanted.stores() => {
                    @let errors = html! { h2 { (texts.not_saved) } (form.error_summary(|_| true)) };
                    (page::notice(NoticeKind::Error, &errors))
                }
                // Nobody has asked to save yet.
                FormOutcome::Refused(_) => {
                    @if form.errors.iter().any(|error| !error.is_missing) {
                        @let errors = html! { h2 { (texts.to_correct) } (form.error_summary(|error| !error.is_missing)) };
                        (page::notice(NoticeKind::Error, &errors))
                    }
                    @if form.errors.iter().any(|error| error.is_missing) {
                        h2 { (texts.still_missing) }
                        (form.error_summary(|error| error.is_missing))
                    }
                }
                FormOutcome::Conflict => {
                    @let paths: Vec<_> = self.conflicts.iter().map(|conflict| conflict.path.clone()).collect();
                    @let text = html! { h2 { (texts.not_saved) } p { (texts.choose_values) ": " (form.links(&paths)) "." } };
                    (page::notice(NoticeKind::Error, &text))
                }
            }
            @if !self.taken.is_empty() { p { (texts.changed_by_others) ": " (names(&self.taken)) "." } }
            @if !self.registered.is_empty() { p { (texts.filled_from_register) ": " (names(&self.registered)) "." } }
            @if self.wanted == Wanted::LookUp && self.registered.is_empty() { p { (texts.not_in_register) } }
        }
    }
}

/// Runs a check in a turn of the visitor's scope.
async fn checked<F: Future<Output = Result<Validated, ServiceError>> + Send>(
    visit: &Visit,
    changed: Option<&str>,
    object: &Map<String, Value>,
    check: impl FnOnce(Map<String, Value>) -> F,
) -> Result<Validated, ApiError> {
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let payload = Payload::of_form(object.clone(), &context.limits, access).await?;
    let is_large = payload.is_large();
    context.in_turn(access, changed, is_large, check(payload.object)).await
}
