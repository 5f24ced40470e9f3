//! The inputs of a form: the right one for each kind of value, with label, description and errors.

use ad_core::{
    catalogue::{Catalogue, Entry},
    categories::{Category, Heading, price},
    fields::{Field, Kind, Mode, usual_unit},
};
use maud::{Markup, html};

use super::{
    super::texts::{Language, Texts},
    labels::label,
    sections::sections,
    values::{FormField, FormValues, REVISION, is_at_or_below, is_chosen},
};

/// Texts of more than a line.
const LONG_TEXTS: &[&str] = &["body", "warranty", "return_policy", "service_history", "home_delivery"];

/// Number of visible lines of a text.
const FEW_LINES: &str = "3";
const MANY_LINES: &str = "10";

/// Number of empty rows of a list of objects.
const SPARE_ROWS: usize = 2;

/// The data that a form shows.
pub(in crate::console) struct AdForm<'a> {
    pub(in crate::console) texts: &'static Texts,
    pub(in crate::console) language: Language,
    pub(in crate::console) category: &'static Category,
    pub(in crate::console) catalogue: &'a Catalogue,
    pub(in crate::console) values: &'a FormValues,
    /// The texts of errors, by the paths of their fields.
    pub(in crate::console) errors: &'a [(String, String)],
    /// The dealers to choose from; empty if the scope of the token is one dealer.
    pub(in crate::console) dealers: &'a [String],
    /// E-mail addresses of the dealer's salespersons.
    pub(in crate::console) salespersons: &'a [String],
    /// The revision of the ad that is edited; `None` for a new ad.
    pub(in crate::console) revision: Option<i64>,
}

impl AdForm<'_> {
    pub(in crate::console) fn inputs(&self) -> Markup {
        html! {
            @if let Some(revision) = self.revision {
                input type="hidden" name=(REVISION) value=(revision);
            }
            @for (section, fields) in sections(self.category, self.is_new()) {
                @let content = html! { @for field in &fields { (self.field(*field, &field.path())) } };
                @if section.is_rare {
                    details.panel #{ "section-" (section.id) } open[self.is_in_use(&fields)] {
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

    /// The errors that belong to no input, and links to those that do.
    pub(in crate::console) fn error_summary(&self) -> Markup {
        html! {
            ul {
                @for (path, text) in self.errors {
                    @match self.input_of(path) {
                        Some(input) => li { a href={ "#" (id(&input)) } { (label(self.language, &input)) } ": " (text) },
                        None => li { @if !path.is_empty() { code { (path) } ": " } (text) },
                    }
                }
            }
        }
    }

    fn is_new(&self) -> bool {
        self.revision.is_none()
    }

    /// Whether a section has values or errors.
    fn is_in_use(&self, fields: &[FormField]) -> bool {
        fields.iter().any(|field| {
            let path = field.path();
            self.values.has_value(&path) || self.errors.iter().any(|(at, _)| is_at_or_below(at, &path))
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
                let entries: Vec<_> = self.dealers.iter().map(|code| Entry::new(code, code)).collect();
                self.labelled(path, field, true, &self.select(path, &entries))
            }
            _ => self.input(path, field),
        }
    }

    fn input(&self, path: &str, field: &Field) -> Markup {
        let required = field.required || path == "title" && self.category.heading == Heading::Required;
        match &field.kind {
            Kind::Objects { fields, max, .. } => {
                let rows = (self.values.rows(path) + SPARE_ROWS).min(*max);
                let rows = html! {
                    @for row in 0..rows {
                        div.row { (self.members(fields, &format!("{path}.{row}"))) }
                    }
                };
                self.group(path, field, &rows)
            }
            Kind::Object { fields } => self.group(path, field, &html! { div.row { (self.members(fields, path)) } }),
            Kind::List { item, .. } if is_chosen(item) => self.group(path, field, &self.checkboxes(path, item)),
            kind => self.labelled(path, field, required, &self.control(path, kind, required)),
        }
    }

    fn members(&self, fields: &'static [Field], path: &str) -> Markup {
        html! { @for field in fields { (self.input(&format!("{path}.{}", field.path), field)) } }
    }

    /// A control with its label, description and errors.
    fn labelled(&self, path: &str, field: &Field, required: bool, control: &Markup) -> Markup {
        html! {
            div.field {
                label for=(id(path)) { (label(self.language, path)) (self.required_mark(required)) }
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
                legend { (label(self.language, path)) (self.required_mark(field.required)) }
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

    /// The description of the table, with its code as such.
    fn description(&self, path: &str, field: &Field) -> Markup {
        html! {
            // The field tables are in English.
            p.help #{ "help-" (path) } lang=[self.english()] {
                // A description that repeats the label is left out.
                @if !field.doc.eq_ignore_ascii_case(label(Language::English, path)) {
                    @for (index, part) in field.doc.split('`').enumerate() {
                        @if index % 2 == 0 { (part) } @else { code { (part) } }
                    }
                }
                @if matches!(&field.kind, Kind::List { item, .. } if !is_chosen(item)) { ". " span lang=(self.language.code()) { (self.texts.one_per_line) } }
            }
        }
    }

    /// The errors of an input. Those of a group's members stand at the members.
    fn errors(&self, path: &str, kind: &Kind) -> Markup {
        let has_members = matches!(kind, Kind::Objects { .. } | Kind::Object { .. });
        let below = |at: &str| at.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned);
        html! {
            div #{ "error-" (path) } data-checked {
                @for (at, text) in self.errors {
                    @match below(at) {
                        _ if at == path => p.field-error lang=[self.english()] { (text) },
                        Some(below) if !has_members => p.field-error lang=[self.english()] { (position(&below)) ": " (text) },
                        _ => {},
                    }
                }
            }
        }
    }

    /// The `lang` attribute of English texts on pages in another language.
    fn english(&self) -> Option<&'static str> {
        (self.language != Language::English).then_some("en")
    }

    fn is_wrong(&self, path: &str) -> Option<&'static str> {
        self.errors.iter().any(|(at, _)| is_at_or_below(at, path)).then_some("true")
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
            Kind::Measure { units, .. } => self.measure(path, units),
            Kind::Model { list } => html! { (line("text", "", Some("models"))) (self.models(list)) },
            Kind::Email { .. } if !self.salespersons.is_empty() && path.ends_with("salesperson") => html! {
                (line("email", "", Some("salespersons")))
                datalist #salespersons { @for email in self.salespersons { option value=(email) {} } }
            },
            Kind::Email { .. } => line("email", "", None),
            Kind::Integer { .. } => line("text", "numeric", None),
            Kind::Decimal { .. } => line("text", "decimal", None),
            Kind::Digits { plus, .. } => line(if *plus { "tel" } else { "text" }, "numeric", None),
            Kind::Date => line("date", "", None),
            Kind::Url { .. } => line("url", "", None),
            Kind::List { .. } => lines(MANY_LINES, value),
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
                option value="" selected[value.is_empty()] { "–" }
                // Values that are not allowed stay visible.
                @if !is_known { option value=(value) selected { (value) } }
                @for entry in entries {
                    option value=(entry.id) selected[entry.id == value] { (entry.name) }
                }
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
                        " " (entry.name)
                    }
                }
            }
        }
    }

    fn measure(&self, path: &str, units: &[&str]) -> Markup {
        let (value, unit) = (format!("{path}.value"), format!("{path}.unit"));
        let chosen = self.values.text(&unit);
        let chosen = if chosen.is_empty() { usual_unit(units).unwrap_or_default() } else { chosen };
        let is_known = units.contains(&chosen);
        html! {
            div.measure {
                input #(id(path)) type="text" inputmode="decimal" name=(value) value=(self.values.text(&value)) autocomplete="off"
                    aria-invalid=[self.is_wrong(path)] aria-describedby=(describing(path));
                @if let ([only], true) = (units, is_known) {
                    input type="hidden" name=(unit) value=(only);
                    span { (only) }
                } @else {
                    select name=(unit) aria-label={ (label(self.language, path)) ", " (self.texts.unit) } {
                        @if !is_known { option value=(chosen) selected { (chosen) } }
                        @for known in units { option value=(known) selected[*known == chosen] { (known) } }
                    }
                }
            }
        }
    }

    /// The models of the brand that is chosen. The script fetches those of another one.
    fn models(&self, list: &str) -> Markup {
        let brand = self.values.text("category_fields.brand");
        html! {
            datalist #models data-checked {
                @for model in self.catalogue.models(list, brand).entries() {
                    option value=(model.id) { (model.name) }
                }
            }
        }
    }
}

fn id(path: &str) -> String {
    format!("input-{path}")
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
