//! `ad-migrate check` as people and programs use it: what it prints, the files it writes, how it ends.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use serde_json::Value;
use tempfile::TempDir;

const MAPPING: &str = r#"
[file]
separator = ";"

[vehicle]
type = "car"

[fields]
source_id = "Id"
category_fields.registration_number = "Plate"
category_fields.model_year = "Year"
category_fields.color = "Colour"
image_urls = { from = "Images", split = "," }
price.list = { from = "Price", currency = "SEK" }
"#;

const HEADER: &str = "Id;Plate;Year;Colour;Images;Price\n";
const GOOD: &str = "a1;ABC123;2019;Red;https://img.example/1.jpg;149 900 kr\n";

struct Folder(TempDir);

impl Folder {
    fn new(stock: impl AsRef<[u8]>) -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        fs::write(folder.path("stock.csv"), stock).expect("it can be written");
        fs::write(folder.path("stock.toml"), MAPPING).expect("it can be written");
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("it was written")
    }

    fn check(&self, arguments: &[&str]) -> Output {
        check(self.0.path(), &[&["stock.csv", "--mapping", "stock.toml"], arguments].concat())
    }
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ad-migrate"))
        .arg("check")
        .args(arguments)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .output()
        .expect("the binary can be started")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("it is UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("it is UTF-8")
}

#[test]
fn a_file_that_can_go_is_silent_on_stdout_and_counted_on_stderr() {
    let folder = Folder::new([HEADER, GOOD].concat());
    let output = folder.check(&[]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), ""), "{}", stderr(&output));
    for told in [
        "stock.csv: 1 of 1 row is valid",
        "quality of the valid rows: 1 basic; findings, which reject nothing:\n",
        "       1  few_photos: Few photos (rows 1)\n",
        "       1  title_incomplete: ",
    ] {
        assert!(stderr(&output).contains(told), "{told}: {}", stderr(&output));
    }
}

#[test]
fn rows_that_cannot_go_are_shown_with_their_place_and_what_to_do() {
    let folder = Folder::new(
        [HEADER, GOOD, "a2;;2019;;https://img.example/1.jpg;1\n", "a1;abc 123;20211;;;\n", "a4;abc 123;2019;;;\n"]
            .concat(),
    );
    let output = folder.check(&[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let table = stdout(&output);
    for shown in
        ["ROW", "WHAT TO DO", "no registration number and no VIN", "20211", "ABC123 already occurs in row 1 (line 2)."]
    {
        assert!(table.contains(shown), "{shown}: {table}");
    }
    assert!(stderr(&output).contains("1 of 4 rows are valid, 3 invalid"), "{}", stderr(&output));
    let few = folder.check(&["--limit-shown", "1"]);
    assert!(stderr(&few).contains("and 2 more invalid rows"), "{}", stderr(&few));
}

#[test]
fn a_record_that_cannot_be_read_has_that_one_finding() {
    let folder = Folder::new("");
    fs::write(folder.path("stock.json"), r#"[{"Id": "a1", "Plate": "ABC123", "Year": 2019}, 7, {]"#)
        .expect("it can be written");
    fs::write(folder.path("stock.toml"), MAPPING.replace("separator = \";\"", "form = \"json\""))
        .expect("it can be written");
    let output = check(folder.0.path(), &["stock.json", "--mapping", "stock.toml", "--output", "ndjson"]);
    let findings: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |row: u64| findings.iter().filter(|it| it["row"] == row).map(|it| &it["reason"]).collect::<Vec<_>>();
    assert_eq!(of(2), ["the record is no JSON object"], "{}", stderr(&output));
    assert_eq!(of(3), ["the record is no JSON object"], "{}", stderr(&output));
}

#[test]
fn programs_get_every_finding_and_spreadsheets_no_formula() {
    let bad = "=HYPERLINK(\"http://evil.example\");ABC123;x+1;;https://img.example/1.jpg;1\n";
    let folder = Folder::new(
        [HEADER, &bad.replacen('=', "\"=", 1).replacen("\");", "\"\")\";", 1).replacen("(\"", "(\"\"", 1)].concat(),
    );
    let lines = folder.check(&["--output", "ndjson"]);
    let first: Value = serde_json::from_str(stdout(&lines).lines().next().expect("there is a finding")).expect("JSON");
    assert_eq!(
        (&first["row"], &first["line"], &first["severity"]),
        (&Value::from(1), &Value::from(2), &Value::from("error"))
    );
    assert_eq!(first["source_id"], "=HYPERLINK(\"http://evil.example\")");
    assert_eq!(first["columns"], serde_json::json!(["Year"]));
    let csv = folder.check(&["--output", "csv"]);
    assert!(stdout(&csv).contains(",\"'=HYPERLINK("), "{}", stdout(&csv));
    assert!(!stdout(&csv).contains(",\"=") && !stdout(&csv).contains(",="), "{}", stdout(&csv));
}

#[test]
fn reports_are_whole_and_a_cell_is_never_a_part_of_the_page() {
    let script = "<script>alert(1)</script>";
    let folder =
        Folder::new([HEADER, &format!("{script};{script};{script};{script};{script};{script}\n"), GOOD].concat());
    let output = folder.check(&["--report", "report.html", "--json", "report.json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let page = folder.read("report.html");
    assert_eq!(page.matches("<script>").count(), 1, "its own");
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("1 of 2 ads valid"));
    assert!(page.contains("href=\"https://img.example/1.jpg\" rel=\"noreferrer"));
    let json: Value = serde_json::from_str(&folder.read("report.json")).expect("it is JSON");
    assert_eq!((&json["totals"]["rows"], &json["totals"]["invalid"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(json["rows"][0]["source_id"], script);
    assert_eq!(json["totals"]["detected"]["form"], "csv");
    let counted = serde_json::json!({"code": "few_photos", "rows": 1, "examples": [2]});
    assert!(json["totals"]["quality"].as_array().is_some_and(|all| all.contains(&counted)), "{}", json["totals"]);
    let scores = json["totals"]["scores"].as_array().expect("they are numbers");
    assert_eq!(scores.iter().filter_map(Value::as_u64).sum::<u64>(), 1);
    assert!(page.contains("Quality of the valid ads") && page.contains("Few photos"));
}

#[test]
fn what_is_wrong_with_the_command_line_is_told_before_anything_is_read() {
    let folder = Folder::new([HEADER, GOOD].concat());
    for (arguments, told) in [
        (&["stock.csv", "--mapping", "csv-semicolon"][..], "csv-semicolon-sv"),
        (&["none.csv", "--mapping", "stock.toml"], "none.csv"),
        (&["stock.csv", "--mapping", "stock.toml", "--separator", ";;"], "one character"),
        (&["stock.csv", "--mapping", "stock.toml", "--report", "none/report.html"], "none/report.html"),
    ] {
        let output = check(folder.0.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(told), "{arguments:?}: {}", stderr(&output));
    }
    fs::write(folder.path("stock.toml"), MAPPING.replace("model_year", "modelyear")).expect("it can be written");
    let output = folder.check(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("model_year"), "the nearest right one: {}", stderr(&output));
}

#[test]
fn rows_stand_beside_their_payloads_and_a_second_check_says_what_changed() {
    let folder = Folder::new([HEADER, GOOD, "a2;;2019;;https://img.example/1.jpg;150000\n"].concat());
    let arguments = ["--report", "report.html", "--json", "report.json", "--payloads", "beside.ndjson"];
    let output = folder.check(&arguments);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(!stderr(&output).contains("changed since"), "{}", stderr(&output));
    let lines = folder.read("beside.ndjson");
    let beside: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(beside.len(), 1, "of the valid row");
    assert_eq!((&beside[0]["line"], &beside[0]["source"]["Price"]), (&Value::from(2), &Value::from("149 900 kr")));
    assert_eq!(beside[0]["payload"]["price"][0]["amount"], 149_900);
    let json: Value = serde_json::from_str(&folder.read("report.json")).expect("it is JSON");
    let price = json["totals"]["profiles"].as_array().expect("profiles").iter().find(|it| it["column"] == "Price");
    let price = price.expect("each column has a profile");
    assert_eq!(
        (&price["filled"], &price["minimum"], &price["maximum"]),
        (&Value::from(2), &Value::from(149_900.0), &Value::from(150_000.0))
    );
    let page = folder.read("report.html");
    assert!(page.contains("beside their rows") && page.contains("Columns of the file") && page.contains("149 900 kr"));
    assert_eq!(folder.check(&["--no-values", "--payloads", "payloads.ndjson"]).status.code(), Some(3));
    let alone: Value = serde_json::from_str(&folder.read("payloads.ndjson")).expect("JSON");
    let expected = serde_json::json!({"row": 1, "line": 2, "payload": beside[0]["payload"]});
    assert_eq!(alone, expected, "the values of the row are left out");
    fs::write(folder.path("stock.csv"), [HEADER, GOOD].concat()).expect("it can be written");
    let second = folder.check(&arguments);
    for change in ["  rows: 2 → 1\n", "  invalid: 1 → 0\n", "  no registration number and no VIN: 1 → 0\n"] {
        assert!(stderr(&second).contains(change), "{change}: {}", stderr(&second));
    }
}

#[test]
fn what_is_possible_and_unlikely_is_a_warning_with_its_place() {
    let folder = Folder::new(
        [
            HEADER,
            GOOD,
            "a2;ABC124;2019;N/A;https://img.example/1.jpg;1 kr\n",
            "a3;ABC125;2019;\0;;150000\n",
            "a4;ABC126;2019;BlÃ¥;;150000\n",
            "a5;ABC127;2019;Blå;;150000\n",
            "a6;ABC128;2019;Grön;;150000\n",
        ]
        .concat(),
    );
    let output = folder.check(&["--output", "ndjson"]);
    let found: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |reason: &str| {
        found.iter().find(|finding| finding["reason"] == reason).unwrap_or_else(|| panic!("{reason}: {found:?}"))
    };
    let price = of("price outside of what is usual");
    assert_eq!(
        (&price["row"], &price["severity"], &price["value"]),
        (&Value::from(2), &Value::from("warning"), &Value::from("1 kr"))
    );
    assert_eq!(price["columns"], serde_json::json!(["Price"]));
    assert_eq!(of("a value contains NUL")["severity"], "error");
    assert_eq!(
        (&of("text encoded twice")["row"], &of("text encoded twice")["value"]),
        (&Value::from(4), &Value::from("BlÃ¥"))
    );
    assert!(!found.iter().any(|finding| finding["value"] == "N/A"), "a placeholder is no data: {found:?}");
}

#[test]
fn of_a_file_that_ends_too_early_the_rows_before_are_checked() {
    let folder =
        Folder::new(r#"[{"Id": "a1", "Plate": "ABC123", "Year": 2019}, {"Id": "a2", "Year": 2019}, {"Id": "a3", "Pl"#);
    fs::write(folder.path("stock.toml"), MAPPING.replace("separator = \";\"", "")).expect("it can be written");
    let output = folder.check(&["--report", "report.html", "--json", "report.json"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stdout(&output).contains("no registration number and no VIN"), "{}", stdout(&output));
    assert!(folder.read("report.html").contains("could not be read to its end"));
    let json: Value = serde_json::from_str(&folder.read("report.json")).expect("it is JSON");
    assert!(json["totals"]["unread"]["message"].is_string(), "{}", json["totals"]);
}

#[test]
fn a_file_without_rows_is_no_stock() {
    let output = Folder::new(HEADER).check(&[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("contains no rows"), "{}", stderr(&output));
}

#[test]
fn skipped_rows_are_counted_and_block_no_other_row() {
    let sold = GOOD.replace("a1", "a0").replace("Red", "Sold");
    let folder = Folder::new([HEADER, &sold, GOOD].concat());
    let mapping = MAPPING.replace("[vehicle]", "[rows]\nskip = { column = \"Colour\", is = \"sold\" }\n\n[vehicle]");
    fs::write(folder.path("stock.toml"), mapping).expect("it can be written");
    let output = folder.check(&["--json", "report.json"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), ""), "{}", stderr(&output));
    assert!(stderr(&output).contains("1 of 2 rows are valid, 1 skipped"), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&folder.read("report.json")).expect("it is JSON");
    assert_eq!((&json["totals"]["skipped"], &json["totals"]["invalid"]), (&Value::from(1), &Value::from(0)));
}

#[test]
fn files_that_no_earlier_run_has_written_stay() {
    let folder = Folder::new([HEADER, GOOD].concat());
    let kinds = [("--report", "report.html"), ("--json", "report.json"), ("--payloads", "payloads.ndjson")];
    for (option, name) in kinds {
        // A nightly run replaces what it wrote the night before.
        for _ in 0..2 {
            assert_eq!(folder.check(&[option, name]).status.code(), Some(0), "{option}");
        }
        let own = folder.read(name);
        for foreign in ["stock.csv", "stock.toml"]
            .into_iter()
            .chain(kinds.map(|(_, name)| name).into_iter().filter(|it| *it != name))
        {
            if !folder.path(foreign).exists() {
                continue;
            }
            let before = folder.read(foreign);
            let output = folder.check(&[option, foreign]);
            assert_eq!(output.status.code(), Some(2), "{option} {foreign}");
            let expected = format!(
                "error: {foreign} exists, and this command did not write it\n  help: choose another name, or overwrite it with --force\n"
            );
            assert_eq!(stderr(&output), expected);
            assert_eq!(folder.read(foreign), before);
        }
        fs::write(folder.path("other"), "something else").expect("it can be written");
        assert_eq!(folder.check(&[option, "other", "--force"]).status.code(), Some(0));
        assert_eq!(folder.read("other").get(..8), own.get(..8));
    }
    let inspect = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ad-migrate"));
        command.args(["inspect", "stock.csv", "--out", "stock.toml"]).args(arguments).current_dir(folder.0.path());
        command.output().expect("the binary can be started")
    };
    let refused = inspect(&[]);
    assert!(stderr(&refused).starts_with("error: stock.toml exists and is not overwritten\n"), "{}", stderr(&refused));
    assert_eq!(folder.read("stock.toml"), MAPPING);
    assert_eq!(inspect(&["--force"]).status.code(), Some(0));
    assert_ne!(folder.read("stock.toml"), MAPPING);
}

#[test]
fn csv_begins_no_cell_like_a_formula_and_is_read_back_without_guards() {
    let texts = ["=1+1", "+46 70 123", "-5 kr", "@SUM(A1)", "\t=2", "'=3", "plain"];
    let table = |texts: [&str; 7]| {
        let rows: Vec<_> = (1..).zip(texts).map(|(number, text)| format!("{text};{number}\n")).collect();
        format!("=Id;b\n{}", rows.concat())
    };
    let folder = Folder::new(table(texts));
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ad-migrate"));
        let output = command.args(arguments).current_dir(folder.0.path()).output().expect("the binary can be started");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    let is_formula = |cell: &str| cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let inspected: Value = serde_json::from_str(&run(&["inspect", "stock.csv", "-o", "json"])).expect("JSON");
    assert_eq!(inspected["columns"][0]["column"], "=Id", "JSON is exact");
    let csv = run(&["inspect", "stock.csv", "-o", "csv"]);
    let mut cells = csv::Reader::from_reader(csv.as_bytes());
    let cells: Vec<_> =
        cells.records().flat_map(|row| row.expect("CSV").iter().map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(cells.iter().any(|cell| cell.starts_with("'=Id")), "{cells:?}");
    assert!(!cells.iter().any(|cell| is_formula(cell)), "{cells:?}");
    let guarded = texts.map(|text| ad_core::csv_guard::guarded(text.to_owned()));
    let samples = |file: &str| {
        let inspected: Value = serde_json::from_str(&run(&["inspect", file, "-o", "json"])).expect("JSON");
        inspected["columns"][0]["samples"].clone()
    };
    fs::write(folder.path("guarded.csv"), table(guarded.each_ref().map(|text| &**text))).expect("it can be written");
    assert_eq!(samples("guarded.csv"), samples("stock.csv"), "what was written is read as it was");
}
