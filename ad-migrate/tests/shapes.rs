//! Small files of hostile shapes: whatever a file of some kilobytes repeats, nests, declares or leaves open, it is read or refused, in bounded
//! time and memory. Files that unpack to much are in `bombs.rs`, hostile values in spreadsheets beside their readers.

#![expect(clippy::unwrap_used, reason = "a helper of a test that panics fails that test")]

use std::{
    fs,
    io::{Cursor, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};

const MAPPING: &str = "[vehicle]\ntype = \"car\"\n[fields]\nsource_id = \"id\"\n";

/// A command that has not ended by then hangs.
const MOST: Duration = Duration::from_mins(1);

/// How often a shape repeats its unit.
const TIMES: usize = 1000;

const HEAD: &str = "id;title;price\n";

fn csv() -> Vec<(&'static str, String)> {
    let columns = |cell: &str, count: usize| [cell].repeat(count).join(";");
    vec![
        ("separators.csv", ";".repeat(TIMES)),
        ("rows-of-separators.csv", HEAD.to_owned() + &";;\n".repeat(TIMES)),
        ("line-ends.csv", HEAD.to_owned() + &"\n".repeat(TIMES)),
        ("carriage-returns.csv", HEAD.to_owned() + &"\r".repeat(TIMES)),
        ("quotes.csv", "\"".repeat(TIMES)),
        ("open-quote.csv", HEAD.to_owned() + "a1;\"" + &"a\n".repeat(TIMES)),
        ("quotes-within.csv", HEAD.to_owned() + "a1;" + &"a\"".repeat(TIMES) + ";1\n"),
        ("one-cell.csv", HEAD.to_owned() + "a1;" + &"x".repeat(TIMES * 20) + ";1\n"),
        ("one-column.csv", "id\n".repeat(TIMES)),
        ("same-names.csv", columns("id", 1900) + "\n" + &columns("1", 1900)),
        ("too-many-columns.csv", columns("c", TIMES) + "\n" + &columns("1", TIMES)),
        ("rows-of-all-lengths.csv", (0..300).map(|length| columns("1", length) + "\n").collect::<String>()),
        ("same-ids.csv", HEAD.to_owned() + &"a1;b;1\n".repeat(TIMES)),
        ("nul.csv", HEAD.to_owned() + &"\0".repeat(TIMES)),
        ("controls.csv", HEAD.to_owned() + &"\u{1b}[2J;\u{7};\u{8}\n".repeat(TIMES)),
        ("combining.csv", HEAD.to_owned() + "a1;a" + &"\u{301}".repeat(TIMES) + ";1\n"),
        ("directions.csv", HEAD.to_owned() + &"\u{202e}a;\u{2066}b;1\n".repeat(TIMES)),
        ("formulas.csv", HEAD.to_owned() + &"=1+1;@a;-1\n".repeat(TIMES)),
        ("numbers.csv", HEAD.to_owned() + "a1;b;" + &"9".repeat(TIMES) + "\n"),
        ("exponents.csv", HEAD.to_owned() + &"a1;1e308;1e-308\n".repeat(TIMES)),
        ("separators-of-all-kinds.csv", "a;b,c\td|e\n".repeat(TIMES)),
        ("padding.txt", "a          ".repeat(TIMES)),
    ]
}

fn json() -> Vec<(&'static str, String)> {
    let list = |item: &str, count: usize| format!("[{}]", [item].repeat(count).join(","));
    let named = |count: usize| (0..count).map(|number| format!("\"k{number}\":1")).collect::<Vec<_>>().join(",");
    vec![
        ("nested-lists.json", "[".repeat(TIMES) + &"]".repeat(TIMES)),
        ("nested-objects.json", "{\"a\":".repeat(TIMES) + "1" + &"}".repeat(TIMES)),
        ("open-lists.json", "[".repeat(TIMES)),
        ("empty-objects.json", list("{}", TIMES)),
        ("numbers.json", list("1", TIMES)),
        ("digits.json", format!("[{{\"id\":{}}}]", "9".repeat(TIMES))),
        ("long-name.json", format!("[{{\"{}\":1}}]", "k".repeat(TIMES * 10))),
        ("many-names.json", format!("[{{{}}}]", named(TIMES))),
        ("other-names-each.json", format!("[{}]", named(TIMES).replace(',', "},{").replacen('"', "{\"", 1) + "}")),
        ("same-name.json", format!("[{{{}}}]", ["\"id\":1"].repeat(TIMES).join(","))),
        ("lists-within.json", format!("[{{\"id\":\"1\",\"image_urls\":{}}}]", list("[[1]]", TIMES))),
        ("escapes.json", format!("[{{\"id\":\"{}\"}}]", "\\u00e5".repeat(TIMES))),
        ("half-pairs.json", format!("[{{\"id\":\"{}\"}}]", "\\ud800".repeat(TIMES))),
        ("text.json", format!("\"{}\"", "a".repeat(TIMES))),
        ("not-ended.json", list("{\"id\":\"1\"}", TIMES).trim_end_matches(']').to_owned()),
        ("objects-without-commas.ndjson", "{\"id\":\"1\"}".repeat(TIMES)),
        ("lines-that-are-none.ndjson", "{\"id\":\"1\"}\nx\n".repeat(TIMES)),
    ]
}

fn markup() -> Vec<(&'static str, String)> {
    let ads = |inner: &str| format!("<ads><ad><id>1</id></ad>{inner}<ad><id>2</id></ad></ads>");
    let numbered = |make: fn(usize) -> String| (0..TIMES).map(make).collect::<String>();
    vec![
        ("nested.xml", "<a>".repeat(TIMES) + &"</a>".repeat(TIMES)),
        ("open.xml", ads(&"<ad>".repeat(TIMES))),
        ("attributes.xml", ads(&format!("<ad {}/>", numbered(|number| format!("a{number}=\"1\" "))))),
        ("same-attribute.xml", ads(&format!("<ad {}/>", "a=\"1\" ".repeat(TIMES)))),
        ("other-names-each.xml", ads(&numbered(|number| format!("<ad><a{number}>1</a{number}></ad>")))),
        ("same-names.xml", ads(&format!("<ad>{}</ad>", "<id>1</id>".repeat(TIMES)))),
        (
            "namespaces.xml",
            format!("<ads {}><ad><id>1</id></ad></ads>", numbered(|number| format!("xmlns:n{number}=\"u\" "))),
        ),
        ("comment.xml", ads(&format!("<!--{}-->", "x".repeat(TIMES * 10)))),
        ("open-comment.xml", ads(&format!("<!--{}", "- ".repeat(TIMES)))),
        ("cdata.xml", ads(&"<ad><id><![CDATA[]]]]></id></ad>".repeat(TIMES))),
        ("instructions.xml", ads(&"<?a b?>".repeat(TIMES))),
        ("entities.xml", ads(&format!("<ad><id>{}</id></ad>", "&#xe5;&b;&#0;".repeat(TIMES)))),
        ("closed-only.xml", ads(&"</ad>".repeat(TIMES))),
        ("angle-brackets.xml", "<".repeat(TIMES)),
        ("tables.xls", "<html>".to_owned() + &"<table><tr><td>".repeat(TIMES)),
        (
            "spans.xls",
            format!("<html><table>{}</table></html>", "<tr><td colspan=1000>a<td rowspan=65000>b".repeat(TIMES)),
        ),
        ("cells.xls", format!("<html><table><tr>{}</table></html>", "<td>a".repeat(TIMES))),
    ]
}

fn zip_of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(&bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A table of dBASE III with a column, and what it declares.
fn dbf(records: u32, header: u16, record: u16, body: &[u8]) -> Vec<u8> {
    let mut file = vec![3, 120, 1, 1];
    file.extend(records.to_le_bytes());
    file.extend(header.to_le_bytes());
    file.extend(record.to_le_bytes());
    file.extend([0; 20]);
    file.extend(b"ID\0\0\0\0\0\0\0\0\0C\0\0\0\0\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\r");
    file.extend(body);
    file
}

fn binary() -> Vec<(&'static str, Vec<u8>)> {
    let rows = (HEAD.to_owned() + &"a1;b;1\n".repeat(TIMES)).into_bytes();
    let record = b" a1        ";
    vec![
        ("zeros.csv", vec![0; TIMES]),
        ("high-bytes.csv", [HEAD.as_bytes(), &[0xff; TIMES]].concat()),
        ("utf-16-odd.csv", [&b"\xff\xfe"[..], &b"i\0d\0\n\0".repeat(TIMES), b"a"].concat()),
        ("cut.csv.gz", gzip(&rows)[..60].to_vec()),
        ("twice.csv.gz", gzip(&gzip(&rows))),
        ("parts.csv.gz", gzip(b"id\n1\n").repeat(200)),
        ("then-text.csv.gz", [gzip(&rows), rows.clone()].concat()),
        ("many.zip", zip_of((0..2000).map(|number| (format!("{number}.csv"), Vec::new())))),
        ("nested.zip", zip_of([("inner.zip".to_owned(), zip_of([("a.csv".to_owned(), rows.clone())]))])),
        ("long-names.zip", zip_of((0..4).map(|number| ("n".repeat(30_000) + &number.to_string(), rows.clone())))),
        ("cut.zip", zip_of([("a.csv".to_owned(), rows)])[..70].to_vec()),
        ("no-list.zip", [&b"PK\x03\x04"[..], &[0; TIMES]].concat()),
        ("records-declared.dbf", dbf(u32::MAX, 65, 11, &record.repeat(3))),
        ("header-declared.dbf", dbf(3, u16::MAX, 11, &record.repeat(3))),
        ("no-length.dbf", dbf(3, 65, 0, &record.repeat(3))),
        ("long-record.dbf", dbf(3, 65, u16::MAX, &record.repeat(3))),
        ("one-sector.xls", [&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"[..], &[0xff; 504]].concat()),
    ]
}

/// Runs a command on a file: it ends by itself, and says what is wrong if it does not succeed.
fn is_read_or_refused(folder: &Path, arguments: &[&str]) {
    let printed = folder.join("printed");
    let mut process = Command::new(env!("CARGO_BIN_EXE_ad-migrate"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&printed).unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = process.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > MOST {
            process.kill().unwrap();
            process.wait().unwrap();
            panic!("{arguments:?} takes longer than {MOST:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let printed = fs::read_to_string(&printed).unwrap();
    assert!(matches!(status.code(), Some(0..=3)), "{arguments:?}: {status}: {printed}");
    assert!(!printed.trim().is_empty(), "{arguments:?} says nothing");
}

#[test]
fn small_files_of_hostile_shapes_are_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mapping.toml"), MAPPING).unwrap();
    let texts = [csv(), json(), markup()].concat();
    let files = texts.into_iter().map(|(name, text)| (name, text.into_bytes())).chain(binary());
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
        for arguments in [&["check", name, "--mapping", "mapping.toml", "--limit-shown", "1"][..], &["inspect", name]] {
            is_read_or_refused(folder.path(), arguments);
        }
    }
}
