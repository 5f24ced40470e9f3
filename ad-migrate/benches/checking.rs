//! What checking a legacy file costs, by the real binary: `cargo bench -p ad-migrate --bench checking`, and with `-- large` a file of
//! 1 GB too.
//!
//! Rows a second and the peak of the process's memory, over files of growing size: the rate must not fall and the memory must not grow.
//! Rows are cars as dealers' systems export them, an eighth of them with something wrong. The process fails when a bound is missed.

use ad_migrate::mapping::Mapping;
use rust_xlsxwriter::Workbook;
use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    process::{Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

const MAPPING: &str = "csv-semicolon-sv";
const BINARY: &str = env!("CARGO_BIN_EXE_ad-migrate");

/// Fewest rows a second, on two processors.
const RATE: f64 = 100_000.0;
/// Most memory, in KiB: 60 MB.
const MEMORY: u64 = 60_000_000 / 1024;
/// Times that each file is checked; the median counts.
const ROUNDS: usize = 3;
/// Rows of the small file and of the usual one.
const ROWS: [u64; 2] = [20_000, 200_000];
/// Bytes of the large one.
const LARGE: u64 = 1_000_000_000;
/// Number of rows of the spreadsheet.
const SHEET_ROWS: u32 = 50_000;
/// Longest time to check it.
const SHEET_TIME: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    let given = |what: &str| arguments.iter().any(|argument| argument == what);
    if !given("--bench") {
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    println!("{} processors", thread::available_parallelism().map_or(1, usize::from));
    println!("{:>12}{:>8}{:>12}{:>10}{:>10}{:>14}", "rows", "MB", "rows/s", "of first", "peak MiB", "of first");
    let mut first = None;
    let mut kept = true;
    let large = given("large").then_some((u64::MAX, LARGE, 1));
    for (rows, bytes, rounds) in ROWS.map(|rows| (rows, u64::MAX, ROUNDS)).into_iter().chain(large) {
        kept &= measure(folder.path(), rows, bytes, rounds, &mut first);
    }
    kept &= measure_sheet(folder.path());
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Checks a file of so many rows, or of so many bytes, and prints a line; `false` when a bound is missed.
#[expect(clippy::cast_precision_loss, reason = "counts of rows are small")]
fn measure(folder: &Path, rows: u64, bytes: u64, rounds: usize, first: &mut Option<(f64, f64)>) -> bool {
    let file = folder.join("stock.csv");
    let (rows, size) = write(&file, rows, bytes);
    let mut runs: Vec<_> = (0..rounds).map(|_| checked(&file, MAPPING)).collect();
    runs.sort_by_key(|(took, _)| *took);
    let rate = rows as f64 / runs[rounds / 2].0.as_secs_f64();
    let memory = runs.iter().map(|(_, memory)| *memory).max().unwrap_or_default();
    let (first_rate, first_memory) = *first.get_or_insert((rate, memory as f64));
    let met = rate >= RATE && memory < MEMORY;
    println!(
        "{rows:>12}{:>8}{rate:>12.0}{:>10.2}{:>10}{:>14.2}{}",
        size / 1_000_000,
        rate / first_rate,
        memory / 1024,
        memory as f64 / first_memory,
        if met { "" } else { "  missed" }
    );
    fs::remove_file(&file).expect("the file is there");
    met
}

/// Checks a spreadsheet, and prints a line; `false` when it takes too long.
fn measure_sheet(folder: &Path) -> bool {
    let (file, mapping) = (folder.join("stock.xlsx"), folder.join("stock.toml"));
    write_sheet(&file);
    let builtin = Mapping::builtin(MAPPING).expect("it is built in");
    let settings = ["form", "separator"];
    let lines = builtin.lines().filter(|line| !settings.iter().any(|name| line.starts_with(name)));
    fs::write(&mapping, lines.collect::<Vec<_>>().join("\n")).expect("a temporary folder can be written");
    let mapping = mapping.to_str().expect("temporary folders have plain names");
    let mut runs: Vec<_> = (0..ROUNDS).map(|_| checked(&file, mapping)).collect();
    runs.sort_by_key(|(took, _)| *took);
    let (took, memory) = runs[ROUNDS / 2];
    let met = took <= SHEET_TIME;
    println!("xlsx of {SHEET_ROWS} rows: {took:.2?}, {} MiB{}", memory / 1024, if met { "" } else { "  missed" });
    met
}

/// Writes the same cars into a spreadsheet, with numbers as numbers.
fn write_sheet(file: &Path) {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    let mut dice = Dice(7);
    for number in 0..=SHEET_ROWS {
        let text = if number == 0 { HEADER.to_owned() } else { row(number.into(), &mut dice) };
        for (column, cell) in (0..).zip(text.trim_end().split(';')) {
            let cell = cell.trim_matches('"');
            let written = match cell.parse::<f64>() {
                Ok(value) => sheet.write(number, column, value),
                Err(_) => sheet.write(number, column, cell),
            };
            written.expect("the cell is within the sheet");
        }
    }
    book.save(file).expect("a temporary folder can be written");
}

/// How long it takes to check a file, and the peak of its memory in KiB.
fn checked(file: &Path, mapping: &str) -> (Duration, u64) {
    let begun = Instant::now();
    let mut process = Command::new(BINARY)
        .arg("check")
        .arg(file)
        .args(["--mapping", mapping, "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the binary can be started");
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    loop {
        // The kernel keeps the peak; the last look before the end counts.
        peak = peak.max(fs::read_to_string(&status).ok().and_then(|text| high_water(&text)).unwrap_or_default());
        if let Some(ended) = process.try_wait().expect("an own process can be waited for") {
            assert_eq!(ended.code(), Some(3), "some rows cannot go, and the file was read to its end");
            return (begun.elapsed(), peak);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn high_water(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?.parse().ok()
}

/// Writes rows until there are so many, or so many bytes of them; returns how many there are of both.
fn write(file: &Path, rows: u64, bytes: u64) -> (u64, u64) {
    let mut out = BufWriter::new(File::create(file).expect("a temporary folder can be written"));
    let mut dice = Dice(7);
    let mut text = HEADER.to_owned();
    let (mut written, mut size) = (0, 0);
    loop {
        // Windows-1252, of which all letters here have one byte.
        let encoded: Vec<u8> = text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?')).collect();
        out.write_all(&encoded).expect("there is room");
        size += encoded.len() as u64;
        if written == rows || size >= bytes {
            out.flush().expect("there is room");
            return (written, size);
        }
        written += 1;
        text = row(written, &mut dice);
    }
}

const HEADER: &str = "Lagernr;Regnr;Chassinr;Märke;Modell;Utförande;Årsmodell;Miltal;Pris;Drivmedel;Växellåda;Kaross;Färg;\
    Effekt (hk);Antal ägare;I trafik;Utrustning;Beskrivning;Bilder\r\n";

const BRANDS: &[(&str, &[&str])] = &[
    ("Volvo", &["V60", "XC60", "V90", "XC40", "S60"]),
    ("Volkswagen", &["Golf", "Passat", "Tiguan", "Polo"]),
    ("BMW", &["X3", "X5", "i4"]),
    ("Kia", &["Niro", "Sportage", "Ceed"]),
    ("Saab", &["9-3", "9-5"]),
];
const TEXTS: &[&str] = &[
    "Mycket fin bil i toppskick. Nyservad & besiktigad.",
    "Svensksåld, en ägare. <b>Fullservad</b> hos märkesverkstad.",
    "\"Rymlig familjebil.\nDrag och värmare. Vinterhjul ingår!\"",
    "\"Säljes i befintligt skick, \"\"reparationsobjekt\"\".\"",
];

/// A car, as a dealer's system writes it.
fn row(number: u64, dice: &mut Dice) -> String {
    let (brand, models) = *dice.of(BRANDS);
    let (mut brand, model) = (brand, *dice.of(models));
    let (mut plate, mut vin) = (plate(number), format!("YV1{number:014}"));
    let mut year = 2004 + dice.below(22);
    let mut images: Vec<_> =
        (0..dice.below(9)).map(|image| format!("https://img.dealer.example/{number}/{image}.jpg")).collect();
    match dice.below(100) {
        0..2 => (plate, vin) = (String::new(), String::new()),
        2..4 if number > 100 => plate = self::plate(1 + dice.below(number - 1)),
        4..6 => images = vec![format!("{plate}_0.JPG")],
        6..8 => images = vec!["http://img.dealer.example/1.jpg".to_owned()],
        8..10 => brand = "Wolvo",
        10 => year = 20_211,
        11 => images = (0..27).map(|image| format!("https://img.dealer.example/{number}/{image}.jpg")).collect(),
        _ => {}
    }
    format!(
        "L{number:07};{plate};{vin};{brand};{model};{};{year};{} {:03};{} 900 kr;{};{};{};{};{};{};{}-{:02}-{:02};{};{};{}\r\n",
        dice.of(&["", "T5 Momentum", "GTI", "R-Design"]),
        1 + dice.below(24),
        dice.below(1000),
        15 + dice.below(780),
        dice.of(&["Bensin", "Diesel", "El", "Bensin/El", "Etanol", "Gas"]),
        dice.of(&["Manuell", "Automat", "Aut"]),
        dice.of(&["Kombi", "SUV", "Sedan", "Halvkombi", "Cab"]),
        dice.of(&["Svart", "Vit", "Mörkgrå metallic", "Röd", "Blå", "Silver"]),
        60 + dice.below(440),
        1 + dice.below(5),
        2004 + dice.below(22),
        1 + dice.below(12),
        1 + dice.below(28),
        dice.of(&["", "Dragkrok", "Motorvärmare|Backkamera", "El-stolar|Takräcke|Vinterhjul, dubbade"]),
        dice.of(TEXTS),
        images.join(","),
    )
}

/// A plate for each number, of twelve million.
fn plate(number: u64) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHJKLMNOPRSTUWXYZ";
    let letter = |place: u32| {
        let index = number / 1000 / 23_u64.pow(place) % 23;
        char::from(LETTERS[usize::try_from(index).unwrap_or_default()])
    };
    format!("{}{}{}{:03}", letter(2), letter(1), letter(0), number % 1000)
}

/// Numbers that are the same each time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[usize::try_from(self.below(values.len() as u64)).unwrap_or_default()]
    }
}
