//! The inputs of a form: the right one for each kind of value, with label, description and errors.

use ad_core::{
    catalogue::{Catalogue, Entry},
    categories::{Category, Heading, price, rules::PLATE_OR_VIN},
    fields::{Field, FieldErrors, Kind, MILEAGE, Mode, usual_unit},
    violation::{Code, Violation},
};
use ad_server_base::limits::table::IMAGE_BYTES;
use maud::{Markup, html};
use serde_json::Value;

use super::{
    super::{
        named::date_in_words,
        texts::{Language, Texts},
    },
    labels::{help, label, named, unit as unit_in_words},
    said::{meant, said, spoken},
    sections::sections,
    values::{Difference, FormField, FormValues, REVISION, fields, is_at_or_below, is_chosen},
};

/// Texts of more than a line.
const LONG_TEXTS: &[&str] = &["body", "warranty", "return_policy", "service_history", "home_delivery"];

/// Number of visible lines of a text.
const FEW_LINES: &str = "3";
const MANY_LINES: &str = "6";

/// Currencies to choose from, beside the dealer's own.
const CURRENCIES: &[&str] = &["SEK", "EUR", "NOK", "DKK"];

/// Number of values that are offered for a wrong one.
const MOST_CURES: usize = 3;

/// The data that a form shows.
pub(in crate::console) struct AdForm<'a> {
    pub(in crate::console) texts: &'static Texts,
    pub(in crate::console) language: Language,
    pub(in crate::console) category: &'static Category,
    pub(in crate::console) catalogue: &'a Catalogue,
    pub(in crate::console) values: &'a FormValues,
    pub(in crate::console) errors: &'a [FormError],
    /// Paths of the values that were read from what somebody has written.
    pub(in crate::console) understood: &'a [String],
    /// Paths of the values that come from the vehicle register.
    pub(in crate::console) registered: &'a [String],
    /// Fields that somebody else has changed too.
    pub(in crate::console) conflicts: &'a [Difference],
    /// Whether there is a register in which vehicles are looked up.
    pub(in crate::console) has_register: bool,
    /// Where photos are sent to, by the script.
    pub(in crate::console) upload: &'a str,
    /// Small pictures of stored photos, by their addresses.
    pub(in crate::console) thumbnails: &'a Value,
    /// The dealers to choose from, with their names; empty if the scope of the token is one dealer.
    pub(in crate::console) dealers: &'a [(String, String)],
    /// The dealer's currency.
    pub(in crate::console) currency: &'a str,
    /// E-mail addresses of the dealer's salespersons.
    pub(in crate::console) salespersons: &'a [String],
    /// The revision of the ad that is edited; `None` for a new ad.
    pub(in crate::console) revision: Option<i64>,
}

/// An error as a form shows it.
#[derive(Debug, Clone)]
pub(in crate::console) struct FormError {
    /// The path of its field; empty if it is about all of the form.
    pub(in crate::console) path: String,
    pub(in crate::console) text: String,
    /// Whether something is still to be filled in, and nothing is wrong.
    pub(in crate::console) is_missing: bool,
    /// The ad that it is about, as a link behind the text.
    pub(in crate::console) ad: Option<Markup>,
    /// Values that were probably meant.
    pub(in crate::console) cures: Vec<String>,
}

impl FormError {
    pub(in crate::console) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into(), is_missing: false, ad: None, cures: Vec::new() }
    }
}

/// The beginning of the names of inputs that choose between two changes of a field.
pub(in crate::console) const CHOICE: &str = "choose.";
const OWN: &str = "own";
pub(in crate::console) const STORED: &str = "stored";
/// Name of the inputs with the paths of fields for which a value is to be chosen.
pub(in crate::console) const CONFLICT: &str = "conflict";

/// The errors of an ad in the words of a seller.
pub(in crate::console) fn errors_of(errors: &FieldErrors, category: &Category, language: Language) -> Vec<FormError> {
    let said = |(path, violation): (String, &Violation)| FormError {
        text: said(violation, kind_at(category, &path).as_ref(), language),
        is_missing: is_missing(violation),
        ad: None,
        cures: meant(violation).to_vec(),
        path,
    };
    let mut errors: Vec<_> = errors.violations().into_iter().map(said).collect();
    // The plate or the VIN gives the number too.
    let is_given = |error: &FormError| error.path.ends_with("registration_number") || error.path.ends_with("vin");
    if errors.iter().any(|error| error.is_missing && is_given(error)) {
        errors.retain(|error| error.path != "source_id" || !error.is_missing);
    }
    errors
}

/// Whether a violation says no more than that something is to be filled in.
fn is_missing(violation: &Violation) -> bool {
    match violation {
        Violation::RequiredWith { .. } | Violation::Stated { rule: Some(PLATE_OR_VIN), .. } => true,
        other => matches!(other.code(), Some(Code::Required | Code::Null | Code::Blank)),
    }
}

/// The kind of the field at or above a path.
fn kind_at(category: &Category, path: &str) -> Option<Kind> {
    let field = fields(category, true).find(|field| is_at_or_below(path, &field.path()))?.field;
    let below = |members: &'static [Field]| members.iter().find(|member| path.ends_with(member.path)).map(|it| it.kind);
    match field.kind {
        Kind::Objects { fields, .. } | Kind::Object { fields } => below(fields).or(Some(field.kind)),
        kind => Some(kind),
    }
}

impl AdForm<'_> {
    pub(in crate::console) fn inputs(&self) -> Markup {
        html! {
            @if let Some(revision) = self.revision {
                input type="hidden" name=(REVISION) value=(revision);
            }
            // Who edits an ad comes to one of its groups without passing the fields before it.
            @if !self.is_new() {
                nav aria-label=(self.texts.groups_of_form) {
                    ul.chips { @for (section, _) in sections(self.category, false) { li { a href={ "#section-" (section.id) } { ((section.name)(self.texts)) } } } }
                }
            }
            @for (section, fields) in sections(self.category, self.is_new()) {
                @let content = html! { @for field in &fields { (self.field(*field, &field.path())) } };
                @if section.is_rare {
                    details.panel #{ "section-" (section.id) } open[self.is_open(&fields)] {
                        summary { ((section.name)(self.texts)) }
                        div.fields { (content) }
                    }
                } @else {
                    section.panel aria-labelledby={ "section-" (section.id) } {
                        h2 #{ "section-" (section.id) } { ((section.name)(self.texts)) }
                        div.fields { (content) }
                    }
                }
            }
        }
    }

    /// The errors that are wanted: those that belong to no input, and links to those that do. What two fields say together stands once.
    pub(in crate::console) fn error_summary(&self, is_wanted: impl Fn(&FormError) -> bool) -> Markup {
        let is_plate_too = |error: &FormError| {
            let of_plate = |it: &FormError| it.path.ends_with("registration_number") && it.text == error.text;
            error.path.ends_with("vin") && self.errors.iter().any(of_plate)
        };
        html! {
            ul {
                @for FormError { path, text, ad, .. } in self.errors.iter().filter(|it| is_wanted(it) && !is_plate_too(it)) {
                    @match self.input_of(path) {
                        Some(input) => li { a href={ "#" (id(&input)) } { (label(self.language, path_of_names(path))) } ": " (text) (linked(ad.as_ref())) },
                        None => li { @if !path.is_empty() { (label(self.language, path)) ": " } (text) (linked(ad.as_ref())) },
                    }
                }
            }
        }
    }

    /// The names of fields with links to them.
    pub(in crate::console) fn links(&self, paths: &[String]) -> Markup {
        html! {
            @for (place, path) in paths.iter().enumerate() {
                @if place > 0 { ", " }
                a href={ "#" (conflict_id(path)) } { (label(self.language, path)) }
            }
        }
    }

    fn is_new(&self) -> bool {
        self.revision.is_none()
    }

    /// Whether a section that most ads leave empty is open: it has something that must be filled in, or that is wrong.
    fn is_open(&self, fields: &[FormField]) -> bool {
        fields.iter().any(|field| {
            let path = field.path();
            let is_about = |at: &str| is_at_or_below(at, &path);
            field.field.required && path != "source_id"
                || self.errors.iter().any(|error| is_about(&error.path))
                || self.conflicts.iter().any(|conflict| is_about(&conflict.path))
        })
    }

    /// The field whose inputs an error is about.
    fn input_of(&self, path: &str) -> Option<String> {
        let fields = sections(self.category, self.is_new()).into_iter().flat_map(|(_, fields)| fields);
        fields.map(FormField::path).find(|field| is_at_or_below(path, field))
    }

    fn field(&self, FormField { field, .. }: FormField, path: &str) -> Markup {
        match path {
            "dealer_code" if self.dealers.is_empty() => html! {},
            "dealer_code" => {
                let entries: Vec<_> = self.dealers.iter().map(|(code, name)| Entry::new(code, name)).collect();
                self.labelled(path, field, true, &self.select(path, &entries))
            }
            _ => self.input(path, field, true),
        }
    }

    fn input(&self, path: &str, field: &Field, is_in_required: bool) -> Markup {
        // The source id is proposed where it is left empty.
        let required = is_in_required && field.required && path != "source_id"
            || path == "title" && self.category.heading == Heading::Required;
        match &field.kind {
            Kind::Objects { fields, max, .. } => {
                let shown = self.values.rows(path).max(1);
                let row =
                    |at: usize| html! { div.row { (self.members(fields, &format!("{path}.{at}"), field.required)) } };
                let rows = html! {
                    @for at in 0..shown { (row(at)) }
                    @if shown < *max { details #{ "more-" (path) } { summary { (self.texts.one_more) } (row(shown)) } }
                };
                self.group(path, field, &rows)
            }
            Kind::Object { fields } => {
                self.group(path, field, &html! { div.row { (self.members(fields, path, field.required)) } })
            }
            Kind::List { item, .. } if is_chosen(item) => self.group(path, field, &self.checkboxes(path, item)),
            kind => self.labelled(path, field, required, &self.control(path, kind, required)),
        }
    }

    /// The members of an object. Where it can be left empty, none of them has to be filled in.
    fn members(&self, fields: &'static [Field], path: &str, is_required: bool) -> Markup {
        html! { @for field in fields { (self.input(&format!("{path}.{}", field.path), field, is_required)) } }
    }

    /// A control with its label, description and errors.
    fn labelled(&self, path: &str, field: &Field, required: bool, control: &Markup) -> Markup {
        html! {
            div.field {
                label.unseen[matches!(path, "image_urls" | "body")] for=(id(path)) { (label(self.language, path)) (self.required_mark(required)) }
                (control)
                (self.description(path, field))
                (self.errors(path, &field.kind))
            }
        }
    }

    /// Several controls with a name in common.
    fn group(&self, path: &str, field: &Field, controls: &Markup) -> Markup {
        html! {
            fieldset.wide #(id(path)) aria-describedby=(describing(path)) {
                // The section is about it alone.
                legend.unseen[path == "price"] { (label(self.language, path)) (self.required_mark(field.required)) }
                (self.description(path, field))
                (self.errors(path, &field.kind))
                (controls)
            }
        }
    }

    fn required_mark(&self, required: bool) -> Markup {
        html! {
            @if required { span aria-hidden="true" { " *" } span.unseen { " (" (self.texts.required) ")" } }
        }
    }

    /// What helps to fill the field in, and where its value comes from.
    fn description(&self, path: &str, field: &Field) -> Markup {
        let help = match help(self.language, path) {
            // The script puts pictures in the place of the addresses.
            None if path == "image_urls" => return html! { noscript { p.help { (self.texts.photo_addresses) } } },
            None if matches!(&field.kind, Kind::List { item, .. } if !is_chosen(item)) => Some(self.texts.one_per_line),
            help => help,
        };
        html! {
            p.help #{ "help-" (path) } {
                @if let Some(help) = help { span { (help) } }
                @if self.registered.iter().any(|at| at == path) { " " span.badge.under-way { (self.texts.from_register) } }
            }
        }
    }

    /// The errors of an input, and how what is in it was read. Those of a group's members stand at the members.
    fn errors(&self, path: &str, kind: &Kind) -> Markup {
        let has_members = matches!(kind, Kind::Objects { .. } | Kind::Object { .. });
        let below = |at: &str| at.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned);
        let is_read = self.understood.iter().any(|at| at == path || !has_members && below(at).is_some());
        html! {
            div #{ "error-" (path) } data-checked {
                @for FormError { path: at, text, ad, cures, .. } in self.errors {
                    @match below(at) {
                        _ if at == path => { p.field-error { (text) (linked(ad.as_ref())) } (self.cures(path, kind, cures)) },
                        Some(below) if !has_members => p.field-error { (position(&below)) ": " (text) },
                        _ => {},
                    }
                }
                @if is_read { p.understood { (self.texts.read_as) " " strong { (self.read(path, kind)) } } }
                @if let Some(conflict) = self.conflicts.iter().find(|conflict| conflict.path == path) { (self.choice(conflict, kind)) }
            }
        }
    }

    /// Buttons that fill in what was probably meant, for the script.
    fn cures(&self, path: &str, kind: &Kind, cures: &[String]) -> Markup {
        html! {
            @if !cures.is_empty() {
                div.actions.cures {
                    span { (self.texts.did_you_mean) }
                    @for cure in cures.iter().take(MOST_CURES) {
                        @let name = self.shown(Some(&Value::from(cure.as_str())), kind);
                        button type="button" data-for=(path) data-cure=(if matches!(kind, Kind::Model { .. }) { &name } else { cure }) { (name) }
                    }
                }
            }
        }
    }

    /// Two changes of a field, of which one is chosen.
    fn choice(&self, Difference { path, sent, stored }: &Difference, kind: &Kind) -> Markup {
        let values = [(OWN, self.texts.your_value, sent), (STORED, self.texts.other_value, stored)];
        html! {
            fieldset.conflict #(conflict_id(path)) data-of=(path) {
                legend { (self.texts.changed_by_two) }
                @for (name, text, value) in values {
                    label.choice {
                        input type="radio" name={ (CHOICE) (path) } value=(name) required;
                        " " (text) ": " strong { (self.shown(value.as_ref(), kind)) }
                    }
                }
            }
        }
    }

    /// The value of an input as people say it.
    fn read(&self, path: &str, kind: &Kind) -> String {
        self.shown(self.values.value(kind, path).as_ref(), kind)
    }

    /// A value as people say it.
    fn shown(&self, value: Option<&Value>, kind: &Kind) -> String {
        in_words(self.catalogue, self.language, self.values.text("category_fields.brand"), kind, value)
    }

    fn is_wrong(&self, path: &str) -> Option<&'static str> {
        self.errors.iter().any(|error| is_at_or_below(&error.path, path)).then_some("true")
    }

    fn control(&self, path: &str, kind: &Kind, required: bool) -> Markup {
        let required = required.then_some("true");
        let (value, invalid, describes) = (self.values.text(path), self.is_wrong(path), describing(path));
        let line = |kind: &str, mode: &str, list: Option<&str>| {
            html! {
                input #(id(path)) type=(kind) inputmode=[(!mode.is_empty()).then_some(mode)] name=(path) value=(value) list=[list]
                    autocomplete="off" aria-required=[required] aria-invalid=[invalid] aria-describedby=(describes);
            }
        };
        let lines = |rows: &str, text: &str| {
            html! {
                // The first line end of the element is not part of its text.
                textarea #(id(path)) name=(path) rows=(rows) aria-required=[required] aria-invalid=[invalid]
                    aria-describedby=(describes) { "\n" (text) }
            }
        };
        match kind {
            Kind::Choice { .. } | Kind::Slug { .. } => self.select(path, &self.allowed(path, kind)),
            Kind::Boolean => self.yes_or_no(path),
            Kind::Currency => self.currencies(path),
            Kind::Measure { units, .. } => self.measure(path, units),
            Kind::Model { list } => self.model(path, list, required),
            Kind::List { item: Kind::ImageAddress, .. } => html! {
                textarea #(id(path)) name=(path) rows=(FEW_LINES) aria-invalid=[invalid] aria-describedby=(describes)
                    data-photos=(self.upload) data-most=(IMAGE_BYTES) data-thumbnails=(self.thumbnails) data-words=(self.texts.photo_words()) { "\n" (value) }
            },
            Kind::Plate { .. } if self.has_register && self.is_new() => html! {
                div.measure {
                    (line("text", "", None))
                    button name="do" value="look-up" data-look-up { (self.texts.look_up) }
                }
            },
            Kind::Email { .. } if !self.salespersons.is_empty() && path.ends_with("salesperson") => html! {
                (line("email", "", Some("salespersons")))
                datalist #salespersons { @for email in self.salespersons { option value=(email) {} } }
            },
            Kind::Email { .. } => line("email", "", None),
            Kind::Integer { .. } => line("text", "numeric", None),
            Kind::Decimal { .. } => line("text", "decimal", None),
            Kind::Digits { plus, .. } => line(if *plus { "tel" } else { "text" }, "numeric", None),
            Kind::Date => html! { div.measure { (line("date", "", None)) (date_in_words(self.language, value)) } },
            Kind::Url { .. } => line("url", "", None),
            Kind::List { .. } => lines(FEW_LINES, value),
            Kind::Text { .. } if is_long(path) || value.contains('\n') => {
                lines(if path == "body" { MANY_LINES } else { FEW_LINES }, value)
            }
            _ => line("text", "", None),
        }
    }

    /// The allowed values of a field.
    fn allowed(&self, path: &str, kind: &Kind) -> Vec<Entry> {
        let mut entries = kind.allowed(self.catalogue).unwrap_or_default();
        if path.starts_with("price.") {
            let mode = if self.is_new() { Mode::Create } else { Mode::Update };
            entries.retain(|entry| price::allowed_types(self.category, mode).any(|kind| kind == entry.id));
        }
        entries
    }

    fn select(&self, path: &str, entries: &[Entry]) -> Markup {
        let value = self.values.text(path);
        let is_known = value.is_empty() || entries.iter().any(|entry| entry.id == value);
        html! {
            select #(id(path)) name=(path) aria-invalid=[self.is_wrong(path)] aria-describedby=(describing(path)) {
                @if !path.starts_with("price.") { option value="" selected[value.is_empty()] { "–" } }
                // Values that are not allowed stay visible.
                @if !is_known { option value=(value) selected { (value) } }
                @for entry in entries {
                    option value=(entry.id) selected[entry.id == value] { (named(self.language, &entry.name)) }
                }
            }
        }
    }

    /// The dealer's currency, unless another one is chosen.
    fn currencies(&self, path: &str) -> Markup {
        let value = self.values.text(path);
        let chosen = if value.is_empty() { self.currency } else { value };
        let others = CURRENCIES.iter().copied().filter(|code| *code != chosen);
        html! {
            select #(id(path)) name=(path) aria-invalid=[self.is_wrong(path)] aria-describedby=(describing(path)) {
                option value=(chosen) selected { (chosen) }
                @for code in others { option value=(code) { (code) } }
            }
        }
    }

    fn yes_or_no(&self, path: &str) -> Markup {
        let answers = [("true", self.texts.yes), ("false", self.texts.no)];
        self.select(path, &answers.map(|(id, name)| Entry::new(id, name)))
    }

    fn checkboxes(&self, path: &str, item: &Kind) -> Markup {
        html! {
            // Marks the field as part of the form, even if nothing is chosen.
            input type="hidden" name=(path) value="";
            div.row {
                @for entry in item.allowed(self.catalogue).unwrap_or_default() {
                    label.choice {
                        input type="checkbox" name=(path) value=(entry.id) checked[self.values.contains(path, &entry.id)];
                        " " (named(self.language, &entry.name))
                    }
                }
            }
        }
    }

    fn measure(&self, path: &str, units: &[&str]) -> Markup {
        let (value, unit) = (format!("{path}.value"), format!("{path}.unit"));
        let chosen = self.values.text(&unit);
        let usual = match self.language {
            Language::Swedish if units == MILEAGE => Some("mil"),
            _ => usual_unit(units),
        };
        let chosen = if chosen.is_empty() { usual.unwrap_or_default() } else { chosen };
        let is_known = units.contains(&chosen);
        html! {
            div.measure {
                input #(id(path)) type="text" inputmode="decimal" name=(value) value=(self.values.text(&value)) autocomplete="off"
                    aria-invalid=[self.is_wrong(path)] aria-describedby=(describing(path));
                @if let ([only], true) = (units, is_known) {
                    input type="hidden" name=(unit) value=(only);
                    span { (unit_in_words(self.language, only)) }
                } @else {
                    select name=(unit) aria-label={ (label(self.language, path)) ", " (self.texts.unit) } {
                        @if !is_known { option value=(chosen) selected { (chosen) } }
                        @for known in units { option value=(known) selected[*known == chosen] { (unit_in_words(self.language, known)) } }
                    }
                }
            }
        }
    }

    /// A model by its name, and the models of the brand that is chosen. The script fetches those of another one.
    fn model(&self, path: &str, list: &str, required: Option<&str>) -> Markup {
        let models = self.catalogue.models(list, self.values.text("category_fields.brand")).entries();
        let value = self.values.text(path);
        let name = models.iter().find(|entry| entry.id == value).map_or(value, |entry| entry.name.as_str());
        html! {
            input #(id(path)) type="text" name=(path) value=(name) list="models" autocomplete="off" aria-required=[required]
                aria-invalid=[self.is_wrong(path)] aria-describedby=(describing(path));
            datalist #models data-checked {
                @for model in models { option value=(named(self.language, &model.name)) {} }
            }
        }
    }
}

/// The ad that an error is about, behind its text.
fn linked(ad: Option<&Markup>) -> Markup {
    html! { @if let Some(ad) = ad { " " (ad) } }
}

/// The path of the field at or above a path.
pub(in crate::console) fn field_path(category: &Category, path: &str) -> String {
    let field = fields(category, true).map(FormField::path).find(|field| is_at_or_below(path, field));
    field.unwrap_or_else(|| path.to_owned())
}

/// A value of a field of an ad of this category and brand as people say it.
pub(in crate::console) fn value_in_words(
    catalogue: &Catalogue,
    language: Language,
    (category, brand): (Option<&Category>, &str),
    path: &str,
    value: &Value,
) -> String {
    match category.and_then(|category| fields(category, false).find(|field| field.path() == path)) {
        Some(FormField { field, .. }) => in_words(catalogue, language, brand, &field.kind, Some(value)),
        None => spoken(Some(value), language, &str::to_owned),
    }
}

fn in_words(catalogue: &Catalogue, language: Language, brand: &str, kind: &Kind, value: Option<&Value>) -> String {
    let entries = match kind {
        Kind::List { item, .. } => item.allowed(catalogue),
        Kind::Model { list } => Some(catalogue.models(list, brand).entries().to_vec()),
        Kind::Objects { fields, .. } => {
            Some(fields.iter().filter_map(|field| field.kind.allowed(catalogue)).flatten().collect())
        }
        kind => kind.allowed(catalogue),
    };
    let entries = entries.unwrap_or_default();
    spoken(value, language, &|id: &str| {
        let entry = entries.iter().find(|entry| entry.id == id);
        let said = entry.map_or_else(|| unit_in_words(language, id), |entry| named(language, &entry.name));
        said.to_owned()
    })
}

/// A path up to its last name: an error of an item is about the list.
fn path_of_names(path: &str) -> &str {
    path.trim_end_matches(|letter: char| letter == '.' || letter.is_ascii_digit())
}

fn id(path: &str) -> String {
    format!("input-{path}")
}

fn conflict_id(path: &str) -> String {
    format!("conflict-{path}")
}

/// The ids of what describes an input.
fn describing(path: &str) -> String {
    format!("help-{path} error-{path}")
}

fn is_long(path: &str) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    LONG_TEXTS.contains(&name) || name.ends_with("_details")
}

/// An item of a list as people count, or the name of a member.
fn position(below: &str) -> String {
    below.parse::<usize>().map_or_else(|_| below.to_owned(), |index| (index + 1).to_string())
}
