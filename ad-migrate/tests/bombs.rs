//! Hostile files: small ones that unpack to much, and records in which everything is wrong. However much of anything a file has, the memory
//! that checking and inspecting it take is bounded, and rows of other vehicles are read.

#![expect(clippy::unwrap_used, reason = "a helper of a test that panics fails that test")]

mod peak;

use std::{
    fs::{self, File},
    io::{BufWriter, Cursor, Write},
    path::Path,
};

use flate2::{Compression, write::GzEncoder};
use peak::{MAPPING, MEMORY, Ran, run};

/// Writes a file, packed if its name says so, and returns how long it is.
fn pack(path: &Path, write: impl FnOnce(&mut dyn Write)) -> u64 {
    let mut out = BufWriter::new(File::create(path).unwrap());
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut packed = GzEncoder::new(&mut out, Compression::fast());
        write(&mut packed);
        packed.finish().unwrap();
    } else {
        write(&mut out);
    }
    out.flush().unwrap();
    fs::metadata(path).unwrap().len()
}

fn repeat(out: &mut dyn Write, text: &str, times: usize) {
    let block = text.repeat(1000);
    (0..times / 1000).for_each(|_| out.write_all(block.as_bytes()).unwrap());
}

/// Checks and inspects a file within the bound.
#[track_caller]
fn is_bounded(name: &str, says: &str, write: impl FnOnce(&mut dyn Write)) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mapping.toml"), MAPPING).unwrap();
    let length = pack(&folder.path().join(name), write);
    for arguments in [&["check", name, "--mapping", "mapping.toml"][..], &["inspect", name]] {
        let Ran { code, stdout, stderr: printed, peak } = run(folder.path(), arguments);
        assert!(matches!(code, Some(0..=3)) && stdout.len() < 4 << 20, "{arguments:?}: {code:?}: {printed}");
        println!("{}, {length} bytes: peak {} MiB", arguments.join(" "), peak / 1024);
        assert!(cfg!(not(target_os = "linux")) || (1..MEMORY).contains(&peak), "{arguments:?}: {peak} KiB");
        assert!(arguments[0] != "check" || printed.contains(says), "{arguments:?}: {printed}");
    }
}

/// A record with a good one on either side.
fn between(out: &mut dyn Write, begin: &str, record: impl FnOnce(&mut dyn Write), end: &str) {
    out.write_all(b"<lager><fordon><id>1</id></fordon>").unwrap();
    out.write_all(begin.as_bytes()).unwrap();
    record(out);
    out.write_all(end.as_bytes()).unwrap();
    out.write_all(b"<fordon><id>3</id></fordon></lager>").unwrap();
}

#[test]
fn unknown_entities_without_number() {
    is_bounded("entities.xml.gz", "of 3 rows", |out| {
        between(out, "<fordon><id>", |out| repeat(out, "&x;", 2_000_000), "</id></fordon>");
    });
}

#[test]
fn letters_and_attributes_without_number() {
    is_bounded("letters.xml", "of 3 rows", |out| {
        between(out, "<fordon><id>", |out| repeat(out, "&#229;", 2_000_000), "</id></fordon>");
    });
    is_bounded("attributes.xml", "of 3 rows", |out| {
        between(out, "<fordon ", |out| repeat(out, "a='&y;' ", 1_000_000), "/>");
    });
}

#[test]
fn long_names_and_elements_that_are_never_closed() {
    is_bounded("names.xml", "name of more than 1000 bytes", |out| {
        out.write_all(b"<lager><fordon><id>1</id></fordon>").unwrap();
        for _ in 0..20 {
            out.write_all(b"<").unwrap();
            repeat(out, "n", 8_000_000);
            out.write_all(b">").unwrap();
        }
    });
    is_bounded("open.xml", "elements are not closed", |out| {
        between(
            out,
            "<fordon>",
            |out| repeat(out, "<bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>", 1_000_000),
            "",
        );
    });
}

#[test]
fn json_records_of_empty_values_and_of_long_names() {
    is_bounded("values.ndjson", "of 7 rows", |out| {
        out.write_all(b"{\"id\": \"1\"}\n").unwrap();
        for _ in 0..6 {
            out.write_all(b"{\"id\": [").unwrap();
            repeat(out, "\"\",", 1_200_000);
            out.write_all(b"\"\"]}\n").unwrap();
        }
    });
    is_bounded("names.ndjson", "of 26 rows", |out| {
        out.write_all(b"{\"id\": \"1\"}\n").unwrap();
        for number in 0..25 {
            write!(out, "{{\"{number}").unwrap();
            repeat(out, "n", 3_000_000);
            out.write_all(b"\": 1}\n").unwrap();
        }
    });
}

#[test]
fn csv_rows_of_separators() {
    is_bounded("rows.csv", "of 4 rows", |out| {
        out.write_all(b"id;b\n1;2\n").unwrap();
        for _ in 0..3 {
            repeat(out, ";", 4_000_000);
            out.write_all(b"x\n").unwrap();
        }
    });
    is_bounded("header.csv", "at most 2000 can be read", |out| {
        repeat(out, "a;", 300_000);
        out.write_all(b"b\n").unwrap();
        repeat(out, "1;", 300_000);
        out.write_all(b"2\n").unwrap();
    });
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// Writes a workbook with so many sheets, which are all the same part.
fn workbook(out: &mut dyn Write, sheets: usize, styles: &str, cells: &str) {
    let relation = |id: &str, of: &str, target: &str| {
        format!("<Relationship Id='{id}' Type='{RELATIONS}/{of}' Target='{target}'/>")
    };
    let sheets: Vec<_> = (0..sheets).map(|number| format!("<sheet name='S{number}' r:id='s'/>")).collect();
    let sheets = sheets.concat();
    let parts = [
        ("[Content_Types].xml", "<Types/>".to_owned()),
        ("xl/workbook.xml", format!("<workbook xmlns:r='r'><sheets>{sheets}</sheets></workbook>")),
        (
            "xl/_rels/workbook.xml.rels",
            format!("<r>{}{}</r>", relation("s", "worksheet", "sheet.xml"), relation("f", "styles", "styles.xml")),
        ),
        ("xl/styles.xml", styles.to_owned()),
        ("xl/sheet.xml", format!("<worksheet><sheetData>{cells}</sheetData></worksheet>")),
    ];
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    out.write_all(archive.finish().unwrap().get_ref()).unwrap();
}

#[test]
fn many_sheets_that_are_the_same_part() {
    is_bounded("sheets.xlsx", "finding its table takes far more reading than its size allows", |out| {
        workbook(out, 50, "<styles/>", &format!("<!--{}-->", "x".repeat(8_000_000)));
    });
}

#[test]
fn styles_without_number() {
    is_bounded("styles.xlsx", "it has more sheets, styles and names than can be kept", |out| {
        workbook(out, 1, &format!("<styles><cellXfs>{}</cellXfs></styles>", "<xf/>".repeat(1_500_000)), "");
    });
}

const FLAT: &str = "<office:document xmlns:office='o' xmlns:table='t' office:mimetype='application/vnd.oasis.opendocument.spreadsheet'>\
                    <table:table table:name='a'><table:table-row>";
const CELL: &str = "<table:table-cell office:value-type='string' office:string-value='";

#[test]
fn rows_that_a_document_repeats() {
    let long = |length: usize| format!("{CELL}{}'/>", "x".repeat(length));
    is_bounded("row.fods.gz", "it repeats a row of more than 4 MiB", |out| {
        let head = format!("{FLAT}{CELL}id'/></table:table-row><table:table-row table:number-rows-repeated='2'>");
        out.write_all(head.as_bytes()).unwrap();
        (0..6).for_each(|_| out.write_all(long(1_000_000).as_bytes()).unwrap());
        out.write_all(b"</table:table-row></table:table></office:document>").unwrap();
    });
    // What the file is packed in counts, and not what it unpacks to.
    is_bounded("rows.fods.gz", "it has far more in its cells than in its file", |out| {
        let head = format!("{FLAT}{CELL}id'/></table:table-row><table:table-row table:number-rows-repeated='5000'>");
        out.write_all(head.as_bytes()).unwrap();
        out.write_all(long(20_000).as_bytes()).unwrap();
        out.write_all(b"</table:table-row></table:table></office:document>").unwrap();
    });
}
