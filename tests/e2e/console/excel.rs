//! Stock as a file from Excel and back: without scripts over HTTP, and in a browser in English and Swedish.

use std::{io::Write, path::Path};

use ad_migrate::readers::{Reader, Settings};
use ad_tests::{Browser, Client, Server, eventually};
use rust_xlsxwriter::Workbook;
use serde_json::json;

use super::{Visitor, browser::sign_in, editor::attribute, html};
use crate::payloads::{plain_boat, plain_car};

pub(super) const HEAD: [&str; 9] =
    ["Lagernr", "Regnr", "Märke", "Modell", "Årsmodell", "Miltal", "Pris SEK", "Utförande", "Säljartext"];

/// A row of the stock, of this number and price.
fn row(number: u32, brand: &str, year: &str, price: u32) -> Vec<String> {
    let texts = [
        &format!("L-{number}"),
        &format!("XLS{number:03}"),
        brand,
        "V60",
        year,
        &(1000 + number * 100).to_string(),
        &price.to_string(),
        "D4 Momentum",
        "En fin bil som är servad varje år. Ring så berättar vi mer!",
    ];
    texts.map(str::to_owned).to_vec()
}

/// Ten rows, the fifth with a year that is none.
pub(super) fn ten_rows() -> Vec<Vec<String>> {
    (1..=10)
        .map(|number| row(number, "Volvo", if number == 5 { "tjugo" } else { "2019" }, 100_000 + number * 1000))
        .collect()
}

pub(super) fn xlsx(head: &[&str], rows: &[Vec<String>]) -> Vec<u8> {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in (0..).zip(head) {
        sheet.write(0, column, *name).unwrap();
    }
    for (at, row) in (1..).zip(rows) {
        for (column, text) in (0..).zip(row) {
            match text.parse::<f64>() {
                Ok(number) => sheet.write(at, column, number).unwrap(),
                Err(_) => sheet.write(at, column, text).unwrap(),
            };
        }
    }
    workbook.save_to_buffer().unwrap()
}

/// Sends a file by the form, and returns the address of the next page.
pub(crate) async fn send(visitor: &Visitor, name: &str, bytes: &[u8]) -> Result<String, String> {
    let head = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
    );
    let body = [head.as_bytes(), bytes, b"\r\n--b--\r\n"].concat();
    let answer = visitor.post_file("/console/import", "multipart/form-data; boundary=b", body).await;
    match answer.status.as_u16() {
        303 => Ok(answer.header("location").unwrap().to_owned()),
        _ => Err(html(&answer)),
    }
}

/// What a browser sends of the form of columns, without a button.
pub(crate) fn form_of(page: &str) -> Vec<(String, String)> {
    let form =
        page.split("<form method=\"post\" action=\"/console/import/columns").nth(1).expect("the page has the form");
    let form = form.split("</form>").next().unwrap();
    let (mut pairs, mut select) = (Vec::new(), None);
    for part in form.split('<') {
        let tag = format!(" {}", part.split('>').next().unwrap());
        let (name, value) = (attribute(&tag, "name").unwrap_or_default(), attribute(&tag, "value").unwrap_or_default());
        if tag.starts_with(" select") {
            select = Some(name);
        } else if tag.starts_with(" option") && tag.contains(" selected") {
            pairs.push((select.clone().unwrap(), value));
        } else if tag.starts_with(" input") && tag.contains(" checked") {
            pairs.push((name, value));
        }
    }
    pairs
}

/// The name of the choice of a column.
fn choice_of(page: &str, column: &str) -> String {
    let before = page.split(&format!("<span data-foreign>{column}</span>")).next().unwrap();
    attribute(&format!(" {}", before.rsplit("<label").next().unwrap()), "for").unwrap()
}

/// The pages of the columns of a file with ten rows, one of them with an unknown word, and of its plan.
pub(super) async fn brought_in(client: &Client) -> [String; 2] {
    let visitor = Visitor::signed_in(client).await;
    let mut rows = ten_rows();
    "Wolvo".clone_into(&mut rows[1][2]);
    let columns = send(&visitor, "stock.xlsx", &xlsx(&HEAD, &rows)).await.unwrap();
    let made = post(&visitor, &columns, &form_of(&visitor.page(&columns).await), &[("do", "compare")]).await;
    [columns, made.header("location").unwrap().to_owned()]
}

async fn post(visitor: &Visitor, path: &str, form: &[(String, String)], also: &[(&str, &str)]) -> ad_tests::Answer {
    let is_replaced = |name: &str| also.iter().any(|(other, _)| *other == name);
    let own = form.iter().filter(|(name, _)| !is_replaced(name)).map(|(name, value)| (name.as_str(), value.as_str()));
    let all: Vec<_> = own.chain(also.iter().copied()).collect();
    visitor.post(path, &all).await
}

#[tokio::test]
async fn a_file_is_read_corrected_compared_and_applied_without_scripts() {
    let server = Server::start().await;
    // One ad is there already, with photos that the file knows nothing of, and one that the file does not have.
    let mut known = plain_car("L-1", "XLS001");
    known["body"] = json!("An older text.");
    known["category_fields"]["brand"] = json!("bmw");
    known["category_fields"].as_object_mut().unwrap().remove("model");
    known["price"] = json!([{"type": "list", "amount": 120_000}, {"type": "leasing", "amount": 2000}]);
    known["category_fields"]["salesperson"] = json!("anna@north.example");
    server.client.post("/v4/car", &known).await.expect(201);
    server.client.post("/v4/car", &plain_car("other", "OTH001")).await.expect(201);
    server.client.published("L-1").await;
    server.client.published("other").await;
    let visitor = Visitor::signed_in(&server.client).await;
    for page in ["/console/stock", "/console/new", "/console/help"] {
        assert!(visitor.page(page).await.contains("/console/import\""), "{page}");
    }

    let mut rows = ten_rows();
    rows[8][2] = "Wolvo".to_owned();
    rows.push(row(3, "Volvo", "2020", 1));
    let columns = send(&visitor, "Lager v 47.xlsx", &xlsx(&HEAD, &rows)).await.unwrap();
    let page = visitor.page(&columns).await;
    for expected in ["Lager v 47.xlsx", "11 rows", "XLS001", "D4 Momentum", "Wolvo", "mileage|mil\" selected"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let form = form_of(&page);
    let of = |name: &str| form.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()).unwrap();
    assert_eq!(of(&choice_of(&page, "Regnr")), "category_fields.registration_number");
    assert_eq!(of("missing"), "keep");
    // A column is corrected, another one left out; a word gets its meaning.
    let (version, text) = (choice_of(&page, "Utförande"), choice_of(&page, "Säljartext"));
    let corrected = [(&*version, "category_fields.model_type"), (&*text, "body"), ("do", "compare")];
    let word = form.iter().find(|(name, _)| name.starts_with("value|")).expect("a word is not known");
    assert!(word.0.ends_with("|Wolvo") && word.1 == "volvo", "{word:?}");
    let made = post(&visitor, &columns, &form, &corrected).await;
    assert_eq!(made.status, 303, "{}", html(&made));
    let plan = made.header("location").unwrap().to_owned();
    let preview = visitor.page(&plan).await;
    for expected in [
        "8 are new",
        "1 change",
        "2 not possible",
        "XLS002",
        "Row 6",
        "tjugo",
        "1100 mil",
        "Row 12",
        "is in another row too",
        "120\u{202f}000 SEK",
        "101\u{202f}000 SEK",
        "An older text.",
        "Brand: BMW → <strong>Volvo</strong>",
        "Model: – → <strong>V60</strong>",
        "New ads are shown on the marketplaces at once.",
        "Correct the columns",
    ] {
        assert!(preview.contains(expected), "{expected}: {preview}");
    }
    assert!(!preview.contains("OTH001"), "ads that are not in the file are left: {preview}");
    let invalid = visitor.page(&format!("{plan}&kind=invalid")).await;
    assert!(invalid.contains("Row 6") && !invalid.contains("Row 3<"), "{invalid}");

    // Back to the columns, and the plan of other ones replaces the first.
    let again = visitor.page(&columns).await;
    assert!(form_of(&again).contains(&(version.clone(), "category_fields.model_type".to_owned())), "{again}");
    let hides = post(&visitor, &columns, &form_of(&again), &[("missing", "hide"), ("do", "compare")]).await;
    let hiding = hides.header("location").unwrap().to_owned();
    assert!(visitor.page(&hiding).await.contains("1 are hidden"), "{}", visitor.page(&hiding).await);
    let cancelled = visitor.page(&plan).await;
    assert!(cancelled.contains("Cancelled") && cancelled.contains(">Nothing was changed</h1>"), "{cancelled}");
    let keeps = post(&visitor, &columns, &form_of(&again), &[("missing", "keep"), ("do", "compare")]).await;
    let plan = keeps.header("location").unwrap().to_owned();

    assert_eq!(visitor.post(&plan, &[("do", "apply")]).await.status, 303);
    eventually("the changes are made", async || visitor.page(&plan).await.contains("9 done").then_some(())).await;
    for source_id in ["L-1", "L-2", "L-9", "L-10"] {
        eventually("it is live", async || {
            let ad = server.client.ad(source_id).await;
            (ad["visible"] == true && ad["marketplace_ad_id"].is_string() && ad["price"][0]["amount"] != 120_000)
                .then_some(())
        })
        .await;
    }
    let ad = server.client.ad("L-1").await;
    assert_eq!(ad["category_fields"]["salesperson"], "anna@north.example", "what the file does not have stays: {ad}");
    assert_eq!(ad["price"].as_array().unwrap().len(), 2, "{ad}");
    assert_eq!(ad["category_fields"]["model_type"], "D4 Momentum");

    // The next file with the same columns is read without questions, also by a colleague.
    let colleague = Visitor::with_token(&server, &["--dealer-code", "north-cars"]).await;
    let next: Vec<_> = (1..=3).map(|number| row(number, "Volvo", "2019", 90_000)).collect();
    let plan = send(&colleague, "next.xlsx", &xlsx(&HEAD, &next)).await.unwrap();
    assert!(plan.starts_with("/console/plan?id="), "{plan}");
    let preview = colleague.page(&plan).await;
    assert!(preview.contains("3 change") && preview.contains("90\u{202f}000 SEK"), "{preview}");
    // Of another dealer it is a stranger, and so is the file.
    let south = Visitor::with_token(&server, &["--dealer-code", "south-cars"]).await;
    assert!(html(&south.get(&columns).await).contains("no longer here"));
    assert!(send(&south, "next.xlsx", &xlsx(&HEAD, &next)).await.unwrap().contains("/import/columns"));
    assert_eq!(Visitor::with_token(&server, &["--operator"]).await.get("/console/import").await.status, 403);
}

#[tokio::test]
async fn hostile_files_are_refused_with_a_sentence() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let zip_without_end = xlsx(&HEAD, &ten_rows())[..2000].to_vec();
    let wide = vec!["a".to_owned(); 300].join(";") + "\n" + &vec!["1"; 300].join(";") + "\n";
    for (name, bytes, expected) in [
        ("empty.xlsx", Vec::new(), "The file has no rows"),
        ("spaces.csv", b"  \n \n".to_vec(), "The file has no rows"),
        ("head.csv", b"Regnr;Pris\n".to_vec(), "The file has no rows"),
        ("letter.txt", b"Dear Sir\nthank you for the car\nYours\n".to_vec(), "The file is no table"),
        ("photo.xlsx", ad_tests::photos::jpeg(&ad_tests::photos::sound(1)), "cannot be read as a table"),
        ("prices.pdf", b"%PDF-1.7\n%".to_vec(), "A PDF is not a table"),
        ("cut.xlsx", zip_without_end, "cannot be read as a table"),
        ("wide.csv", wide.into_bytes(), "too many columns: at most 200"),
        ("large.csv", b"Regnr;Pris\nABC123;1\n".repeat(200_001), "The file is too large"),
    ] {
        let refused = send(&visitor, name, &bytes).await.unwrap_err();
        assert!(refused.contains(expected) && refused.contains("name=\"file\""), "{name}: {refused}");
        assert!(!refused.contains("/tmp"), "{name}: {refused}");
    }
    let refused = visitor.post_file("/console/import", "multipart/form-data; boundary=b", b"--b--\r\n".to_vec()).await;
    assert!(html(&refused).contains("Choose a file first"), "{}", html(&refused));
    let huge = visitor.post_file("/console/import", "multipart/form-data; boundary=b", vec![b' '; 9_000_000]).await;
    assert_eq!(huge.status, 413);
    assert!(html(&huge).contains("too large to be sent"), "{}", html(&huge));
    // A file in which no row can be used is told so, and changes nothing.
    let rows: Vec<_> = (1..=2).map(|number| row(number, "Volvo", "tjugo", 1)).collect();
    let columns = send(&visitor, "none.xlsx", &xlsx(&HEAD, &rows)).await.unwrap();
    let made = post(&visitor, &columns, &form_of(&visitor.page(&columns).await), &[("do", "compare")]).await;
    let plan = visitor.page(made.header("location").unwrap()).await;
    assert!(plan.contains("No row can be used") && plan.contains("Correct the columns"), "{plan}");
}

#[tokio::test]
async fn the_stock_goes_out_as_a_spreadsheet_and_comes_in_again() {
    let server = Server::start().await;
    let mut car = plain_car("=1+1", "OUT001");
    car["price"] = json!([{"type": "list", "amount": 189_900.5}]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("=1+1").await;
    let visitor = Visitor::signed_in(&server.client).await;
    let file = visitor.get("/console/stock.xlsx?status=live").await;
    assert_eq!(file.status, 200);
    assert!(file.header("content-disposition").unwrap().contains("stock.xlsx"));
    let mut stored = tempfile::NamedTempFile::new().unwrap();
    stored.write_all(&file.bytes).unwrap();
    let rows = read(stored.path());
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    let cell = |name: &str| row.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str());
    let day = server.client.ad("=1+1").await["created"].as_str().unwrap()[..10].to_owned();
    for (name, text) in [
        ("Plate", "OUT001"),
        ("Status", "Live"),
        ("Price", "189900.5"),
        ("Currency", "SEK"),
        ("Days in stock", "0"),
        ("In stock since", &*day),
    ] {
        assert_eq!(cell(name), Some(text), "{row:?}");
    }
    assert!(cell("Quality").unwrap().parse::<u8>().is_ok(), "{row:?}");
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    assert_eq!(reader.get("/console/stock.xlsx").await.status, 200);
    assert_eq!(reader.get("/console/import").await.status, 403);
}

#[tokio::test]
async fn an_own_file_comes_back_as_it_is_in_each_language() {
    let server = Server::start().await;
    let price = |kind: &str, amount: u32| json!({"type": kind, "amount": amount, "currency": "SEK"});
    let mut ads =
        vec![("car", plain_car("L-1", "OWN001")), ("car", plain_car("L-2", "OWN002")), ("boat", plain_boat())];
    ads[0].1["price"] = json!([price("list", 302_600)]);
    ads[1].1["price"] = json!([{"type": "leasing", "amount": 3995}]);
    for (vehicle_type, ad) in &ads {
        server.client.post(&format!("/v4/{vehicle_type}"), ad).await.expect(201);
        server.client.published(ad["source_id"].as_str().unwrap()).await;
    }
    let reduced = json!({"price": [price("list", 302_600), price("reduced", 299_900)]});
    server.client.patch("/v4/car/L-1", &reduced).await.expect(200);
    let mut visitor = Visitor::signed_in(&server.client).await;
    let speak = |visitor: &mut Visitor, language: &str| {
        visitor.cookies.retain(|(name, _)| name != "console_language");
        visitor.cookies.push(("console_language".to_owned(), language.to_owned()));
    };
    for language in ["en", "sv"] {
        speak(&mut visitor, language);
        for name in ["stock.xlsx", "stock.csv"] {
            let file = visitor.get(&format!("/console/{name}")).await;
            // Nobody is asked what the columns are.
            let plan = send(&visitor, name, &file.bytes).await.unwrap();
            let preview = visitor.page(&plan).await;
            let expected = if language == "en" { "3 stay as they are" } else { "3 blir som de är" };
            assert!(preview.contains(expected), "{name} {language}: {preview}");
            // Left as it is, it makes room for the next ones, of which at most three wait.
            assert!(preview.contains("value=\"cancel\""), "{preview}");
        }
    }
    // Of prices that were changed in the file, large steps are asked about, and a leasing price stays one.
    speak(&mut visitor, "en");
    let file = String::from_utf8(visitor.get("/console/stock.csv").await.bytes.to_vec()).unwrap();
    let file = file.replace("302600", "3026000").replace("3995", "2995");
    let plan = send(&visitor, "stock.csv", file.as_bytes()).await.unwrap();
    let preview = visitor.page(&plan).await;
    for expected in ["2 change", "900 % higher. Is that right?", "2\u{202f}995 SEK/month"] {
        assert!(preview.contains(expected), "{expected}: {preview}");
    }
}

#[tokio::test]
async fn units_and_currencies_are_those_of_the_dealer_and_the_preview_shows_the_whole_ad() {
    let server = Server::start().await;
    let mut visitor = Visitor::signed_in(&server.client).await;
    let file = "Plate;Vehicle type;Brand;Model;Model year;Mileage;Price;Ad text\n\
        NEW001;Car;Volvo;V60;2019;42 000 km;100000;A fine car that was serviced each year. Call us!\n\
        NEW002;Car;Volvo;V60;2020;51000;100000;A fine car that was serviced each year. Call us!\n";
    let columns = send(&visitor, "stock.csv", file.as_bytes()).await.unwrap();
    let page = visitor.page(&columns).await;
    for expected in ["mileage|km\" selected", "Are these values in km?", "\"price.list\" selected"] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    assert!(!page.contains("Are these prices in"), "{page}");
    let made = post(&visitor, &columns, &form_of(&page), &[("do", "compare")]).await;
    let plan = made.header("location").unwrap().to_owned();
    let price = "<span class=\"price\">100\u{202f}000";
    let of = |name: &str, value: &str| format!("<dt>{name}</dt><dd>{value}</dd>");
    let english = visitor.page(&plan).await;
    for expected in [
        &format!("{price} SEK</span> · 2019 · 42\u{202f}000 km"),
        &format!("{price} SEK</span> · 2020 · 51\u{202f}000 km"),
        &*of("Vehicle type", "Car"),
        &of("Brand", "Volvo"),
        &of("Model", "V60"),
    ] {
        assert!(english.contains(expected), "{expected}: {english}");
    }
    assert!(english.contains("<dt>Ad text</dt><dd>A fine car"), "{english}");
    visitor.cookies.push(("console_language".to_owned(), "sv".to_owned()));
    let swedish = visitor.page(&plan).await;
    for expected in [&format!("{price} kr</span> · 2019"), &*of("Fordonstyp", "Personbil"), &of("Märke", "Volvo")] {
        assert!(swedish.contains(expected), "{expected}: {swedish}");
    }
}

#[tokio::test]
async fn an_own_file_with_more_columns_is_asked_about() {
    let server = Server::start().await;
    server.client.post("/v4/car", &plain_car("L-1", "OWN001")).await.expect(201);
    server.client.published("L-1").await;
    let visitor = Visitor::signed_in(&server.client).await;
    let file = String::from_utf8(visitor.get("/console/stock.csv").await.bytes.to_vec()).unwrap();
    let [head, row] = file.lines().collect::<Vec<_>>()[..] else { panic!("{file}") };
    let row = row.replace("L-1", "L-2").replace("OWN001", "OWN002");
    let more = format!("{head},Brand,Model,Model year,Mileage\r\n{row},Volvo,V60,2019,42000\r\n");
    let columns = send(&visitor, "stock.csv", more.as_bytes()).await.unwrap();
    assert!(columns.contains("/import/columns"), "{columns}");
    let page = visitor.page(&columns).await;
    let form = form_of(&page);
    for (column, field) in [
        ("Plate", "category_fields.registration_number"),
        ("Price", "price.list"),
        ("Status", ""),
        ("Brand", "category_fields.brand"),
        ("Mileage", "category_fields.condition.mileage|km"),
    ] {
        let input = choice_of(&page, column);
        let chosen = form.iter().find(|(name, _)| *name == input).map_or("", |(_, value)| value);
        assert_eq!(chosen, field, "{column}: {page}");
    }
    assert!(page.contains("Are these values in km?"), "{page}");
    let made = post(&visitor, &columns, &form, &[("do", "compare")]).await;
    let preview = visitor.page(made.header("location").unwrap()).await;
    assert!(preview.contains("1 are new") && preview.contains("2019 · 42\u{202f}000 km"), "{preview}");
    // Once they are answered, they are known.
    let plan = send(&visitor, "stock.csv", more.as_bytes()).await.unwrap();
    assert!(plan.contains("/plan?id="), "{plan}");
}

#[tokio::test]
async fn the_file_to_start_from_has_the_ads_of_the_dealer() {
    let server = Server::start().await;
    let group = Visitor::with_token(&server, &["--dealer-group", "north"]).await;
    let page = group.page("/console/import?dealer_code=north-cars").await;
    assert!(page.contains("href=\"/console/stock.xlsx?dealer_code=north-cars\""), "{page}");
    let page = Visitor::signed_in(&server.client).await.page("/console/import").await;
    assert!(page.contains("href=\"/console/stock.xlsx\""), "{page}");
}

/// The cells of each row, by column.
fn read(file: &Path) -> Vec<Vec<(String, String)>> {
    let mut reader = Reader::open(file, &Settings::default()).unwrap();
    let mut all = Vec::new();
    while let Some(batch) = reader.next(None).unwrap() {
        let cells = |row: ad_migrate::readers::Row<'_>| {
            let named = row.cells().map(|(id, text)| (row.columns().name(id).to_owned(), text.to_owned()));
            named.collect::<Vec<_>>()
        };
        all.extend(batch.rows().map(cells));
    }
    all
}

#[tokio::test]
async fn somebody_brings_a_file_in_by_mouse_in_english_and_swedish() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    sign_in(&browser, &server.client).await;
    // From the first visit, in English.
    browser.click("#first-steps a[href$='/import']").await;
    let files = ["one", "two"].map(|name| folder.path().join(format!("{name}.xlsx")));
    std::fs::write(&files[0], xlsx(&HEAD, &ten_rows())).unwrap();
    let cheaper: Vec<_> = (1..=4).map(|number| row(number, "Volvo", "2019", 88_000)).collect();
    std::fs::write(&files[1], xlsx(&HEAD, &cheaper)).unwrap();
    browser.until("!!document.querySelector('#file')").await;
    browser.choose("#file", &files[..1]).await;
    browser.click("form[enctype] button.primary").await;
    browser.until("location.pathname === '/console/import/columns'").await;
    let choose = |column: &str, field: &str| {
        format!(
            "(() => {{ const label = [...document.querySelectorAll('.column-choice label')].find((it) => it.innerText === '{column}');\
             const select = document.getElementById(label.htmlFor); select.value = '{field}'; return select.value; }})()"
        )
    };
    assert_eq!(browser.eval(&choose("Utförande", "category_fields.model_type")).await, "category_fields.model_type");
    browser.become_phone().await;
    let width = browser.eval("document.documentElement.scrollWidth").await;
    assert_eq!(width, json!(390), "nothing is wider than a phone");
    browser.click("form .actions button[value=compare]").await;
    browser.until("location.pathname === '/console/plan' && document.body.innerText.includes('9 are new')").await;
    browser.click("button[value=apply]").await;
    browser.until("document.body.innerText.includes('9 done')").await;
    assert_eq!(server.client.ad("L-10").await["visible"], true);

    // The next one in Swedish, from the stock.
    browser.eval("document.cookie = 'console_language=sv; Path=/console'").await;
    browser.open(&format!("{}/console/stock", server.client.base)).await;
    // On a phone, the first car is in sight, and a button shows the others.
    browser.click(".heading label.menu").await;
    browser.click(".heading a[href$='/import']").await;
    browser.until("document.querySelector('h1')?.innerText === 'Importera'").await;
    browser.choose("#file", &files[1..]).await;
    browser.click("form[enctype] button.primary").await;
    browser.until("location.pathname === '/console/plan' && document.body.innerText.includes('4 ändras')").await;
    browser.click("button[value=apply]").await;
    browser.until("document.body.innerText.includes('4 klara')").await;
    assert_eq!(server.client.ad("L-2").await["price"][0]["amount"], 88_000);
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}
