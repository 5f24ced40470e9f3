//! A stock file of the dealer's own: sent, its columns understood and corrected by choosing, and compared with the stock by a plan. What was
//! chosen is kept for the next file with the same columns.

use std::sync::Arc;

use ad_core::{
    model::{Dealer, MissingAds, PlanOptions, PlanState, StockPlan},
    service::{Access, ServiceError},
    violation::Code,
};
use ad_migrate::{
    inspect::{ChosenField, Draft, Known},
    mapping::Mapping,
};
use maud::{Markup, html};
use poem::{Response, http::StatusCode};
use uuid::Uuid;

use super::{
    columns, csv,
    page::{self, NoticeKind, Section},
    plans,
    stock_file::{Answers, NoTable, header, look, read},
    visitor::{PageResult, Visit},
};
use crate::api::ApiError;
use ad_server_base::limits::table::{STOCK_FILE_BYTES, STOCK_FILE_COLUMNS, STOCK_FILES, STOCK_HEADERS};
use ad_server_store::StockFile;

/// Most bytes of the form with a file. Files that are a bit too large are refused by a sentence on the page itself.
pub(super) const MOST_FORM_BYTES: usize = 2 * STOCK_FILE_BYTES;

/// Longest name of a file, in characters.
const LONGEST_NAME: usize = 100;

/// `GET /console/import`: asks for a file.
pub(super) async fn form(visit: Visit) -> PageResult {
    check_possible(&visit)?;
    Ok(file_form(&visit, StatusCode::OK, None))
}

/// `POST /console/import`: takes a file, and leads to its columns, or to the plan if these are known.
pub(super) async fn upload(visit: Visit) -> PageResult {
    check_possible(&visit)?;
    let texts = visit.visitor.texts;
    let dealer = dealer(&visit)?;
    let Some(file) = visit.files.first() else { return Ok(refused(&visit, texts.no_file_chosen)) };
    if file.bytes.starts_with(b"%PDF") {
        return Ok(refused(&visit, texts.file_is_pdf));
    }
    if file.bytes.len() > STOCK_FILE_BYTES {
        return Ok(refused(&visit, texts.file_too_large));
    }
    let name = file_name(&file.name);
    let draft = match looked(&visit, &dealer, (&name, &file.bytes), None).await? {
        Ok(draft) => draft,
        Err(why) => return Ok(no_table(&visit, &why)),
    };
    let (console, id) = (&visit.visitor.console, visit.visitor.context.ids.next());
    let (database, now) = (&console.database, console.clock.now());
    let added = database.add_stock_file(id, &dealer.code, (&name, &file.bytes), now, STOCK_FILES).await;
    added.map_err(ServiceError::from)?;
    if let Some((answers, true)) = known(&visit, &dealer, &draft).await? {
        let stored = StockFile { name, content: file.bytes.to_vec(), plan: None };
        let found = looked(&visit, &dealer, (&stored.name, &stored.content), Some(&answers)).await?;
        if let Ok(draft) = found
            && let Ok(mapping) = Mapping::parse(&draft.mapping, &visit.visitor.context.service.rulebook().catalogue)
        {
            return compared(&visit, &dealer, (id, stored), (&draft, mapping), &answers).await;
        }
    }
    Ok(visit.visitor.redirect(&columns_address(&visit, &dealer, id)))
}

/// `GET /console/import/columns?id=…`: what the columns mean.
pub(super) async fn columns(visit: Visit) -> PageResult {
    check_possible(&visit)?;
    let dealer = dealer(&visit)?;
    let Some((id, file)) = stored(&visit, &dealer).await? else { return Ok(gone(&visit)) };
    let draft = match looked(&visit, &dealer, (&file.name, &file.content), None).await? {
        Ok(draft) => draft,
        Err(why) => return Ok(no_table(&visit, &why)),
    };
    let answers = known(&visit, &dealer, &draft).await?.map(|(answers, _)| answers);
    let draft = match &answers {
        None => draft,
        Some(answers) => match looked(&visit, &dealer, (&file.name, &file.content), Some(answers)).await? {
            Ok(draft) => draft,
            Err(why) => return Ok(no_table(&visit, &why)),
        },
    };
    let action = columns_address(&visit, &dealer, id);
    Ok(columns::page(&visit, &action, &file.name, &draft, answers.as_ref(), None))
}

/// `POST /console/import/columns?id=…`: compares the file with the stock by what was chosen, unless further values have to be known.
pub(super) async fn compare(visit: Visit) -> PageResult {
    check_possible(&visit)?;
    let (texts, dealer) = (visit.visitor.texts, dealer(&visit)?);
    let Some((id, file)) = stored(&visit, &dealer).await? else { return Ok(gone(&visit)) };
    let named = match looked(&visit, &dealer, (&file.name, &file.content), None).await? {
        Ok(draft) => draft,
        Err(why) => return Ok(no_table(&visit, &why)),
    };
    let answers = answers(&visit, &named);
    let draft = match looked(&visit, &dealer, (&file.name, &file.content), Some(&answers)).await? {
        Ok(draft) => draft,
        Err(why) => return Ok(no_table(&visit, &why)),
    };
    let action = columns_address(&visit, &dealer, id);
    let again = |notice: &str| Ok(columns::page(&visit, &action, &file.name, &draft, Some(&answers), Some(notice)));
    if visit.field("do") != Some("compare") {
        return again("");
    }
    let is_asked =
        |map: &str, value: &str| visit.form.iter().any(|(name, _)| *name == columns::value_input(map, value));
    if draft.unknown.iter().any(|of| of.values.iter().any(|(value, ..)| !is_asked(&of.map, value))) {
        return again(texts.values_to_answer);
    }
    let Ok(mapping) = Mapping::parse(&draft.mapping, &visit.visitor.context.service.rulebook().catalogue) else {
        return again(texts.columns_not_possible);
    };
    let console = &visit.visitor.console;
    let text = serde_json::to_string(&answers).map_err(|_| ApiError::Internal)?;
    let header = header(&draft);
    let keep = console.database.keep_column_choices(&dealer.code, &header, &text, console.clock.now(), STOCK_HEADERS);
    keep.await.map_err(ServiceError::from)?;
    compared(&visit, &dealer, (id, file), (&draft, mapping), &answers).await
}

/// Makes the plan of a file, and leads to it.
async fn compared(
    visit: &Visit,
    dealer: &Dealer,
    (id, file): (Uuid, StockFile),
    (draft, mapping): (&Draft, Mapping),
    answers: &Answers,
) -> PageResult {
    let (context, access) = (&visit.visitor.context, &visit.caller.scope);
    let Some(stock) = &context.stock else { return Err(ApiError::unknown_path()) };
    // A comparison with other columns takes the place of the last one.
    if let Some(before) = file.plan
        && let Ok(StockPlan { state: PlanState::Ready, .. }) = stock.plans.plan(access, before).await
    {
        stock.plans.cancel(access, before).await?;
    }
    let accepts_http = context.service.rulebook().image_schemes().contains(&"http");
    let mapping = if accepts_http { mapping.with_http_images() } else { mapping };
    let has_types = draft.columns.iter().any(|column| column.field.as_deref() == Some(columns::VEHICLE));
    let options = PlanOptions {
        missing: if answers.hides_missing { MissingAds::Hide } else { MissingAds::Keep },
        vehicle_types: (!has_types).then(|| vec![draft.vehicle_type.clone()]),
        dealer_code: Some(dealer.code.clone()),
        ..PlanOptions::default()
    };
    let StockFile { name, content, .. } = file;
    plans::make_room(visit).await?;
    let plan = stock.compare(access, options, move |each| read((&name, &content), &mapping, each)).await;
    let plan = match plan {
        Err(error) if error.code() == Code::TooManyPlans => {
            return Ok(plans::too_many(visit, visit.visitor.texts.import));
        }
        plan => plan?,
    };
    let noted = visit.visitor.console.database.set_plan_of_stock_file(id, plan.id).await;
    noted.map_err(ServiceError::from)?;
    let of = columns_address(visit, dealer, id);
    let query = of.split_once('?').map_or("", |(_, query)| query).replacen("id=", "file=", 1);
    plans::shown(visit, plan.id, &format!("&{query}"))
}

/// What the columns of a file are, where long computations run.
async fn looked(
    visit: &Visit,
    dealer: &Dealer,
    file: (&str, &[u8]),
    answers: Option<&Answers>,
) -> Result<Result<Draft, NoTable>, ApiError> {
    let context = &visit.visitor.context;
    let catalogue = &context.service.rulebook().catalogue;
    let known = Known { choices: answers.map(|answers| &answers.choices), currency: Some(&dealer.currency) };
    let scope = visit.caller.scope.name();
    Ok(context.limits.processor.run(scope, async { look(file, catalogue, known) }).await)
}

/// What the form says.
fn answers(visit: &Visit, named: &Draft) -> Answers {
    let mut answers = Answers { hides_missing: visit.field("missing") == Some("hide"), ..Answers::default() };
    let choices = &mut answers.choices;
    choices.vehicle_type = visit.field("vehicle_type").map(str::to_owned);
    choices.skips_sold = visit.field("skip_sold").is_some();
    for (at, column) in named.columns.iter().enumerate() {
        let Some(chosen) = visit.field(&columns::column_input(at)) else { continue };
        let (field, unit) = chosen.split_once('|').unwrap_or((chosen, ""));
        let unit = (!unit.is_empty()).then(|| unit.to_owned());
        let chosen = (!field.is_empty()).then(|| ChosenField { field: field.to_owned(), unit });
        choices.columns.insert(column.column.clone(), chosen);
    }
    for (name, value) in visit.form.iter().filter(|(_, value)| !value.is_empty()) {
        if let Some((map, text)) = columns::value_of_input(name) {
            choices
                .values
                .entry(map.to_owned())
                .or_default()
                .insert(text.to_owned(), value.split('|').map(str::to_owned).collect());
        }
    }
    answers
}

/// What was said about these columns before; of a file that the console has written, what its columns are. And whether these are all.
async fn known(visit: &Visit, dealer: &Dealer, draft: &Draft) -> Result<Option<(Answers, bool)>, ApiError> {
    let database = &visit.visitor.console.database;
    let kept = database.column_choices(&dealer.code, &header(draft)).await.map_err(ServiceError::from)?;
    if let Some(answers) = kept.and_then(|text| serde_json::from_str(&text).ok()) {
        return Ok(Some((answers, true)));
    }
    let names: Vec<_> = draft.columns.iter().map(|column| &*column.column).collect();
    let own = csv::own_choices(&names);
    Ok(own.map(|(choices, is_all)| (Answers { choices, ..Answers::default() }, is_all)))
}

/// The file that the query names, with its id.
async fn stored(visit: &Visit, dealer: &Dealer) -> Result<Option<(Uuid, StockFile)>, ApiError> {
    let Some(id) = visit.parameter("id").and_then(|id| id.parse().ok()) else { return Ok(None) };
    let file = visit.visitor.console.database.stock_file(id, &dealer.code).await.map_err(ServiceError::from)?;
    Ok(file.map(|file| (id, file)))
}

/// The dealer whose file it is.
fn dealer(visit: &Visit) -> Result<Arc<Dealer>, ApiError> {
    let mut dealers = visit.visitor.context.service.dealers_in(&visit.caller.scope);
    let found = match visit.parameter("dealer_code") {
        Some(wanted) => dealers.into_iter().find(|dealer| dealer.code == wanted),
        None if dealers.len() == 1 => dealers.pop(),
        None => None,
    };
    Ok(found.ok_or(ServiceError::NotFound)?)
}

fn check_possible(visit: &Visit) -> Result<(), ApiError> {
    if plans::is_there(visit) { Ok(()) } else { Err(ApiError::unknown_path()) }
}

fn file_name(sent: &str) -> String {
    let name = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect()
}

fn columns_address(visit: &Visit, dealer: &Dealer, id: Uuid) -> String {
    let of_group = matches!(visit.caller.scope, Access::Group(_));
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("id", &id.to_string());
    if of_group {
        query.append_pair("dealer_code", &dealer.code);
    }
    format!("/import/columns?{}", query.finish())
}

/// The form that takes a file, or the dealers to choose from.
fn file_form(visit: &Visit, status: StatusCode, problem: Option<&Markup>) -> Response {
    let (visitor, texts) = (&visit.visitor, visit.visitor.texts);
    let dealer = dealer(visit).ok();
    let of_group = matches!(visit.caller.scope, Access::Group(_));
    let of = |path: &str, dealer: &Dealer| {
        let query =
            url::form_urlencoded::Serializer::new(String::new()).append_pair("dealer_code", &dealer.code).finish();
        visitor.address(&if of_group { format!("{path}?{query}") } else { path.to_owned() })
    };
    let content = html! {
        p.crumbs { a href=(visitor.address("/stock")) { (texts.stock) } }
        h1 { (texts.import) }
        @if let Some(problem) = problem { (page::notice(NoticeKind::Error, problem)) }
        @match &dealer {
            Some(dealer) => {
                p.lead { (texts.import_lead) }
                form.panel method="post" action=(of("/import", dealer)) enctype="multipart/form-data" {
                    @if of_group { p { (texts.dealer) ": " strong { (dealer.name) } } }
                    div.field {
                        label for="file" { (texts.stock_file) }
                        input.full #file type="file" name="file" required
                            accept=".xlsx,.ods,.csv,.xls,.txt,.tsv,text/csv" aria-describedby="file-help";
                        p.help #file-help { (texts.stock_file_help) }
                    }
                    div.actions { button.primary { (texts.read_file) } }
                }
                p.faint { (texts.import_steps) }
                p { a href=(of("/stock.xlsx", dealer)) download { (texts.import_own) } }
            }
            None => {
                p.lead { (texts.import_for_whom) }
                ul.choices {
                    @for dealer in visitor.context.service.dealers_in(&visit.caller.scope) {
                        li { a.button href=(of("/import", &dealer)) { (dealer.name) } }
                    }
                }
            }
        }
    };
    page::page_with_status(visit, status, Section::Stock, texts.import, &content)
}

/// The form again, with what is wrong with the file.
fn refused(visit: &Visit, why: &str) -> Response {
    file_form(visit, StatusCode::BAD_REQUEST, Some(&html! { p { (why) } }))
}

fn no_table(visit: &Visit, why: &NoTable) -> Response {
    let texts = visit.visitor.texts;
    match why {
        NoTable::Empty => refused(visit, texts.file_is_empty),
        NoTable::NoColumns => refused(visit, texts.file_is_no_table),
        NoTable::TooManyColumns => {
            refused(visit, &format!("{} {STOCK_FILE_COLUMNS}.", texts.file_has_too_many_columns))
        }
        NoTable::Unreadable(_) => refused(visit, texts.file_not_readable),
    }
}

/// The file is no longer kept.
fn gone(visit: &Visit) -> Response {
    file_form(visit, StatusCode::NOT_FOUND, Some(&html! { p { (visit.visitor.texts.file_is_gone) } }))
}
