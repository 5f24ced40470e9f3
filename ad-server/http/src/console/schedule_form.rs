//! The form of a schedule. A seller first sees what the next run would do and cost, and then saves.

use std::{collections::BTreeMap, sync::Arc};

use ad_core::{
    categories,
    fields::FieldErrors,
    model::{AdFilter, AdQuery, AdStatus, Dealer, Page, Promotion, PromotionKind, PromotionPreview, Weekday, plate},
    service::{PromotionError, ServiceError, Target},
    violation::{Code, Violation},
};
use maud::{Markup, html};
use poem::http::StatusCode;
use serde_json::{Map, Number, Value, json};

use super::{
    account::kind_of,
    form::named as named_value,
    named::{self, NamedAds},
    page::{self, Section},
    schedule_words::{ORDERS, Selection, summary, weekday},
    schedules::{self, api, id},
    texts::Texts,
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;

/// Ads that a run of a new schedule promotes at most, unless the seller says otherwise.
const MOST_PER_RUN: &str = "5";

/// The name of the field for a schedule of one ad.
const ONE_AD: &str = "one_ad";

/// The fields of the form as texts.
#[derive(Debug, Clone, Default)]
struct Fields {
    dealer_code: String,
    kind: String,
    selection: Selection,
    min_age_days: String,
    order: String,
    most_per_run: String,
    /// Names of the days; none: every day.
    weekdays: Vec<String>,
    at: String,
    until: String,
    budget: String,
    /// Whether the selection is one that the form has no fields for, and stays as it is.
    keeps_selection: bool,
}

impl Fields {
    /// Those of a new schedule, for the ad that the address names if it names one.
    fn new(visit: &Visit) -> Self {
        let given = |name: &str| visit.parameter(name).unwrap_or_default().to_owned();
        Self {
            dealer_code: given("dealer_code"),
            kind: PromotionKind::Bump.name().to_owned(),
            selection: Selection {
                status: AdStatus::Live.name().to_owned(),
                source_id: given("source_id"),
                ..Selection::default()
            },
            order: "updated".to_owned(),
            most_per_run: MOST_PER_RUN.to_owned(),
            at: "08:00".to_owned(),
            ..Self::default()
        }
    }

    fn of(schedule: &Promotion) -> Self {
        let rules = &schedule.rules;
        let selection = Selection::of(&rules.select);
        let text = |value: Option<String>| value.unwrap_or_default();
        Self {
            dealer_code: schedule.dealer_code.clone(),
            kind: rules.kind.name().to_owned(),
            keeps_selection: selection.is_none(),
            selection: selection.unwrap_or_default(),
            min_age_days: text(rules.min_age_days.map(|days| days.to_string())),
            order: rules.order.to_string(),
            most_per_run: rules.most_per_run.to_string(),
            weekdays: rules.weekdays.iter().flatten().map(|day| day.name().to_owned()).collect(),
            at: rules.at.to_string(),
            until: text(rules.until.map(|day| day.to_string())),
            budget: text(rules.budget.map(|budget| budget.to_string())),
        }
    }

    fn sent(visit: &Visit, keeps_selection: bool) -> Self {
        let field = |name: &str| visit.field(name).map(str::trim).unwrap_or_default().to_owned();
        let days = visit.form.iter().filter(|(name, _)| name == "weekday").map(|(_, day)| day.clone());
        Self {
            dealer_code: field("dealer_code"),
            kind: field("kind"),
            selection: Selection { status: field("status"), category: field("category"), source_id: field(ONE_AD) },
            min_age_days: field("min_age_days"),
            order: field("order"),
            most_per_run: field("most_per_run"),
            weekdays: days.collect(),
            at: field("at").chars().take(5).collect(),
            until: field("until"),
            budget: field("budget"),
            keeps_selection,
        }
    }

    /// The same as the API takes it.
    fn body(&self, is_new: bool) -> Map<String, Value> {
        let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
        // What is no number goes on as a text, and is refused as one.
        let whole = |given: &str| given.parse::<u32>().map_or_else(|_| text(given), Value::from);
        let budget = super::account::amount(&self.budget).and_then(|amount| amount.to_string().parse::<Number>().ok());
        let days = if self.weekdays.is_empty() { Value::Null } else { json!(self.weekdays) };
        let mut body = Map::from_iter([
            ("kind".to_owned(), text(&self.kind)),
            ("order".to_owned(), text(&self.order)),
            ("most_per_run".to_owned(), whole(&self.most_per_run)),
            ("min_age_days".to_owned(), whole(&self.min_age_days)),
            ("weekdays".to_owned(), days),
            ("at".to_owned(), text(&self.at)),
            ("until".to_owned(), text(&self.until)),
            ("budget".to_owned(), budget.map_or_else(|| text(&self.budget), Value::Number)),
        ]);
        if !self.keeps_selection {
            body.insert("select".to_owned(), self.selection.select().into());
        }
        if is_new && !self.dealer_code.is_empty() {
            body.insert("dealer_code".to_owned(), self.dealer_code.as_str().into());
        }
        body
    }
}

/// What the form is shown with, besides its fields.
enum Beside {
    Nothing,
    Preview(Box<Promotion>, PromotionPreview, NamedAds),
    Problem(ApiError),
}

/// `GET /console/schedule/edit`: the form of a new schedule or, with `id`, of one that there is.
pub(super) async fn edit(visit: Visit) -> PageResult {
    let fields = match current(&visit).await? {
        Some(schedule) => Fields::of(&schedule),
        None => Fields::new(&visit),
    };
    Ok(show(&visit, &fields, &Beside::Nothing))
}

async fn current(visit: &Visit) -> Result<Option<Promotion>, ApiError> {
    match id(visit) {
        Some(id) => Ok(Some(api(visit)?.promotions.promotion(&visit.caller.scope, id).await?)),
        None => Ok(None),
    }
}

/// `POST /console/schedule/edit`: shows what the next run would do, or saves.
pub(super) async fn save(visit: Visit) -> PageResult {
    let (api, scope, origin) = (api(&visit)?, &visit.caller.scope, visit.origin());
    let current = current(&visit).await?;
    let keeps_selection = current.as_ref().is_some_and(|it| Selection::of(&it.rules.select).is_none());
    let mut fields = Fields::sent(&visit, keeps_selection);
    let dealer_code = current.as_ref().map_or_else(|| fields.dealer_code.clone(), |it| it.dealer_code.clone());
    if !resolve(&visit, &dealer_code, &mut fields.selection).await? {
        let mut errors = FieldErrors::default();
        errors.push(ONE_AD, Violation::stated(Code::NotFound, "There is no such ad."));
        return refused(&visit, &fields, ServiceError::Invalid(errors).into());
    }
    let id = current.as_ref().map(|schedule| schedule.id);
    let body = fields.body(id.is_none());
    if visit.field("do") == Some("save") {
        let saved = match id {
            Some(id) => api.promotions.change(scope, id, &body, &origin).await,
            None => api.promotions.create(scope, &body, &origin).await,
        };
        return match saved {
            Ok(schedule) => {
                api.due.notify_one();
                Ok(visit.visitor.redirect(&format!("/schedule?id={}&done=saved", schedule.id)))
            }
            Err(error) => refused(&visit, &fields, error),
        };
    }
    match api.promotions.preview_of(scope, id, &body, &origin).await {
        Ok((schedule, preview)) => {
            let names = schedules::names_of_preview(&visit, &schedule.dealer_code, &preview).await?;
            Ok(show(&visit, &fields, &Beside::Preview(Box::new(schedule), preview, names)))
        }
        Err(error) => refused(&visit, &fields, error),
    }
}

/// A plate stands for the ad that has it. Whether there is the ad that is selected, if one is.
async fn resolve(visit: &Visit, dealer_code: &str, selection: &mut Selection) -> Result<bool, ApiError> {
    if selection.source_id.is_empty() {
        return Ok(true);
    }
    let (service, scope) = (&visit.visitor.context.service, &visit.caller.scope);
    let dealer_code = (!dealer_code.is_empty()).then_some(dealer_code);
    let of_dealer = dealer_code.map(|code| AdFilter::DealerCode(code.to_owned()));
    let of_plate = AdFilter::RegistrationNumber(plate(&selection.source_id));
    let query = AdQuery {
        filters: of_dealer.into_iter().chain([of_plate]).collect(),
        page: Page { limit: 1, offset: 0 },
        ..AdQuery::default()
    };
    if let Some(listed) = service.list(scope, None, query).await?.rows.into_iter().next() {
        selection.source_id = listed.ad.source_id;
        return Ok(true);
    }
    let target = Target::from(&selection.source_id).of_dealer(dealer_code);
    Ok(named::found(service.read_without_log(scope, target).await)?.is_some())
}

/// The form again, with what is wrong. What a seller cannot correct is an error of its own.
fn refused(visit: &Visit, fields: &Fields, error: PromotionError) -> PageResult {
    match error {
        PromotionError::Service(ServiceError::Invalid(_)) | PromotionError::TooMany { .. } => {
            Ok(show(visit, fields, &Beside::Problem(error.into())))
        }
        other => Err(other.into()),
    }
}

/// What is wrong with the fields: one line for each, by its name.
struct Wrong(BTreeMap<String, &'static str>);

impl Wrong {
    fn of(visit: &Visit, beside: &Beside) -> Self {
        let Beside::Problem(error) = beside else { return Self(BTreeMap::new()) };
        let errors = error.fields().map(|(fields, _): (&FieldErrors, _)| fields.violations()).unwrap_or_default();
        let name = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
        let said = |path: &str, code| {
            let (english, swedish) = what_to_write(&name(path), code);
            visit.visitor.language.pick(english, swedish)
        };
        Self(errors.into_iter().map(|(path, wrong)| (name(&path), said(&path, wrong.code()))).collect())
    }

    /// Whether a field is wrong, for its input.
    fn is(&self, name: &str) -> Option<&'static str> {
        self.0.contains_key(name).then_some("true")
    }

    /// The line at a field. The list above the form has announced it.
    fn at(&self, name: &str) -> Markup {
        html! { @if let Some(text) = self.0.get(name) { p.field-error #{ "error-" (name) } { (text) } } }
    }

    /// The ids of what describes a field.
    fn describing(&self, name: &str, help: &str) -> Option<String> {
        let error = self.0.contains_key(name).then(|| format!("error-{name}"));
        let ids: Vec<_> = error.into_iter().chain((!help.is_empty()).then(|| help.to_owned())).collect();
        (!ids.is_empty()).then(|| ids.join(" "))
    }
}

/// What to write into a field that is wrong, in English and Swedish.
fn what_to_write(name: &str, code: Option<Code>) -> (&'static str, &'static str) {
    match (name, code) {
        ("at", _) => ("Write a time, such as 08:00.", "Skriv ett klockslag, till exempel 08:00."),
        ("most_per_run", _) => ("Write a whole number from 1 to 500.", "Skriv ett helt tal från 1 till 500."),
        ("min_age_days", _) => ("Write a whole number from 1 to 3650.", "Skriv ett helt tal från 1 till 3650."),
        ("weekdays", _) => ("Choose days, or none for every day.", "Välj dagar, eller ingen för alla dagar."),
        ("until", Some(Code::OutOfRange)) => {
            ("This day is over. Choose today or a later day.", "Dagen är redan förbi. Välj i dag eller en senare dag.")
        }
        ("until", _) => ("Choose a day of the calendar.", "Välj en dag i kalendern."),
        ("budget", _) => (
            "Write an amount with at most two decimals, such as 1500.",
            "Skriv ett belopp med högst två decimaler, till exempel 1500.",
        ),
        (ONE_AD, _) => ("No ad has this plate or number.", "Ingen annons har det registreringsnumret eller numret."),
        ("dealer_code", _) => ("Choose a dealer.", "Välj en handlare."),
        ("kind" | "order", _) => ("Choose something of the list.", "Välj något i listan."),
        ("select", Some(Code::Required)) => ("Choose for which ads it is.", "Välj vilka annonser det gäller."),
        _ => ("Ads cannot be chosen so. Change the choice.", "Annonserna går inte att välja så. Ändra valet."),
    }
}

/// What is wrong, above the form, with links to the fields. It has the focus, so that the page shows it. What is wrong with no field: there
/// are as many schedules as a dealer may have.
fn problems(visit: &Visit, wrong: &Wrong) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        div.notice.error role="alert" tabindex="-1" autofocus {
            @if wrong.0.is_empty() { p { (texts.too_many_schedules) } }
            @else {
                h2 { (texts.to_correct) }
                ul { @for (name, text) in &wrong.0 { li { a href={ "#" (name) } { (field_name(texts, name)) } ": " (text) } } }
            }
        }
    }
}

/// The label of a field.
fn field_name<'a>(texts: &Texts, name: &'a str) -> &'a str {
    match name {
        "at" => texts.time_of_day,
        "most_per_run" => texts.most_per_run,
        "min_age_days" => texts.min_age,
        "weekdays" => texts.weekdays,
        "until" => texts.last_day,
        "budget" => texts.budget_of_month,
        "dealer_code" => texts.dealer,
        "kind" => texts.what,
        "order" => texts.order,
        "select" => texts.which_ads,
        ONE_AD => texts.only_one_ad,
        other => other,
    }
}

fn show(visit: &Visit, fields: &Fields, beside: &Beside) -> poem::Response {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let id = id(visit);
    let title = if id.is_some() { texts.change_schedule } else { texts.new_schedule };
    let wrong = Wrong::of(visit, beside);
    let path = id.map_or_else(|| "/schedule/edit".to_owned(), |id| format!("/schedule/edit?id={id}"));
    let status = match beside {
        Beside::Problem(error) => error.default_response().status(),
        Beside::Nothing | Beside::Preview(..) => StatusCode::OK,
    };
    let content = html! {
        p.crumbs { a href=(visitor.address("/schedules")) { (texts.schedules) } }
        h1 { (title) }
        form method="post" action=(visitor.address(&path)) {
            @match beside {
                Beside::Nothing => {},
                Beside::Problem(_) => (problems(visit, &wrong)),
                Beside::Preview(schedule, preview, names) => {
                    p.lead { (summary(visit, schedule)) }
                    (schedules::previewed(visit, schedule, preview, names))
                    div.actions.save {
                        button.primary name="do" value="save" { (if id.is_some() { texts.save } else { texts.start_schedule }) }
                        a.button href=(visitor.address("/schedules")) { (texts.back) }
                    }
                }
            }
            div.panel { (inputs(visit, fields, &wrong, id.is_none())) }
            div.actions { button.primary[matches!(beside, Beside::Nothing | Beside::Problem(_))] name="do" value="check" { (texts.show_cost) } }
        }
    };
    page::question_with_status(visit, status, Section::Schedules, title, &content)
}

fn inputs(visit: &Visit, fields: &Fields, wrong: &Wrong, is_new: bool) -> Markup {
    let texts = visit.visitor.texts;
    html! {
        @if is_new && named::is_group(visit) { (dealers(visit, fields, wrong)) }
        fieldset.choice #kind tabindex="-1" {
            legend { (texts.what) }
            @for kind in [PromotionKind::Bump, PromotionKind::PolePosition] {
                label.choice { input type="radio" name="kind" value=(kind.name()) checked[fields.kind == kind.name()]; (kind_of(visit, kind)) }
            }
            (wrong.at("kind"))
        }
        (which(visit, fields, wrong))
        div.fields {
            div.field {
                label for="most_per_run" { (texts.most_per_run) }
                input #most_per_run type="number" name="most_per_run" min="1" max="500" required value=(fields.most_per_run)
                    aria-invalid=[wrong.is("most_per_run")] aria-describedby=[wrong.describing("most_per_run", "")];
                (wrong.at("most_per_run"))
            }
            div.field {
                label for="order" { (texts.order) }
                select #order name="order" aria-invalid=[wrong.is("order")] aria-describedby=[wrong.describing("order", "")] {
                    @for (order, text) in ORDERS { option value=(order) selected[fields.order == order] { (text(texts)) } }
                }
                (wrong.at("order"))
            }
        }
        fieldset.choice #weekdays tabindex="-1" {
            legend { (texts.weekdays) }
            @for day in Weekday::NAMES.iter().filter_map(|name| Weekday::from_name(name)) {
                label.choice { input type="checkbox" name="weekday" value=(day.name()) checked[fields.weekdays.iter().any(|it| it == day.name())]; (weekday(texts, day)) }
            }
            p.help { (texts.no_weekday_is_every_day) }
            (wrong.at("weekdays"))
        }
        div.fields {
            div.field {
                label for="at" { (texts.time_of_day) }
                input #at type="time" name="at" required value=(fields.at) aria-invalid=[wrong.is("at")] aria-describedby=[wrong.describing("at", "")];
                (wrong.at("at"))
            }
            div.field {
                label for="until" { (texts.last_day) }
                div.measure {
                    input #until type="date" name="until" value=(fields.until)
                        aria-invalid=[wrong.is("until")] aria-describedby=[wrong.describing("until", "until-help")];
                    (named::date_in_words(visit.visitor.language, &fields.until))
                }
                p.help #until-help { (texts.until_help) }
                (wrong.at("until"))
            }
            div.field {
                label for="budget" { (texts.budget_of_month) }
                input #budget name="budget" inputmode="decimal" autocomplete="off" value=(fields.budget)
                    aria-invalid=[wrong.is("budget")] aria-describedby=[wrong.describing("budget", "budget-help")];
                p.help #budget-help { (texts.schedule_budget_help) }
                (wrong.at("budget"))
            }
        }
    }
}

fn dealers(visit: &Visit, fields: &Fields, wrong: &Wrong) -> Markup {
    let texts = visit.visitor.texts;
    let dealers: Vec<Arc<Dealer>> = visit.visitor.context.service.dealers_in(&visit.caller.scope);
    html! {
        div.field {
            label for="dealer_code" { (texts.dealer) }
            select #dealer_code name="dealer_code" aria-required="true" aria-invalid=[wrong.is("dealer_code")]
                aria-describedby=[wrong.describing("dealer_code", "")] {
                option value="" { "–" }
                @for dealer in &dealers { option value=(dealer.code) selected[dealer.code == fields.dealer_code] { (dealer.name) } }
            }
            (wrong.at("dealer_code"))
        }
    }
}

/// Which ads: of a status, a type of vehicle, an age, or one.
fn which(visit: &Visit, fields: &Fields, wrong: &Wrong) -> Markup {
    let texts = visit.visitor.texts;
    let Selection { status, category, source_id } = &fields.selection;
    if fields.keeps_selection {
        return html! { p { strong { (texts.which_ads) } ": " (texts.own_selection) " " span.help { (texts.own_selection_help) } } };
    }
    let statuses = [AdStatus::Live, AdStatus::PartlyLive, AdStatus::Waiting, AdStatus::Failed];
    html! {
        fieldset #select tabindex="-1" {
            legend { (texts.which_ads) }
            (wrong.at("select"))
            div.fields {
                div.field {
                    label for="status" { (texts.status) }
                    select #status name="status" {
                        option value="" { (texts.all) }
                        @for known in statuses { option value=(known.name()) selected[known.name() == status] { (texts.ad_status(known)) } }
                    }
                }
                div.field {
                    label for="category" { (texts.vehicle_type) }
                    select #category name="category" {
                        option value="" { (texts.all) }
                        @for (_, known) in categories::typed() {
                            @let id = known.id.to_string();
                            option value=(id) selected[id == *category] { (named_value(visit.visitor.language, known.name)) }
                        }
                    }
                }
                div.field {
                    label for="min_age_days" { (texts.min_age) }
                    input #min_age_days type="number" name="min_age_days" min="1" max="3650" value=(fields.min_age_days)
                        aria-invalid=[wrong.is("min_age_days")] aria-describedby=[wrong.describing("min_age_days", "")];
                    (wrong.at("min_age_days"))
                }
                div.field {
                    label for="one_ad" { (texts.only_one_ad) }
                    input #one_ad name=(ONE_AD) maxlength="255" autocomplete="off" value=(source_id)
                        aria-invalid=[wrong.is(ONE_AD)] aria-describedby=[wrong.describing(ONE_AD, "one_ad-help")];
                    p.help #one_ad-help { (texts.one_ad_help) }
                    (wrong.at(ONE_AD))
                }
            }
        }
    }
}
