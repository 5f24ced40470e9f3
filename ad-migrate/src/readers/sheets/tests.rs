//! Spreadsheets as people save them: several sheets, titles, dates, formulas, merged cells.

use std::io::{Cursor, Write as _};

use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::readers::{
    Reader, Settings,
    testing::{file, read, read_with, refused},
};

/// A workbook with a hidden sheet, an empty one, and stock.
fn workbook() -> Vec<u8> {
    let mut book = Workbook::new();
    book.add_worksheet().set_name("Old").unwrap().set_hidden(true).write(0, 0, "no stock").unwrap();
    book.add_worksheet().set_name("Empty").unwrap();
    let date = Format::new().set_num_format("d mmm yyyy");
    let sheet = book.add_worksheet().set_name("Lager").unwrap().set_active(true);
    for (column, name) in (0..).zip(["Nr", "Regnr", "Pris", "Datum", "Volym", "Ny"]) {
        sheet.write(0, column, name).unwrap();
    }
    sheet.write(1, 0, "L1").unwrap().write(1, 1, "ABC 123").unwrap().write(1, 2, 149_900).unwrap();
    sheet.write_with_format(1, 3, ExcelDateTime::from_ymd(2019, 5, 4).unwrap(), &date).unwrap();
    sheet.write(1, 4, 1.969).unwrap().write(1, 5, true).unwrap();
    // Row 3 is empty, and the price of row 4 is computed.
    sheet.write(3, 0, 17).unwrap().write(3, 2, Formula::new("=C2*1.1").set_result("164890.00000000003")).unwrap();
    sheet.write(3, 1, "Two\nlines, and ; a \"quote\"").unwrap();
    sheet.write(4, 0, "L3").unwrap().write(4, 2, Formula::new("=1/0").set_result("#DIV/0!")).unwrap();
    book.save_to_buffer().unwrap()
}

fn sheet(name: &str) -> Settings {
    Settings { sheet: Some(name.to_owned()), ..Settings::default() }
}

/// A workbook of one sheet.
fn of_rows(rows: &[&[&str]]) -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(*cells) {
            sheet.write(row, column, *cell).unwrap();
        }
    }
    book.save_to_buffer().unwrap()
}

#[test]
fn rows_of_a_workbook_have_dates_and_results_of_formulas_as_values() {
    let seen = read(workbook());
    assert_eq!(
        seen.rows,
        [
            "1@2 Nr=L1; Regnr=ABC 123; Pris=149900; Datum=2019-05-04; Volym=1.9690; Ny=true",
            "2@4 Nr=17; Regnr=Two\nlines, and ; a \"quote\"; Pris=164890",
            "3@5 Nr=L3; Regnr=; !a formula with an error",
        ]
    );
    assert_eq!(seen.messages, ["The formula in column \"Pris\" has the error #DIV/0! instead of a value."]);
    let detected = seen.reader.detected();
    assert_eq!((detected.form.name(), detected.sheet.as_deref()), ("XLSX", Some("Lager")));
    let note = "Sheet \"Lager\": the first visible one with data, of \"Old\" (hidden), \"Empty\", \"Lager\". Set sheet to read another one.";
    assert!(detected.notes.iter().any(|it| it == note), "{:?}", detected.notes);
}

#[test]
fn a_sheet_is_read_by_its_name_even_if_it_is_hidden() {
    let settings = Settings { header: Some(false), ..sheet("old") };
    assert_eq!(read_with(workbook(), &settings).rows, ["1@1 1=no stock"]);
    for (name, message, hint) in [
        ("Lagr", "has no sheet \"Lagr\".", "Did you mean \"Lager\"?"),
        ("Empty", "is empty.", "The file has \"Old\" (hidden), \"Empty\", \"Lager\"."),
    ] {
        let error = Reader::open(file(&workbook()).path(), &sheet(name)).unwrap_err();
        assert!(error.message.ends_with(message), "{error}");
        assert_eq!(error.hints, [hint]);
    }
    let error = Reader::open(file(b"a;b\n1;2\n").path(), &sheet("Lager")).unwrap_err();
    assert!(error.message.ends_with("is no spreadsheet and has no sheets."), "{error}");
}

#[test]
fn a_workbook_without_visible_data_says_what_it_has() {
    let mut book = Workbook::new();
    book.add_worksheet().set_name("Shown").unwrap();
    book.add_worksheet().set_name("Old").unwrap().set_hidden(true).write(0, 0, "x").unwrap();
    let bytes = book.save_to_buffer().unwrap();
    assert!(refused(&bytes).ends_with("has no visible sheet with data."));
}

#[test]
fn merged_cells_are_told_and_only_the_first_has_the_value() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (row, cells) in (0..).zip([["Brand", "Model"], ["", "V60"], ["", "XC40"]]) {
        for (column, cell) in (0..).zip(cells) {
            sheet.write(row, column, cell).unwrap();
        }
    }
    sheet.merge_range(1, 0, 2, 0, "Volvo", &Format::new()).unwrap();
    let seen = read(book.save_to_buffer().unwrap());
    assert_eq!(seen.rows, ["1@2 Brand=Volvo; Model=V60", "2@3 Brand=; Model=XC40"]);
    let notes = &seen.reader.detected().notes;
    assert!(notes.iter().any(|note| note.contains("merged cells: A2:A3)")), "{notes:?}");
}

#[test]
fn cells_beyond_the_header_are_an_error_and_short_rows_are_none() {
    let seen = read(of_rows(&[&["Nr", "Regnr", "Pris"], &["1", "ABC123"], &["2", "ABC124", "5", "x"]]));
    assert_eq!(seen.rows, ["1@2 Nr=1; Regnr=ABC123", "2@3 Nr=2; Regnr=ABC124; Pris=5; !too many columns"]);
    let settings = Settings { header: Some(false), ..Settings::default() };
    let seen = read_with(of_rows(&[&["a"], &["b", "c"], &["d", "e", "f"]]), &settings);
    assert_eq!(seen.rows, ["1@1 1=a", "2@2 1=b; 2=c", "3@3 1=d; 2=e; 3=f"]);
}

/// An .ods file with this content.
fn ods(tables: &str) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let content = format!(
        "<?xml version=\"1.0\"?><office:document-content xmlns:office=\"o\" xmlns:table=\"t\" xmlns:text=\"x\" xmlns:style=\"s\">\
         <office:automatic-styles><style:style style:name=\"hidden\"><style:table-properties table:display=\"false\"/></style:style>\
         </office:automatic-styles><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    );
    for (name, text) in [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest:manifest/>"),
        ("content.xml", &content),
    ] {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file(name, options).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn texts(texts: &[&str]) -> String {
    let cell = |text: &&str| {
        format!("<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>")
    };
    format!("<table:table-row>{}</table:table-row>", texts.iter().map(cell).collect::<String>())
}

#[test]
fn rows_of_an_opendocument_spreadsheet_are_read_alike() {
    let hidden =
        format!("<table:table table:name=\"Old\" table:style-name=\"hidden\">{}</table:table>", texts(&["x", "y"]));
    let stock = format!(
        "<table:table table:name=\"Lager\">{}{}<table:table-row table:number-rows-repeated=\"2\"><table:table-cell/></table:table-row>{}</table:table>",
        texts(&["Nr", "Datum", "Pris"]),
        "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>L1</text:p></table:table-cell>\
         <table:table-cell office:value-type=\"date\" office:date-value=\"2019-05-04\"><text:p>4 maj</text:p></table:table-cell>\
         <table:table-cell office:value-type=\"float\" office:value=\"149900\"><text:p>149 900 kr</text:p></table:table-cell>\
         <table:table-cell table:number-columns-repeated=\"16000\"/></table:table-row>",
        texts(&["L2"]),
    );
    let seen = read(ods(&format!("{hidden}{stock}")));
    assert_eq!(seen.rows, ["1@2 Nr=L1; Datum=2019-05-04; Pris=149900", "2@5 Nr=L2"]);
    assert_eq!(seen.reader.detected().sheet.as_deref(), Some("Lager"));
}

#[test]
fn damaged_spreadsheets_are_told() {
    let mut bytes = workbook();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 200].fill(0x55);
    let opened = Reader::open(file(&bytes).path(), &Settings::default());
    assert!(opened.is_err() || read(&bytes).error.is_some());
    let settings = Settings { form: Some(crate::readers::Form::Csv), ..Settings::default() };
    let error = Reader::open(file(&workbook()).path(), &settings).unwrap_err();
    assert!(error.message.ends_with("is a spreadsheet (XLSX), but its format is set to CSV."), "{error}");
}

#[test]
fn a_sheet_longer_than_what_waits_between_the_threads_is_read_and_may_be_left() {
    let rows: Vec<Vec<String>> =
        (0..30_000).map(|row| vec![format!("L{row}"), format!("a text of the vehicle number {row}")]).collect();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (row, cells) in (0..).zip(&rows) {
        sheet.write(row, 0, &cells[0]).unwrap().write(row, 1, &cells[1]).unwrap();
    }
    let bytes = book.save_to_buffer().unwrap();
    let settings = Settings { header: Some(false), ..Settings::default() };
    let seen = read_with(&bytes, &settings);
    assert_eq!((seen.rows.len(), seen.error), (30_000, None));
    assert_eq!(seen.rows[29_999], "30000@30000 1=L29999; 2=a text of the vehicle number 29999");
    // The thread ends when the reader is dropped.
    let file = file(&bytes);
    let mut reader = Reader::open(file.path(), &settings).unwrap();
    assert!(reader.next(None).unwrap().is_some());
}

#[test]
fn a_second_table_on_a_sheet_is_not_read() {
    let rows: &[&[&str]] = &[&["Nr", "Pris"], &["L1", "100"], &[], &["Kund", "Ort", "Köp"], &["Anna", "Luleå", "2024"]];
    let error = read(of_rows(rows)).error.unwrap();
    let told =
        "A second table begins on line 4 (\"Kund\", \"Ort\", \"Köp\"), but only one table per sheet can be read.";
    assert_eq!((error.message.as_str(), error.hints[0].as_str()), (told, "Move each table to a sheet of its own."));
}

#[test]
fn xml_spreadsheets_of_excel_have_places_styles_and_types() {
    let seen = read(
        "<?xml version=\"1.0\"?>\n<?mso-application progid=\"Excel.Sheet\"?>\n<Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\" \
         xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\" xmlns:x=\"urn:schemas-microsoft-com:office:excel\">\n\
         <Styles><Style ss:ID=\"z\"><NumberFormat ss:Format=\"00000\"/></Style><Style ss:ID=\"y\" ss:Parent=\"z\"/>\
         <Style ss:ID=\"f\"><NumberFormat ss:Format=\"Fixed\"/></Style></Styles>\n\
         <Worksheet ss:Name=\"Old\"><Table><Row><Cell><Data ss:Type=\"String\">x</Data></Cell></Row></Table>\
         <WorksheetOptions xmlns=\"urn:schemas-microsoft-com:office:excel\"><Visible>SheetHidden</Visible></WorksheetOptions></Worksheet>\n\
         <Worksheet ss:Name=\"Lager\"><Table>\n\
         <Row><Cell><Data ss:Type=\"String\">Nr</Data></Cell><Cell><Data ss:Type=\"String\">Datum</Data></Cell>\
         <Cell ss:Index=\"4\"><Data ss:Type=\"String\">Pris</Data></Cell><Cell><Data ss:Type=\"String\">Ny</Data></Cell></Row>\n\
         <Row ss:Index=\"3\"><Cell ss:StyleID=\"y\"><Data ss:Type=\"Number\">101</Data>\
         <Comment ss:Author=\"x\"><ss:Data>no value</ss:Data></Comment></Cell>\
         <Cell><Data ss:Type=\"DateTime\">2019-05-04T00:00:00.000</Data></Cell>\
         <Cell ss:Index=\"4\" ss:StyleID=\"f\"><Data ss:Type=\"Number\">149900.5</Data></Cell><Cell><Data ss:Type=\"Boolean\">1</Data></Cell></Row>\n\
         <Row ss:Hidden=\"1\"><Cell ss:MergeAcross=\"1\"><ss:Data ss:Type=\"String\" xmlns=\"http://www.w3.org/TR/REC-html40\"><B>L</B>2 &amp; 3\
         </ss:Data></Cell><Cell/><Cell ss:Formula=\"=R[-1]C/0\"><Data ss:Type=\"Error\">#DIV/0!</Data></Cell></Row>\n\
         </Table><AutoFilter x:Range=\"R1C1:R4C4\" xmlns=\"urn:schemas-microsoft-com:office:excel\"/></Worksheet></Workbook>",
    );
    assert_eq!(
        seen.rows,
        [
            "1@3 Nr=00101; Datum=2019-05-04; 3=; Pris=149900.5; Ny=true",
            "2@4 Nr=L2 & 3; Datum=; 3=; !a formula with an error",
        ]
    );
    let detected = seen.reader.detected();
    assert_eq!((detected.form.name(), detected.sheet.as_deref()), ("XML2003", Some("Lager")));
    assert!(detected.notes.iter().any(|note| note.starts_with("1 row of the sheet is hidden by a filter (4)")));
    assert!(detected.notes.iter().any(|note| note.contains("merged cells: A4:B4)")), "{:?}", detected.notes);
}

#[test]
fn tables_of_pages_may_be_nested_and_unclosed() {
    let page = "<html><head><style>td { color: red }</style><script>\"<table><tr><td>no\"</script></head><body>\
                <table><tr><td>Menu<td>\n<TABLE border=1>\n<!-- <tr><td>no</td></tr> -->\n\
                <tr><th colspan=2>Nr &amp; plate<th>Price\n<tr><td rowspan=2>1<td>ABC&nbsp;123<td>1 &lt; 2<br>SEK\n\
                <tr><td><a href='https://a.example/?x=1&amp;y=2'><img src=x></a><td>  two\n  lines<tr><td>2<td>DEF456<td>5 </table></table>";
    let settings = Settings { header: Some(false), ..Settings::default() };
    let seen = read_with(page, &settings);
    assert_eq!(
        seen.rows,
        [
            "1@1 1=Nr & plate; 2=; 3=Price",
            "2@2 1=1; 2=ABC\u{a0}123; 3=1 < 2\nSEK",
            "3@3 1=; 2=https://a.example/?x=1&y=2; 3=two\nlines",
            "4@4 1=2; 2=DEF456; 3=5",
        ]
    );
    assert_eq!(seen.reader.detected().sheet.as_deref(), Some("Table 2"));
    assert!(refused(b"<html><body><table><tr><td>User<td><input></table></body></html>").contains("an HTML page"));
}
