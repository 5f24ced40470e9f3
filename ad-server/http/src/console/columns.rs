//! The page on which somebody says what the columns of a stock file mean: each with samples, the field that it probably is, and what is
//! uncertain about it.

use ad_core::{
    catalogue::{Catalogue, Entry},
    categories::{self, Category},
    fields::Kind,
};
use ad_migrate::inspect::{Draft, Guess, Question, SoldRows, UnknownValues, offered};
use maud::{Markup, html};
use poem::{Response, http::StatusCode};

use super::{
    form::{label, named},
    page::{self, NoticeKind, Section, number},
    stock_file::Answers,
    texts::{Language, Texts},
    visitor::Visit,
};

/// What stands for the vehicle type in place of a field.
pub(super) const VEHICLE: &str = "[vehicle]";

/// Longest sample, in characters, and most samples of a column.
const LONGEST_SAMPLE: usize = 40;
const MOST_SAMPLES: usize = 4;

/// Name of the input of the column at a place.
pub(super) fn column_input(at: usize) -> String {
    format!("column-{at}")
}

/// Name of the input of an unknown value.
pub(super) fn value_input(map: &str, value: &str) -> String {
    format!("value|{map}|{value}")
}

/// The value map and the value of such an input.
pub(super) fn value_of_input(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("value|")?.split_once('|')
}

/// The page. `answers` is what was said before; `notice` is why it is shown again.
pub(super) fn page(
    visit: &Visit,
    action: &str,
    file: &str,
    draft: &Draft,
    answers: Option<&Answers>,
    notice: Option<&str>,
) -> Response {
    let (visitor, texts, language) = (&visit.visitor, visit.visitor.texts, visit.visitor.language);
    let has_types = draft.columns.iter().any(|column| column.field.as_deref() == Some(VEHICLE));
    let options = options(language, texts, &draft.vehicle_type);
    let catalogue = &visitor.context.service.rulebook().catalogue;
    let hides = answers.is_some_and(|answers| answers.hides_missing);
    let content = html! {
        p.crumbs { a href=(visitor.address("/stock")) { (texts.stock) } " › " a href=(visitor.address("/import")) { (texts.import) } }
        h1 { (texts.what_columns_mean) }
        @if let Some(notice) = notice.filter(|notice| !notice.is_empty()) { (page::notice(NoticeKind::Error, &html! { p { (notice) } })) }
        p.lead { span data-foreign { (file) } ": " (number(draft.rows.into())) " " (if draft.rows == 1 { texts.row_one } else { texts.rows }) ". " (texts.columns_lead) }
        form method="post" action=(visitor.address(action)) {
            // The Enter key compares.
            button.unseen name="do" value="compare" tabindex="-1" aria-hidden="true" { (texts.compare) }
            @if !draft.unknown.is_empty() {
                section.panel aria-labelledby="values-heading" {
                    h2 #values-heading { (texts.unknown_values) }
                    p { (texts.unknown_values_lead) }
                    @for of in &draft.unknown { (unknown(visit, catalogue, draft, of, answers)) }
                }
            }
            @if !has_types {
                section.panel {
                    div.row {
                        div {
                            label for="vehicle_type" { (texts.vehicle_type_of_rows) }
                            select #vehicle_type name="vehicle_type" {
                                @for (name, category) in categories::typed() {
                                    option value=(name) selected[name == draft.vehicle_type] { (named(language, category.name)) }
                                }
                            }
                        }
                        button name="do" value="type" { (texts.show_its_fields) }
                    }
                }
            }
            section.panel aria-labelledby="columns-heading" {
                h2 #columns-heading { (texts.columns) }
                @for (at, guess) in draft.columns.iter().enumerate() {
                    (column(texts, language, at, guess, &options))
                }
            }
            section.panel {
                @for (at, sold) in draft.sold.iter().enumerate().take(1) {
                    label.choice for={ "skip_sold-" (at) } {
                        input #{ "skip_sold-" (at) } type="checkbox" name="skip_sold" value="yes"
                            checked[answers.is_none_or(|answers| answers.choices.skips_sold)];
                        span { (self::sold(texts, language, sold)) }
                    }
                }
                fieldset {
                    legend { (texts.missing_ads) }
                    div { label.choice { input type="radio" name="missing" value="keep" checked[!hides]; span { (texts.missing_keep) } } }
                    div { label.choice { input type="radio" name="missing" value="hide" checked[hides]; span { (texts.missing_hide) } } }
                }
                div.actions {
                    button.primary name="do" value="compare" { (texts.compare) }
                    a.button href=(visitor.address("/import")) { (texts.other_file) }
                }
                p.help { (texts.compare_does) }
            }
        }
    };
    let is_asked_again = notice.is_some_and(|notice| !notice.is_empty());
    let status = if is_asked_again { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    page::page_with_status(visit, status, Section::Stock, texts.what_columns_mean, &content)
}

/// What columns can be, by the value of the choice.
fn options(language: Language, texts: &Texts, vehicle_type: &str) -> Vec<(String, String)> {
    let mut options = Vec::new();
    for (field, units) in offered(vehicle_type) {
        let name = field_name(language, texts, field);
        let with_unit = |unit: &&str| (format!("{field}|{unit}"), format!("{name} ({unit})"));
        let with_units: Vec<_> = units.iter().map(with_unit).collect();
        options.push((field.to_owned(), name));
        options.extend(with_units);
    }
    options.sort_by_key(|(_, name)| name.to_lowercase());
    options
}

/// A field in the words of a seller.
fn field_name(language: Language, texts: &Texts, field: &str) -> String {
    match field {
        VEHICLE => texts.vehicle_type.to_owned(),
        "price.list" => texts.price.to_owned(),
        "price.leasing" => texts.leasing_price.to_owned(),
        "price.monthly" => texts.monthly_price.to_owned(),
        "price.call" => language.pick("Call for the price", "Ring för pris").to_owned(),
        _ => label(language, field).to_owned(),
    }
}

fn column(texts: &Texts, language: Language, at: usize, guess: &Guess, options: &[(String, String)]) -> Markup {
    let (input, help) = (column_input(at), format!("about-{at}"));
    let is_doubtful = guess.questions.contains(&Question::Field);
    let field = guess.field.as_deref();
    let value = field.map(|field| match &guess.unit {
        Some(unit) if options.iter().any(|(value, _)| *value == format!("{field}|{unit}")) => format!("{field}|{unit}"),
        _ => field.to_owned(),
    });
    let chosen = value.as_deref().filter(|_| !is_doubtful);
    let questions: Vec<String> = guess.questions.iter().map(|it| asked(language, it)).collect();
    html! {
        div.column-choice {
            div {
                label for=(input) { span data-foreign { (guess.column) } }
                p.help #(help) {
                    span data-foreign { (samples(guess)) }
                    @if guess.filled == 0 { (texts.column_is_empty) }
                }
            }
            div {
                select.full id=(input) name=(input) aria-describedby=(help) {
                    option value="" selected[chosen.is_none()] { (texts.column_not_used) }
                    @for (value, name) in options {
                        option value=(value) selected[chosen == Some(value.as_str())] { (name) }
                    }
                }
                @if is_doubtful && let Some(field) = field { p.to-check { (texts.column_perhaps) " " strong { (field_name(language, texts, field)) } "?" } }
                @for question in questions.iter().filter(|question| !question.is_empty()) { p.to-check { (question) } }
            }
        }
    }
}

fn samples(guess: &Guess) -> String {
    let shortened = |sample: &String| match sample.char_indices().nth(LONGEST_SAMPLE) {
        Some((end, _)) => format!("{}…", &sample[..end]),
        None => sample.clone(),
    };
    guess.samples.iter().take(MOST_SAMPLES).map(shortened).collect::<Vec<_>>().join(" · ")
}

/// A question about a column, with its probable answer. Empty where the page says it otherwise.
fn asked(language: Language, question: &Question) -> String {
    let of = |english: &str, swedish: &str| language.pick(english, swedish).to_owned();
    match question {
        Question::Field => String::new(),
        Question::Rival(other) => of(
            &format!("The column “{other}” may be it instead. Which one is it?"),
            &format!("Kolumnen ”{other}” kan vara det i stället. Vilken är det?"),
        ),
        Question::Permanent => of(
            "Does each vehicle keep this value from file to file? If not, choose Not used.",
            "Behåller varje fordon det här värdet från fil till fil? Annars välj Används inte.",
        ),
        Question::Pictures => of("Are these photos of the vehicles?", "Är det här foton av fordonen?"),
        Question::PictureNames => of(
            "These are names of files. Only addresses of photos on the web can be used.",
            "Det här är filnamn. Bara adresser till foton på webben går att använda.",
        ),
        Question::Unit(unit) => of(&format!("Are these values in {unit}?"), &format!("Är värdena i {unit}?")),
        Question::Currency(currency) if currency.is_empty() => of(
            "Some prices have no currency. They are taken for your own.",
            "Några priser saknar valuta. De räknas som er egen.",
        ),
        Question::Currency(currency) => {
            of(&format!("Are these prices in {currency}?"), &format!("Är priserna i {currency}?"))
        }
        Question::Thousands => {
            of("The amounts are small. They are taken for thousands.", "Beloppen är små. De räknas som tusental.")
        }
        Question::Hundredths => of(
            "The amounts are large. They are taken for öre or cents.",
            "Beloppen är stora. De räknas som ören eller cent.",
        ),
        Question::Decimal => of(
            "Numbers have both points and commas. Look at the result before you make the changes.",
            "Talen har både punkter och kommatecken. Titta på resultatet innan du gör ändringarna.",
        ),
        Question::YearOfDate => of("These are dates. Their year is taken.", "Det här är datum. Året i dem används."),
        Question::NoDay => of(
            "These dates have no day, so they cannot be used.",
            "De här datumen saknar dag, så de går inte att använda.",
        ),
        Question::DayMonth(form) => of(
            &format!("Day and month look alike. The dates are read as {form}."),
            &format!("Dag och månad går inte att skilja åt. Datumen läses som {form}."),
        ),
        Question::Values => of(
            "Some values can mean several things. Look at the result before you make the changes.",
            "Några värden kan betyda flera saker. Titta på resultatet innan du gör ändringarna.",
        ),
        Question::List => of(
            "Is each value a list of several things? It is taken for one.",
            "Är varje värde en lista med flera saker? Det räknas som en.",
        ),
    }
}

/// The values of a column that are not known, each with what it may mean.
fn unknown(
    visit: &Visit,
    catalogue: &Catalogue,
    draft: &Draft,
    of: &UnknownValues,
    answers: Option<&Answers>,
) -> Markup {
    let (texts, language) = (visit.visitor.texts, visit.visitor.language);
    let entries = categories::by_vehicle_type(&draft.vehicle_type)
        .and_then(|category| allowed(category, catalogue, &of.field))
        .unwrap_or_default();
    let answered = |value: &str| answers.and_then(|answers| answers.choices.values.get(&of.map)?.get(value).cloned());
    html! {
        fieldset {
            legend { (field_name(language, texts, &of.field)) }
            @for (value, likely, rows) in &of.values {
                @let input = value_input(&of.map, value);
                @let likely = (!likely.is_empty()).then(|| likely.join("|"));
                @let chosen = answered(value).map(|answer| answer.join("|")).or_else(|| likely.clone());
                @let is_listed = |id: &str| entries.iter().any(|entry| entry.id == id);
                div.column-choice {
                    div {
                        label for=(input) { (language.pick("“", "”")) span data-foreign { (value) } "”" }
                        p.help { (number((*rows).into())) " " (if *rows == 1 { texts.row_one } else { texts.rows }) }
                    }
                    div {
                        select.full id=(input) name=(input) {
                            option value="" selected[chosen.is_none()] { (texts.value_unknown) }
                            @if let Some(likely) = likely.as_deref().filter(|likely| !is_listed(likely)) {
                                option value=(likely) selected[chosen.as_deref() == Some(likely)] { (names(language, &entries, likely)) }
                            }
                            @for entry in &entries {
                                option value=(entry.id) selected[chosen.as_deref() == Some(&*entry.id)] { (named(language, &entry.name)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The names of values that are separated by `|`.
fn names(language: Language, entries: &[Entry], values: &str) -> String {
    let name = |id: &str| {
        entries
            .iter()
            .find(|entry| entry.id == id)
            .map_or_else(|| id.to_owned(), |entry| named(language, &entry.name).to_owned())
    };
    values.split('|').map(name).collect::<Vec<_>>().join(" + ")
}

/// The values that a field may have, where these are a list.
fn allowed(category: &Category, catalogue: &Catalogue, field: &str) -> Option<Vec<Entry>> {
    let kind = category.field(field.strip_prefix("category_fields.")?)?.kind;
    match kind {
        Kind::List { item, .. } => item.allowed(catalogue),
        kind => kind.allowed(catalogue),
    }
}

/// The rows of vehicles that are not for sale.
fn sold(texts: &Texts, language: Language, SoldRows { column, values, is_kept }: &SoldRows) -> Markup {
    let values =
        values.iter().map(|value| language.pick("“", "”").to_owned() + value + "”").collect::<Vec<_>>().join(", ");
    html! {
        (texts.skip_sold) " " span data-foreign { (column) } " " (if *is_kept { texts.is_not } else { texts.is_value }) " " span data-foreign { (values) } "."
    }
}
