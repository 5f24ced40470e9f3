//! Tables: `import`, `sync` and `validate` read them by a mapping, and `template` writes them.

use ad_core::categories;
use ad_tests::{Cli, Server};
use rust_xlsxwriter::{Format, Formula, Workbook, Worksheet};
use serde_json::{Value, json};

use super::sync::{of, planned};
use crate::payloads::plain_car;

const MAPPING: &str = "\
[vehicle]
type = \"car\"

[fields]
source_id = \"Nr\"
category_fields.registration_number = \"Regnr\"
category_fields.model_year = \"År\"
category_fields.brand = \"Märke\"
category_fields.in_traffic_date = { from = \"I trafik\", optional = true }
price.list = { from = \"Pris\", currency = \"SEK\" }
";

const HEADER: [&str; 5] = ["Nr", "Regnr", "År", "Märke", "Pris"];

/// Car `number` as a row, with a brand.
fn row(number: usize, brand: &str) -> [String; 5] {
    [format!("car-{number}"), format!("C{number:05}"), "2019".to_owned(), brand.to_owned(), "100000".to_owned()]
}

fn csv(rows: &[[String; 5]]) -> String {
    let header = HEADER.map(str::to_owned);
    std::iter::once(&header).chain(rows).map(|row| row.join(";") + "\n").collect()
}

/// Writes a header and rows from a row of a sheet on.
fn fill(sheet: &mut Worksheet, rows: &[[String; 5]]) {
    let header = HEADER.map(str::to_owned);
    for (at, row) in (0..).zip(std::iter::once(&header).chain(rows)) {
        for (column, cell) in (0..).zip(row) {
            sheet.write(at, column, cell).unwrap();
        }
    }
}

/// Ads that the server has.
async fn count(server: &Server) -> Value {
    server.client.get("/v4/ad?limit=1").await.expect(200)["count"].clone()
}

#[tokio::test]
async fn rows_are_imported_by_the_mapping_beside_the_file_and_named_by_their_lines() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    server.client.post("/v4/car", &plain_car("car-4", "C00004")).await.expect(201);
    cli.file("stock.toml", MAPPING);
    let rows = [row(1, "Volvo"), row(2, "Wolvo"), row(3, "Volvo"), row(4, "Volvo")];
    cli.file("stock.csv", csv(&rows));
    let ended = cli.run("import stock.csv --report report.json").await;
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stdout.contains("stock.csv:3: error: category_fields.brand is \"Wolvo\" (car-2)"), "{ended:?}");
    assert!(ended.stdout.contains("Column Märke: "), "{ended:?}");
    assert!(ended.stderr.contains("stock.csv: rows are read with the mapping stock.toml"), "{ended:?}");
    assert!(ended.stderr.contains("4 ads: 2 published, 2 rejected"), "{ended:?}");
    let report: Value = serde_json::from_slice(&std::fs::read(cli.home().join("report.json")).unwrap()).unwrap();
    let ads = report["ads"].as_array().unwrap();
    let outcomes: Vec<_> = ads.iter().map(|ad| (&ad["source_id"], &ad["line"], &ad["outcome"])).collect();
    let expected =
        [("car-1", 2, "published"), ("car-2", 3, "rejected"), ("car-3", 4, "published"), ("car-4", 5, "rejected")];
    let expected = expected.map(|(source_id, line, outcome)| (json!(source_id), json!(line), json!(outcome)));
    assert_eq!(outcomes, expected.each_ref().map(|(source_id, line, outcome)| (source_id, line, outcome)));
    assert!(ads[1]["message"].as_str().unwrap().contains("Column Märke: "), "an invalid row is not sent: {ads:#?}");
    assert!(ads[3]["message"].as_str().unwrap().contains("source_id"), "{ads:#?}");
    assert!(!ended.stderr.contains("rejected_row"), "{ended:?}");

    // Corrected in the table, and nothing is sent twice.
    cli.file("stock.csv", csv(&[row(1, "Volvo"), row(2, "Volvo"), row(3, "Volvo")]));
    let changed = cli.run("import stock.csv --resume").await;
    assert!(changed.code == 2 && changed.stderr.contains("--accept-changes"), "{changed:?}");
    let resumed = cli.run("import stock.csv --resume --accept-changes --output json").await.json();
    let published = resumed.as_array().unwrap().iter().filter(|ad| ad["outcome"] == "published").count();
    assert_eq!((published, count(&server).await), (3, json!(4)));
    let rejects = cli.run("import stock.csv --rejects rejects.ndjson --resume").await;
    assert!(rejects.code == 2 && rejects.stderr.contains("correct the rows in the table"), "{rejects:?}");
}

#[tokio::test]
async fn a_table_without_a_mapping_says_what_to_run_and_nothing_is_sent() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("stock.csv", csv(&[row(1, "Volvo")]));
    let mut book = Workbook::new();
    fill(book.add_worksheet(), &[row(1, "Volvo")]);
    cli.file("stock.xlsx", book.save_to_buffer().unwrap());
    for command in ["import", "validate", "sync plan", "sync apply --yes"] {
        for file in ["stock.csv", "stock.xlsx"] {
            let ended = cli.run(&format!("{command} {file}")).await;
            let told = format!(
                "error: {file} is a table; a mapping must say which column is which field\n  help: to draft one from the columns: ad-migrate inspect {file} --out stock.toml\n"
            );
            assert!(ended.code == 2 && ended.stderr.starts_with(&told), "{command}: {ended:?}");
        }
    }
    // Payloads are payloads, whatever the file is called.
    cli.file("payloads.csv", plain_car("car-9", "C00009").to_string());
    cli.run("validate payloads.csv").await.done();
    assert_eq!(count(&server).await, json!(0));
}

#[tokio::test]
async fn a_stock_is_kept_by_a_table_and_an_ad_with_an_invalid_row_is_left() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("map.toml", MAPPING);
    let mut rows: Vec<_> = (1..=4).map(|number| row(number, "Volvo")).collect();
    cli.file("stock.csv", csv(&rows));
    cli.run("sync apply stock.csv --mapping map.toml --yes").await.done();

    rows[0][4] = "90000".to_owned();
    rows[1][3] = "Wolvo".to_owned();
    rows.remove(2);
    cli.file("stock.csv", csv(&rows));
    let plan = planned(&cli, "stock.csv --mapping map.toml --allow-removals 1").await;
    assert_eq!(
        (of(&plan, "update"), of(&plan, "delete"), of(&plan, "left")),
        (vec!["car-1"], vec!["car-3"], vec!["car-2"])
    );
    assert_eq!(plan.iter().find(|row| row["act"] == "left").unwrap()["line"], 3);

    // A saved plan knows its mapping, and is for what both are now.
    let save = "sync plan stock.csv --mapping map.toml --allow-removals 1 --save plan.ndjson";
    assert_eq!(cli.run(save).await.code, 3);
    cli.file("map.toml", MAPPING.replace("\"Pris\", ", "\"Pris\", scale = 10, "));
    let stale = cli.run("sync apply plan.ndjson --yes").await;
    assert!(stale.code == 3 && stale.stderr.contains("has changed since the plan was made"), "{stale:?}");
    cli.file("map.toml", MAPPING);
    let applied = cli.run("sync apply plan.ndjson --yes").await;
    assert!(applied.code == 0 && applied.stderr.contains("1 updated, 1 deleted"), "{applied:?}");
    assert_eq!(server.client.ad("car-1").await["price"][0]["amount"], 90_000);
}

#[tokio::test]
async fn a_row_again_keeps_a_stock_from_being_changed() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("stock.toml", MAPPING);
    cli.file("stock.csv", csv(&[row(1, "Volvo"), row(2, "Volvo"), row(1, "Volvo")]));
    let ended = cli.run("sync apply stock.csv --yes").await;
    assert!(ended.code == 3 && ended.stderr.contains("stock.csv:4:"), "{ended:?}");
    assert!(ended.stderr.contains("duplicate source_id \"car-1\" (first on line 2)"), "{ended:?}");
    assert_eq!(count(&server).await, json!(0));
}

/// A workbook with a hidden sheet before the stock, a title that is a formula's result, and dates that are numbers.
fn workbook(wrong: bool) -> Vec<u8> {
    let mut book = Workbook::new();
    book.add_worksheet().set_name("Old").unwrap().set_hidden(true).write(0, 0, "sold").unwrap();
    let sheet = book.add_worksheet().set_name("Lager").unwrap();
    sheet.set_active(true);
    fill(sheet, &[row(1, "Volvo"), row(2, "Volvo")]);
    sheet.write(0, 5, "I trafik").unwrap();
    let date = rust_xlsxwriter::ExcelDateTime::from_ymd(2019, 5, 4).unwrap();
    sheet.write_with_format(1, 5, date, &Format::new().set_num_format("d mmm yy")).unwrap();
    let result = if wrong { "#DIV/0!" } else { "123000" };
    sheet.write(2, 4, Formula::new("=A1*2").set_result(result)).unwrap();
    if wrong {
        sheet.merge_range(1, 3, 2, 3, "Volvo", &Format::new()).unwrap();
    }
    book.save_to_buffer().unwrap()
}

#[tokio::test]
async fn workbooks_count_by_what_their_cells_show() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.file("stock.toml", MAPPING);
    cli.file("stock.xlsx", workbook(false));
    cli.run("import stock.xlsx").await.done();
    assert_eq!(server.client.ad("car-2").await["price"][0]["amount"], 123_000);
    assert_eq!(server.client.ad("car-1").await["category_fields"]["in_traffic_date"], "2019-05-04");

    cli.file("wrong.toml", MAPPING);
    cli.file("wrong.xlsx", workbook(true));
    let wrong = cli.run("validate wrong.xlsx").await;
    assert_eq!(wrong.code, 3, "{wrong:?}");
    assert!(wrong.stdout.contains("wrong.xlsx:3: error:") && wrong.stdout.contains("#DIV/0!"), "{wrong:?}");
}

#[tokio::test]
async fn what_is_no_table_is_one_clear_error() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    std::fs::create_dir(cli.home().join("stock.xlsx")).unwrap();
    cli.file("empty.csv", "");
    cli.file("half.xlsx", &workbook(false)[..2000]);
    cli.file("map.toml", MAPPING);
    cli.file("wrong.toml", MAPPING.replace("category_fields.brand", "category_fields.brnd"));
    cli.file("stock.csv", csv(&[row(1, "Volvo")]));
    let mut two = Workbook::new();
    let sheet = two.add_worksheet();
    fill(sheet, &[row(1, "Volvo")]);
    for (row, cells) in (3..).zip([["Customer", "Town"], ["North", "Luleå"], ["South", "Malmö"]]) {
        sheet.write(row, 0, cells[0]).unwrap().write(row, 1, cells[1]).unwrap();
    }
    cli.file("two.xlsx", two.save_to_buffer().unwrap());
    cli.file("two.csv", csv(&[row(1, "Volvo")]) + "\nCustomer;Town\nNorth;Luleå\nSouth;Malmö\n");
    for (line, code, told) in [
        ("import stock.xlsx --mapping map.toml", 2, "it is a folder; use a file in it"),
        ("import stock.xlsx", 2, "it is a folder; use a file in it"),
        ("import empty.csv", 2, "empty.csv is empty"),
        ("import missing.csv", 2, "there is no such file"),
        ("import half.xlsx --mapping map.toml", 2, "half.xlsx"),
        ("import stock.csv --mapping wrong.toml", 2, "Did you mean \"category_fields.brand\"?"),
        ("import stock.csv --mapping nowhere.toml", 2, "nowhere.toml"),
        ("import two.csv --mapping map.toml", 2, "two.csv: A second table begins on line 4 (\"Customer\", \"Town\")"),
        ("import two.xlsx --mapping map.toml", 2, "two.xlsx: A second table begins on line 4 (\"Customer\", \"Town\")"),
        ("sync apply two.csv --mapping map.toml --yes", 2, "Move each table to a file of its own."),
    ] {
        let ended = cli.run(line).await;
        assert_eq!(ended.code, code, "{line}: {ended:?}");
        assert!(ended.stderr.contains(told) && ended.stderr.matches("error:").count() == 1, "{line}: {ended:?}");
    }
    assert_eq!(count(&server).await, json!(0));
}

/// Replaces the source id of the example row of a template.
fn replace_example(cli: &Cli, file: &str, vehicle_type: &str) {
    let text = std::fs::read_to_string(cli.home().join(file)).unwrap();
    cli.file(file, text.replace(&format!("{vehicle_type}-1001"), "mine-1"));
}

#[tokio::test]
async fn the_template_of_each_type_can_be_imported_once_its_example_is_replaced() {
    let cli = Cli::new();
    for (name, _) in categories::typed() {
        if name == "trailer" {
            assert_eq!(cli.run("template trailer --csv").await.code, 2);
            continue;
        }
        for form in ["xlsx", "csv"] {
            let file = format!("{name}-{form}.{form}");
            cli.run(&format!("template {name} --{form} --out {file}")).await.done();
            let checked = cli.run(&format!("validate {file}")).await;
            assert!(checked.code == 3 && checked.stdout.contains("still the example row"), "{file}: {checked:?}");
        }
        replace_example(&cli, &format!("{name}-csv.csv"), name);
        let checked = cli.run(&format!("validate {name}-csv.csv")).await;
        assert!(checked.code == 0 && checked.stderr.contains("1 payload, 1 valid"), "{name}: {checked:?}");
    }
    let again = cli.run("template car --xlsx --out car-xlsx.xlsx").await;
    assert!(again.code == 2 && again.stderr.contains("exists and is not overwritten"), "{again:?}");
    let odd = cli.run("template car --xlsx --out car.csv").await;
    assert!(odd.code == 2 && odd.stderr.contains("must end with .xlsx"), "{odd:?}");
}

#[tokio::test]
async fn a_template_becomes_a_hidden_ad() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    cli.run("template car --csv").await.done();
    replace_example(&cli, "car.csv", "car");
    let imported = cli.run("import car.csv").await;
    assert!(imported.code == 0 && imported.stderr.contains("1 stored, hidden"), "{imported:?}");
    let ad = server.client.ad("mine-1").await;
    assert_eq!((&ad["visible"], &ad["price"][0]["type"]), (&json!(false), &json!("list")));
    assert!(ad["category_fields"]["equipments"].as_array().unwrap().len() > 1, "{ad:#}");
}

#[tokio::test]
async fn a_stock_plan_judges_rows_as_sync_does_and_keeps_the_true_reason() {
    let server = Server::start().await;
    let cli = Cli::of(&server);
    let header = MAPPING.replace("[fields]", "[fields]\nimage_urls = \"Bild\"");
    cli.file("stock.toml", header);
    // The service of the tests accepts photos over http.
    let line = |row: [String; 5]| row.join(";") + ";http://127.0.0.1:1/1.jpg\n";
    cli.file("stock.csv", format!("{};Bild\n{}{}", HEADER.join(";"), line(row(1, "Volvo")), line(row(2, "Wolvo"))));
    let planned = cli.run("stock plan stock.csv --output json").await;
    let plan: Value = serde_json::from_str(&planned.stdout).unwrap();
    let counts = &plan["dealers"][0]["counts"];
    assert_eq!((planned.code, &counts["create"], &counts["invalid"]), (3, &json!(1), &json!(1)), "{planned:?}");
    let kept = cli.run("stock show last --kind invalid --output json").await.json();
    let errors = kept[0]["errors"].as_array().unwrap();
    assert!(errors.iter().all(|error| error["pointer"] == "/category_fields/brand"), "{errors:#?}");
    assert!(errors[0]["detail"].as_str().unwrap().contains("Wolvo"), "{errors:#?}");
}
