//! Files as programs of dealers write them: each is read to the values that were written into it, as whole rows. The files are in
//! `data/tools`, where a table says which tool wrote which.

#![expect(clippy::unwrap_used, reason = "a helper of a test that panics fails that test")]

use std::{
    io,
    path::{Path, PathBuf},
};

use ad_core::rulebook::Rulebook;
use ad_migrate::{
    check::{self, Payloads, Sink, Verdict},
    mapping::Mapping,
    readers::{CellKind, ReadError, Reader, Settings},
};

/// What was read of a file: the header and each row, with the columns separated by `|`, then `!` and the reasons of errors; notes; and the error
/// at its end.
#[derive(Debug, Default)]
struct Read {
    rows: Vec<String>,
    notes: Vec<String>,
    error: Option<ReadError>,
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools").join(name)
}

fn read(name: &str) -> Read {
    read_with(name, &Settings::default())
}

fn read_with(name: &str, settings: &Settings) -> Read {
    let mut reader = Reader::open(&path(name), settings).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut read = Read::default();
    loop {
        match reader.next(None) {
            Ok(Some(batch)) => {
                if read.rows.is_empty() {
                    read.rows.push(batch.columns().names().collect::<Vec<_>>().join("|"));
                }
                for row in batch.rows() {
                    let values: Vec<_> = row.cells().map(|(_, text)| text).collect();
                    let reasons = row.findings().iter().map(|finding| format!("!{}", finding.reason));
                    read.rows.push(values.join("|") + &reasons.collect::<String>());
                }
            }
            Ok(None) => break,
            Err(error) => {
                read.error = Some(error);
                break;
            }
        }
    }
    read.notes.clone_from(&reader.detected().notes);
    read
}

/// Why a file is not read, without its path, and what to do.
fn refused(name: &str) -> (String, Vec<String>) {
    let path = path(name);
    let error = Reader::open(&path, &Settings::default()).map(|reader| reader.detected().clone()).unwrap_err();
    (error.message.replace(path.to_str().unwrap(), "FILE"), error.hints)
}

#[track_caller]
fn has_note(read: &Read, words: &str) {
    assert!(read.notes.iter().any(|note| note.contains(words)), "{words:?} is not in {:#?}", read.notes);
}

const HEADER: &str = "Lagernr|Regnr|Märke|Modell|Årsmodell|Mätarställning (km)|Pris (SEK)|Postnummer|Telefon|Första registrering|Drivmedel|\
                      Växellåda|Beskrivning|Bilder";

/// The three cars of most files, as they are stocked.
const CARS: [&str; 3] = [
    "00101|ABC123|Volvo|V70|2012|125000|199900|01234|0701234567|2012-01-31|Bensin|Manuell|Fin bil nr 1: åäö ÅÄÖ, 5 € i skatt.\nNybesiktad; \
     \"toppskick\".\nRing!|https://cdn.dealer.example/ABC123/1.jpg https://cdn.dealer.example/ABC123/2.jpg",
    "00105|MNO012|Škoda|Octavia|2016|76543|74500|98231|0701234571|2016-05-02|Diesel|Manuell|Fin bil nr 5: åäö ÅÄÖ, 5 € i skatt.\nNybesiktad; \
     \"toppskick\".\nRing!|https://cdn.dealer.example/MNO012/1.jpg https://cdn.dealer.example/MNO012/2.jpg",
    "00106|PRS345|Citroën|C3|2017|123456|129900.5|02345|0701234572|2017-06-09|Etanol|Automat|Fin bil nr 6: åäö ÅÄÖ, 5 € i skatt.\nNybesiktad; \
     \"toppskick\".\nRing!|https://cdn.dealer.example/PRS345/1.jpg https://cdn.dealer.example/PRS345/2.jpg",
];

fn cars() -> Vec<String> {
    [HEADER].into_iter().chain(CARS).map(str::to_owned).collect()
}

/// The cars with each text replaced by another one.
fn cars_with(replaced: &[(&str, &str)]) -> Vec<String> {
    let replace = |car: String| replaced.iter().fold(car, |car, (from, to)| car.replace(from, to));
    cars().into_iter().map(replace).collect()
}

#[test]
fn files_have_the_values_that_were_written() {
    for name in ["pandas-openpyxl.xlsx", "xlsxwriter-1904.xlsx", "pandas-odf.ods", "xlwt.xls"] {
        let read = read(name);
        assert_eq!((read.rows, read.error), (cars(), None), "{name}: {:#?}", read.notes);
    }
    // pandas writes the column of prices as floats.
    let floats = cars_with(&[("|199900|", "|199900.0|"), ("|74500|", "|74500.0|")]);
    for name in ["pandas-cr.csv", "pandas-escape.csv", "pandas-8859-15.csv"] {
        let read = read(name);
        assert_eq!((read.rows, read.error), (floats.clone(), None), "{name}: {:#?}", read.notes);
    }
}

#[test]
fn numbers_have_the_zeros_that_their_format_shows() {
    // The format of the postal code has a space.
    let spaced = cars_with(&[("|01234|", "|012 34|"), ("|98231|", "|982 31|"), ("|02345|", "|023 45|")]);
    for name in [
        "openpyxl-zeros.xlsx",
        "backslashes.xlsx",
        "exceljs-rich-text.xlsx",
        "gnumeric.xlsx",
        "libreoffice.xlsx",
        "sheetjs.xlsx",
        "gnumeric.ods",
        "libreoffice.ods",
        "odfpy-zeros.ods",
        "gnumeric.xls",
        "libreoffice.xls",
        "sheetjs-biff8.xls",
        "sheetjs-2003.xls",
    ] {
        let read = read(name);
        assert_eq!((read.rows, read.error), (spaced.clone(), None), "{name}: {:#?}", read.notes);
    }
    // SheetJS writes no formats there.
    let plain = cars_with(&[
        ("00101|", "101|"),
        ("00105|", "105|"),
        ("00106|", "106|"),
        ("|01234|0", "|1234|"),
        ("|98231|0", "|98231|"),
        ("|02345|0", "|2345|"),
    ]);
    for name in ["sheetjs.ods", "sheetjs.fods"] {
        let read = read(name);
        assert_eq!((read.rows, read.error), (plain.clone(), None), "{name}: {:#?}", read.notes);
    }
    for name in ["perl.xlsx", "perl.xls"] {
        assert_eq!(
            read(name).rows,
            [
                "Lagernr|Regnr|Märke|Pris|Postnummer|Datum",
                "00101|ABC123|Škoda|199900|012 34|2012-01-31",
                "00105|MNO012|Citroën|129900.5|982 31|2013-02-04"
            ],
            "{name}"
        );
    }
}

#[test]
fn formulas_without_a_value_are_marked_and_links_are_addresses() {
    for (name, rows, formula) in [
        (
            "openpyxl-formulas.xlsx",
            &[
                "Lagernr|Regnr|Pris|Länk|Bild|Fast",
                "L1|ABC123||https://dealer.example/1|https://cdn.example/1.jpg|00101",
                "L2|DEF456|89500|x|https://cdn.example/2.jpg|00102",
            ][..],
            "Pris",
        ),
        (
            "ezodf-formula.ods",
            &[
                "Lagernr|Regnr|Pris|Bild",
                "L1|ABC123||https://cdn.example/1.jpg",
                "L2|DEF456||https://cdn.example/2.jpg",
            ],
            "Pris",
        ),
        (
            "xlwt-numbers-formulas.xls",
            &[
                "Lagernr|Regnr|Pris|Bild",
                "00101|ABC123||https://cdn.example/101.jpg",
                "01017|DEF456||https://cdn.example/1017.jpg",
            ],
            "Pris",
        ),
    ] {
        let read = read(name);
        assert_eq!(
            (read.rows.as_slice(), read.error),
            (rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>().as_slice(), None),
            "{name}"
        );
        assert_eq!(kind_of_first(name, formula), CellKind::Formula, "{name}");
    }
    let priceless = cars_with(&[("|199900|", "||"), ("|74500|", "||"), ("|129900.5|", "||")]);
    let priceless: Vec<_> = priceless
        .into_iter()
        .map(|car| car.replace("|01234|", "|012 34|").replace("|98231|", "|982 31|").replace("|02345|", "|023 45|"))
        .collect();
    assert_eq!(read("exceljs-formula-no-value.xlsx").rows, priceless);
    assert_eq!(kind_of_first("exceljs-formula-no-value.xlsx", "Pris (SEK)"), CellKind::Formula);
}

/// What the first row of a file says about a column.
fn kind_of_first(name: &str, column: &str) -> CellKind {
    let batch = Reader::open(&path(name), &Settings::default()).unwrap().next(None).unwrap().unwrap();
    let column = batch.columns().id(column).unwrap();
    batch.rows().next().unwrap().kinds(column).next().unwrap_or_default()
}

#[test]
fn the_sheet_with_the_table_is_read_from_its_header_on() {
    let read = read("openpyxl-cover-title-filter.xlsx");
    assert_eq!((read.rows.clone(), read.error.clone()), (cars(), None), "{:#?}", read.notes);
    has_note(&read, "Sheet \"Omslag\" is not read: it has cells, but no table.");
    has_note(
        &read,
        "Sheet \"Lager\": the first visible one with data, of \"Omslag\", \"Lager\", \"Gammalt\" (hidden).",
    );
    has_note(&read, "The first 2 rows (\"Lagerlista vecka 48\", \"Fordon\") are no data: the header is below.");
    has_note(&read, "1 row of the sheet is hidden by a filter (5) and read like the others.");
    has_note(&read, "merged cells: A2:F2, G2:N2, A1:N1)");
}

#[test]
fn tables_of_pages_have_their_texts() {
    let spaced = cars_with(&[("|01234|", "|012 34|"), ("|98231|", "|982 31|"), ("|02345|", "|023 45|")]);
    for name in ["sheetjs.html", "libreoffice.html"] {
        assert_eq!(read(name).rows, spaced, "{name}");
    }
    // gnumeric writes only what is shown.
    let shown = [
        ("|125000|199900|", "|125,000|199 900.00 kr|"),
        ("|76543|74500|", "|76,543|74 500.00 kr|"),
        ("|123456|129900.5|", "|123,456|129 900.50 kr|"),
    ];
    let shown: Vec<_> =
        spaced.iter().map(|car| shown.iter().fold(car.clone(), |car, (from, to)| car.replace(from, to))).collect();
    assert_eq!(read("gnumeric-xhtml.xls").rows, shown);
    // pandas writes line breaks as \\n.
    let floats = cars_with(&[("|199900|", "|199900.0|"), ("|74500|", "|74500.0|")]);
    assert_eq!(read("pandas-table.html").rows, floats);
}

#[test]
fn exports_of_databases_have_their_characters_and_no_values_where_they_are_null() {
    let header = "lagernr|regnr|pris|beskrivning|bild";
    let first = "Fin bil: åäö, 5 €\nNybesiktad; \"toppskick\".\tRing!";
    let (two, three) = ("00105|MNO012|74500", "00106|PRS345|129900.5");
    let rows = |amount: &str, digit: &str, null: &str, fourth: bool| {
        let mut rows = vec![
            header.to_owned(),
            format!("00101|ABC123|199900{amount}|{first}|https://cdn.example/1.jpg"),
            format!("{two}{amount}|{null}|https://cdn.example/2.jpg"),
            format!("{three}{digit}|Mapp C:\\nya\\bilar|{null}"),
        ];
        rows.extend(fourth.then(|| format!("00107|TUW678|219000{amount}|Två rader:\nen, två|{null}")));
        rows
    };
    for (name, expected) in [
        ("postgresql-copy.tsv", rows("", "", "", false)),
        ("postgresql-copy.csv", rows("", "", "", false)),
        ("mariadb-outfile.tsv", rows(".00", "0", "", true)),
        ("mariadb-outfile.csv", rows(".00", "0", "", true)),
        ("mariadb-batch.tsv", rows(".00", "0", "NULL", true)),
        ("mariadb-html.html", rows(".00", "0", "NULL", true)),
    ] {
        let expected: Vec<_> = match name {
            // White space of a page is one space.
            "mariadb-html.html" => expected.into_iter().map(|row| row.replace('\t', " ")).collect(),
            _ => expected,
        };
        let read = read(name);
        assert_eq!((read.rows, read.error), (expected, None), "{name}: {:#?}", read.notes);
    }
    // White space is one space, and empty cells at the end are none.
    let of_page: Vec<_> = rows("", "", "", false)
        .into_iter()
        .map(|row| row.replace('\t', " ").trim_end_matches('|').to_owned())
        .collect();
    assert_eq!(read("psql.html").rows, of_page);
    assert_eq!(
        read("sqlite3-html.html").rows,
        ["lagernr|regnr|pris|beskrivning", "00101|ABC123|199900|Fin & bil: åäö, 5 €\nRing!", "00105|MNO012|74500"]
    );
}

#[test]
fn guards_against_spreadsheets_are_taken_off() {
    let read = read("php-guards.csv");
    assert_eq!(
        read.rows,
        [
            "Lagernr|Regnr|Telefon|Fritt|Länk",
            "00101|ABC123|+46701234567|=1+1 är två|=HYPERLINK(\"https://dealer.example/1\")",
            "00102|DEF456|0701234567|'n Roll|https://dealer.example/2",
        ]
    );
    has_note(&read, "Values of \"Lagernr\" (2), \"Regnr\" (2), \"Telefon\" (2), \"Fritt\" (1) are guarded as texts");
}

#[test]
fn encodings_are_found_where_the_evidence_is_clear() {
    let russian = [
        "Артикул|Номер|Марка|Модель|Топливо|Коробка|Описание",
        "00101|А123ВС77|Лада|Веста|Бензин|Механика|Автомобиль в отличном состоянии, один владелец. Не требует вложений.",
        "00102|В456ЕК99|Москвич|3|Дизель|Автомат|Продаётся семейный автомобиль. Зимняя резина в подарок.",
    ];
    let polish = [
        "Numer|Rejestracja|Marka|Model|Paliwo|Skrzynia biegów|Opis",
        "101|WX12345|Škoda|Octavia|Benzyna|Ręczna|Samochód w bardzo dobrym stanie, książka serwisowa, pierwszy właściciel. Możliwość zamiany.",
        "102|KR98765|Volkswagen|Golf|Diesel|Automatyczna|Auto zadbane, łatwy dojazd, żółty lakier.",
    ];
    let swedish = [
        "Lagernr|Regnr|Märke|Modell|Beskrivning",
        "00101|ABC123|Citroën|C3|Fin bil, 5 € i skatt. Nybesiktad.",
        "00102|DEF45E|Volvo|V70|Nyservad, pris 500 € under värdet.",
    ];
    let crowns = swedish.map(|row| row.replace('€', "kr"));
    let lower = ["lagernr|regnr|marke|modell|beskrivning", swedish[1], swedish[2]];
    for (name, encoding, rows) in [
        ("pandas-windows-1251.csv", "windows-1251", &russian.map(str::to_owned)),
        ("pandas-koi8-r.csv", "koi8-r", &russian.map(str::to_owned)),
        ("pandas-mac-cyrillic.csv", "mac-cyrillic", &russian.map(str::to_owned)),
        ("pandas-windows-1250.csv", "windows-1250", &polish.map(str::to_owned)),
        ("pandas-cp858.csv", "cp858", &swedish.map(str::to_owned)),
        ("pandas-cp865.csv", "cp850", &crowns),
        ("lxml-8859-15.xml", "iso-8859-15", &lower.map(str::to_owned)),
    ] {
        let read = read(name);
        assert_eq!((read.rows.as_slice(), read.error.clone()), (rows.as_slice(), None), "{name}: {:#?}", read.notes);
        has_note(&read, &format!("Encoding {encoding}: "));
        // As set, too.
        let settings = Settings { encoding: Some(encoding.to_owned()), ..Settings::default() };
        assert_eq!(read_with(name, &settings).rows, rows.as_slice(), "{name}");
    }
    has_note(&read("pandas-8859-15.csv"), "Encoding iso-8859-15: ");
}

#[test]
fn tables_of_databases_are_read_with_their_types() {
    let rows = |more: [&str; 3]| {
        [
            format!("LAGERNR|REGNR|MARKE|PRIS|DATUM|NY|TEXT{}", more[0]),
            format!("101|ABC123|Volvo|199900|2012-01-31|true|Fin bil: åäö ÅÄÖ{}", more[1]),
            format!("10105|MNO012|Citroën|129900.5|2016-05-02|false|Nyservad{}", more[2]),
        ]
    };
    let more = ["|ANTAL|TID|BELOPP", "|7|2026-11-28T12:30:05|149900.5", "|7|2026-11-28T12:30:05|149900.5"];
    for (name, rows) in [("python-db3.dbf", rows([""; 3])), ("python-vfp.dbf", rows(more))] {
        let read = read(name);
        assert_eq!((read.rows.as_slice(), read.error), (rows.as_slice(), None), "{name}: {:#?}", read.notes);
        assert_eq!(kind_of_first(name, "LAGERNR"), CellKind::BareNumber, "{name}");
    }
    let fields = "[fields]\nsource_id = \"LAGERNR\"\ncategory_fields.registration_number = \"REGNR\"\ncategory_fields.brand = \"MARKE\"\n\
                  category_fields.model_year = { constant = 2015 }\nprice.list = { from = \"PRIS\", currency = \"SEK\" }\n";
    let (rows, doubts) = checked("python-db3.dbf", fields);
    assert_eq!(rows.len(), 2);
    assert!(doubts[0].starts_with("The source ids are numbers of 3 to 5 digits"), "{doubts:#?}");
}

#[test]
fn names_with_backslashes_are_paths() {
    assert_eq!(read("backslashes.zip").rows, ["Lagernr|Regnr", "00101|ABC123"]);
}

#[test]
fn formats_that_are_not_read_say_what_to_do() {
    for (name, what) in [
        ("sheetjs.slk", "FILE is a SYLK spreadsheet (.slk), which is not read."),
        ("sheetjs.dif", "FILE is a DIF spreadsheet (.dif), which is not read."),
        ("sheetjs-biff2.xls", "FILE is an Excel sheet of before 1993, and neither CSV, XML, JSON nor a spreadsheet."),
    ] {
        let (message, hints) = refused(name);
        assert_eq!(message, what);
        assert!(hints[0].contains("as .xlsx, or as CSV"), "{hints:?}");
    }
}

/// The rows of a file by a mapping: what is wrong with each; and the doubts about whole columns.
fn checked(name: &str, fields: &str) -> (Vec<String>, Vec<String>) {
    #[derive(Default)]
    struct Verdicts(Vec<String>);
    impl Sink for Verdicts {
        fn verdict(&mut self, verdict: Verdict) -> io::Result<()> {
            let found: Vec<_> = verdict
                .errors()
                .map(|error| {
                    format!(
                        "{}: {} ({})",
                        error.columns.join(", "),
                        error.reason,
                        error.value.as_deref().unwrap_or_default()
                    )
                })
                .collect();
            self.0.push(format!("{} {}", verdict.source_id.unwrap_or_default(), found.join("; ")));
            Ok(())
        }
    }
    let rulebook = Rulebook::default();
    let mapping = Mapping::parse(&format!("vehicle.type = \"car\"\n{fields}"), &rulebook.catalogue).unwrap();
    let reader = Reader::open(&path(name), mapping.reading()).unwrap();
    let mut verdicts = Verdicts::default();
    let now = "2026-11-28T10:00:00Z".parse().unwrap();
    let totals = check::run(reader, &mapping, &rulebook, Payloads::None, now, &mut verdicts).unwrap();
    (verdicts.0, totals.doubts.into_iter().map(|doubt| doubt.message).collect())
}

#[test]
fn what_a_program_took_for_something_else_is_an_error_of_the_cell() {
    let fields = "[fields]\nsource_id = \"Lagernr\"\ncategory_fields.registration_number = \"Regnr\"\n\
                  category_fields.model_type = \"Modell\"\nprice.list = { from = \"Pris\", currency = \"SEK\" }\n";
    let (rows, _) = checked("xlsxwriter-plates.xlsx", fields);
    let ours = |rows: &[String]| -> Vec<String> {
        let is_ours = |part: &&str| !part.contains("is missing");
        rows.iter().map(|row| row.split("; ").filter(is_ours).collect::<Vec<_>>().join("; ")).collect()
    };
    assert_eq!(
        ours(&rows),
        [
            "",
            "S2 Regnr: registration number is a number in the spreadsheet (100000)",
            "S3 Regnr: registration number is a number in the spreadsheet (0)",
            "",
            "S5 Modell: model type is a date in the spreadsheet (2026-03-09)",
            "S6 Pris: a formula without a value ()",
            " Lagernr: source id is a number among texts in the spreadsheet (100000)",
        ],
        "{rows:#?}"
    );
    let fields =
        "[fields]\nsource_id = \"Lagernr\"\ncategory_fields.registration_number = \"Regnr\"\nimage_urls = \"Bild\"\n";
    let (rows, _) = checked("perl-plates.xlsx", fields);
    assert_eq!(
        ours(&rows),
        [
            "S1 Regnr: an infinite number (Inf)",
            "S2 Regnr: registration number is a number in the spreadsheet (100000)",
            "S3 Regnr: registration number is a number in the spreadsheet (0)",
            "",
        ],
        "{rows:#?}"
    );
}

#[test]
fn a_formula_without_a_value_is_an_error_where_it_is_used() {
    let fields = "[rows]\nskip = { column = \"Regnr\", is = \"x\" }\n[fields]\nsource_id = \"Lagernr\"\n\
                  price.list = { from = \"Pris\", currency = \"SEK\" }\n";
    let (rows, _) = checked("openpyxl-formulas.xlsx", fields);
    assert!(rows[0].contains("Pris: a formula without a value ()"), "{rows:#?}");
    assert!(!rows[1].contains("formula"), "{rows:#?}");
    let unused = "[fields]\nsource_id = \"Lagernr\"\ncategory_fields.registration_number = \"Regnr\"\n";
    assert!(!checked("openpyxl-formulas.xlsx", unused).0[0].contains("formula"));
    let by_row = "[rows]\nskip = { column = \"Pris\", is = \"0\" }\n[fields]\nsource_id = \"Lagernr\"\n";
    assert!(checked("openpyxl-formulas.xlsx", by_row).0[0].contains("Pris: a formula without a value"));
}
