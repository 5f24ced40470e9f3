//! What reading files costs, without doing anything with the rows: `cargo bench -p ad-migrate --bench reading`.
//!
//! Rows and bytes a second for each form, on one core, beside the `csv` crate that only splits the same bytes into records. The process
//! fails when CSV is read more slowly than it must be.

use std::{
    fmt::Write as _,
    fs,
    hint::black_box,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use ad_migrate::readers::{Reader, Settings};

/// As the binary has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of rows of each file.
const ROWS: usize = 200_000;
/// Fewest rows of CSV a second.
const RATE: f64 = 400_000.0;
/// Times that each file is read; the median counts.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    println!("{:<34}{:>10}{:>9}{:>12}{:>9}{:>20}", "", "rows", "MB", "rows/s", "MB/s", "of splitting alone");
    let mut kept = true;
    for (name, write, separator) in [
        ("CSV, Windows-1252, header", semicolons as fn(usize) -> Vec<u8>, Some(b';')),
        ("CSV, UTF-8, 46 columns, no header", positional, Some(b'|')),
        ("XML", xml, None),
        ("JSON", json, None),
    ] {
        let file = folder.path().join("stock");
        let bytes = write(ROWS);
        fs::write(&file, &bytes).expect("a temporary folder can be written");
        kept &= measure(name, &file, &bytes, separator);
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads a file and prints a line; `false` when that took too long.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are small")]
fn measure(name: &str, file: &Path, bytes: &[u8], separator: Option<u8>) -> bool {
    let took = median(|| assert_eq!(read(file), ROWS as u64, "every row is read"));
    let rate = ROWS as f64 / took.as_secs_f64();
    let ratio = separator.map(|separator| {
        let alone = median(|| assert!(split(bytes, separator) >= ROWS, "every row is split"));
        format!("{:.2}", alone.as_secs_f64() / took.as_secs_f64())
    });
    let met = separator.is_none() || rate >= RATE;
    let size = bytes.len() as f64 / 1e6;
    println!(
        "{name:<34}{ROWS:>10}{size:>9.0}{rate:>12.0}{:>9.0}{:>20}{}",
        size / took.as_secs_f64(),
        ratio.unwrap_or_default(),
        if met { "" } else { "  missed" }
    );
    met
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

/// Reads a file; returns the number of rows without errors.
fn read(file: &Path) -> u64 {
    let mut reader = Reader::open(file, &Settings::default()).expect("the file can be read");
    let (mut rows, mut batch) = (0, None);
    while let Some(it) = reader.next(batch.take()).expect("the file is whole") {
        rows += it.rows().filter(|row| black_box(row).findings().is_empty()).count() as u64;
        batch = Some(it);
    }
    rows
}

/// What the least that can be done with CSV takes.
fn split(bytes: &[u8], separator: u8) -> usize {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(bytes);
    let (mut record, mut rows) = (csv::ByteRecord::new(), 0);
    while reader.read_byte_record(&mut record).expect("a slice can be read") {
        rows += usize::from(black_box(&record).len() > 1);
    }
    rows
}

const TEXTS: [&str; 4] = [
    "Mycket fin bil i toppskick. Nyservad & besiktigad.",
    "Svensksåld, en ägare. <b>Fullservad</b> hos märkesverkstad.",
    "\"Rymlig familjebil.\nDrag och värmare. Vinterhjul ingår!\"",
    "\"Säljes i befintligt skick – \"\"reparationsobjekt\"\".\"",
];

fn plate(row: usize) -> String {
    let letter = |at: u32| char::from(b'A' + u8::try_from(row / 100 / 20_usize.pow(at) % 20).unwrap_or_default());
    format!("{}{}{}{:02}X", letter(2), letter(1), letter(0), row % 100)
}

fn images(row: usize) -> impl Iterator<Item = String> {
    (0..row % 9).map(move |at| format!("https://img.dealer.example/{row}/{at}.jpg"))
}

fn semicolons(rows: usize) -> Vec<u8> {
    let mut text = "Lagernr;Regnr;Chassinr;Märke;Modell;Utförande;Årsmodell;Miltal;Pris;Drivmedel;Växellåda;Kaross;Färg;Effekt (hk);Antal \
                    ägare;I trafik;Utrustning;Beskrivning;Bilder\r\n"
        .to_owned();
    for row in 0..rows {
        let images = images(row).collect::<Vec<_>>().join(",");
        let _ = write!(
            text,
            "L{row:06};{};YV1{row:014};Volvo;V60;T5 Momentum;20{:02};20 {:03};610 900 kr;Bensin;Aut;Kombi;Röd;85;2;2013-07-05;\
             Dragkrok|El-stolar;{};{images}\r\n",
            plate(row),
            row % 25,
            row % 1000,
            TEXTS[row % 4]
        );
    }
    encoding_rs::WINDOWS_1252.encode(&text).0.into_owned()
}

fn positional(rows: usize) -> Vec<u8> {
    let mut text = "\u{feff}".to_owned();
    for row in 0..rows {
        let mut images: Vec<_> = images(row).collect();
        images.resize(27, String::new());
        let _ = writeln!(
            text,
            "L{row:06}|VOLVO|V60|T5 Momentum|20{:02}|{}|YV1{row:014}|205590|610900|SEK|A|B|Cab|Röd|85|2|20130705|Dragkrok|{}|{}",
            row % 25,
            plate(row),
            TEXTS[row % 2],
            images.join("|")
        );
    }
    text.into_bytes()
}

fn xml(rows: usize) -> Vec<u8> {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<lager skapad=\"2026-11-01T03:00:00\">\n".to_owned();
    for row in 0..rows {
        let images = images(row).map(|url| format!("<bild url=\"{url}\"/>")).collect::<Vec<_>>().concat();
        let _ = writeln!(
            text,
            " <fordon id=\"L{row:06}\" typ=\"personbil\"><regnr>{}</regnr><vin>YV1{row:014}</vin><marke>Volvo</marke><modell>V60</modell>\
             <arsmodell>2024</arsmodell><matarstallning enhet=\"mil\">20559</matarstallning><pris valuta=\"SEK\">610900</pris><drivmedel>Bensin\
             </drivmedel><vaxellada>Aut</vaxellada><farg>Röd</farg><utrustning><rad>Dragkrok</rad></utrustning><text><![CDATA[{}]]></text>\
             <bilder>{images}</bilder></fordon>",
            plate(row),
            TEXTS[row % 4]
        );
    }
    text.push_str("</lager>\n");
    text.into_bytes()
}

fn json(rows: usize) -> Vec<u8> {
    let mut text = "{\"dealer\": {\"code\": \"north-cars\"}, \"vehicles\": [\n".to_owned();
    for row in 0..rows {
        let images: Vec<_> = images(row).map(|url| format!("{{\"order\": 1, \"href\": \"{url}\"}}")).collect();
        let _ = write!(
            text,
            "{}{{\"stockNumber\": \"L{row:06}\", \"identity\": {{\"registrationNumber\": \"{}\", \"vin\": \"YV1{row:014}\"}}, \"vehicle\": {{\"make\": \
             \"Volvo\", \"model\": \"V60\", \"variant\": null, \"modelYear\": \"2024\"}}, \"technical\": {{\"odometer\": {{\"value\": 20559, \"unit\": \
             \"mil\"}}, \"fuel\": \"Bensin\"}}, \"price\": {{\"amount\": 610900, \"currency\": \"SEK\"}}, \"equipment\": [\"Dragkrok\"], \
             \"description\": \"{}\", \"photos\": [{}]}}",
            if row == 0 { "" } else { ",\n" },
            plate(row),
            TEXTS[row % 2],
            images.join(", ")
        );
    }
    text.push_str("]}\n");
    text.into_bytes()
}
