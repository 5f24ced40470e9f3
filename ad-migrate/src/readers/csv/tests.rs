use std::fmt::Write as _;

use proptest::prelude::*;

use super::scan::Dialect;
use crate::readers::{
    Settings,
    testing::{read, read_with},
};

#[test]
fn a_header_names_the_columns_and_rows_have_the_numbers_and_lines_of_the_file() {
    let seen = read(
        "Regnr;Märke;Text\r\nABC123;Volvo;\"Fin bil.\r\nKör bra; nästan\"\r\n\r\nDEF456;Saab;\"\"\"Klassiker\"\"\"\r\n",
    );
    assert_eq!(
        seen.rows,
        [
            "1@2 Regnr=ABC123; Märke=Volvo; Text=Fin bil.\r\nKör bra; nästan",
            "2@5 Regnr=DEF456; Märke=Saab; Text=\"Klassiker\"",
        ]
    );
    let detected = seen.reader.detected();
    assert_eq!((detected.separator, detected.header, detected.encoding.as_str()), (Some(';'), Some(true), "utf-8"));
}

#[test]
fn without_a_header_columns_are_called_by_their_positions() {
    let seen = read("L1|VOLVO|2024|https://img.example/1.jpg\nL2|KIA|2006|\n");
    assert_eq!(seen.rows, ["1@1 1=L1; 2=VOLVO; 3=2024; 4=https://img.example/1.jpg", "2@2 1=L2; 2=KIA; 3=2006; 4="]);
    let note = &seen.reader.detected().notes[3];
    assert_eq!(
        note,
        "No header: \"https://img.example/1.jpg\" in the first row is an address. Columns are numbered from 1."
    );
}

#[test]
fn a_separator_of_amounts_does_not_make_columns() {
    let seen = read("Regnr;Pris;Motor\nABC123;1,5;2,5\nDEF456;3,5;4,5\n");
    assert_eq!(seen.rows, ["1@2 Regnr=ABC123; Pris=1,5; Motor=2,5", "2@3 Regnr=DEF456; Pris=3,5; Motor=4,5"]);
}

#[test]
fn the_line_in_which_excel_names_the_separator_is_no_row() {
    let seen = read("sep=,\nRegnr,Pris\nABC123,100\n");
    assert_eq!(seen.rows, ["1@3 Regnr=ABC123; Pris=100"]);
}

#[test]
fn settings_come_before_what_would_be_detected() {
    let settings = Settings { separator: Some('#'), header: Some(false), quote: Some('\''), ..Settings::default() };
    let seen = read_with("Regnr#'a#b'\nABC;1#x\n", &settings);
    assert_eq!(seen.rows, ["1@1 1=Regnr; 2=a#b", "2@2 1=ABC;1; 2=x"]);
}

#[test]
fn a_row_with_other_columns_than_it_should_have_is_told_and_the_next_one_is_read() {
    let seen = read("Regnr;Text;Pris\nABC123;fin; dyr;100\nDEF456;200\nGHI789;bra;;\nJKL012;;300\n");
    assert_eq!(
        seen.rows,
        [
            "1@2 Regnr=ABC123; Text=fin; Pris= dyr; !too many columns",
            "2@3 Regnr=DEF456; Text=200; !too few columns",
            "3@4 Regnr=GHI789; Text=bra; Pris=",
            "4@5 Regnr=JKL012; Text=; Pris=300",
        ]
    );
    assert_eq!(
        seen.messages,
        [
            "The row has 4 columns instead of 3: \"100\" at its end is too many.",
            "The row has 2 columns instead of 3: it ends with column \"Text\"."
        ]
    );
}

#[test]
fn rows_may_be_short_where_empty_cells_at_the_end_are_left_out_throughout() {
    let seen = read("a;b;c;d\nx1;2;3;4\nx2;2\nx3;2;3\nx4;2;3;4\n");
    assert_eq!(seen.rows[1], "2@3 a=x2; b=2");
    assert!(seen.messages.is_empty());
    assert!(seen.reader.detected().notes.iter().any(|note| note.starts_with("Rows may be short: 2 of the first 4")));
}

#[test]
fn a_quote_that_is_not_closed_costs_one_row() {
    let seen = read("a;b;c\nx1;\"fine\nstill;fine\";3\nx2;\"open;2\nx3;\"ok\";3\nx4;4;4\n");
    assert_eq!(
        seen.rows,
        [
            "1@2 a=x1; b=fine\nstill;fine; c=3",
            "2@4 a=x2; b=\"open; c=2; !a quote is not closed",
            "3@5 a=x3; b=ok; c=3",
            "4@6 a=x4; b=4; c=4",
        ]
    );
    assert_eq!(
        seen.messages,
        [
            "In row 2, line 4, column \"b\" opens a quote (\") that is never closed. The row is read up to the end of that line."
        ]
    );
}

#[test]
fn a_quote_that_would_swallow_the_rest_of_a_file_is_found() {
    let mut text = "a;b\nx0;\"open\n".to_owned();
    for row in 1..200_000 {
        writeln!(text, "x{row};{row}").unwrap();
    }
    let seen = read(&text);
    assert_eq!(seen.rows.len(), 200_000);
    assert_eq!(seen.rows[0], "1@2 a=x0; b=\"open; !a quote is not closed");
    assert_eq!(seen.rows[199_999], "200000@200001 a=x199999; b=199999");
}

#[test]
fn a_quote_within_a_quoted_text_is_told_and_belongs_to_it() {
    let seen = read("a;b;c\nx1;\"18\" fälg\";3\nx2;2;3\n");
    assert_eq!(seen.rows[0], "1@2 a=x1; b=18\" fälg; c=3; !a quote within a quoted text");
    assert_eq!(seen.rows[1], "2@3 a=x2; b=2; c=3");
}

#[test]
fn names_that_occur_again_or_are_missing_get_others() {
    let seen = read("Regnr;Bild;Bild;;Bild (2)\nABC123;a;b;c;d\n");
    assert_eq!(seen.rows, ["1@2 Regnr=ABC123; Bild=a; Bild (3)=b; 4=c; Bild (2)=d"]);
}

#[test]
fn a_row_in_another_encoding_is_told_with_its_column() {
    let seen = read(b"Regnr;F\xc3\xa4rg;\xc3\x96vrigt\nABC123;Bl\xc3\xa5;\xc3\xa5\xc3\xa4\nDEF456;R\xf6d;x\nGHI789;Gr\xc3\xb6n;\xc3\xb6\n");
    assert_eq!(seen.rows[1], "2@3 Regnr=DEF456; Färg=R\u{fffd}d; Övrigt=x; !not in the file's encoding");
    assert_eq!(seen.rows[2], "3@4 Regnr=GHI789; Färg=Grön; Övrigt=ö");
    let seen = read(b"Regnr;F\xe4rg;\xd6vrigt\nABC123;Bl\xe5;\xe5\xe4\nDEF456;R\xc3\xb6d;x\nGHI789;Gr\xf6n;\xf6\n");
    assert_eq!(seen.reader.detected().encoding, "windows-1252");
    assert_eq!(seen.rows[1], "2@3 Regnr=DEF456; Färg=Röd; Övrigt=x; !not in the file's encoding");
    assert_eq!(
        seen.messages,
        ["Column \"Färg\" contains bytes that are not windows-1252, the encoding of the file: \"Röd\"."]
    );
}

#[test]
fn utf_16_is_read_with_and_without_a_mark() {
    let text = "Regnr\tFärg\nABC123\tBlå 🚗\n";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [bytes.clone(), [b"\xff\xfe", bytes.as_slice()].concat()] {
        let seen = read(bytes);
        assert_eq!(seen.reader.detected().encoding, "utf-16le");
        assert_eq!(seen.rows, ["1@2 Regnr=ABC123; Färg=Blå 🚗"]);
    }
}

#[test]
fn half_a_unit_of_utf_16_is_told() {
    let mut bytes: Vec<u8> = "Regnr;Färg\nABC123;Blå\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.extend(b"D\0;\0\x3d\xd8x\0\n\0");
    let seen = read(bytes);
    assert_eq!(seen.rows[1], "2@3 Regnr=D; Färg=\u{fffd}x; !not in the file's encoding");
}

#[test]
fn a_line_too_long_for_a_row_costs_that_row() {
    let text = format!("a;b\nx1;1\nx2;{}\nx3;3\n", "y".repeat(5 << 20));
    let seen = read(text);
    assert_eq!(seen.rows, ["1@2 a=x1; b=1", "2@3 !the row is too long", "3@4 a=x3; b=3"]);
}

#[test]
fn old_line_ends_are_line_ends() {
    let seen = read("a;b\rx1;1\rx2;2\r");
    assert_eq!(seen.rows.len(), 2);
}

#[test]
fn images_may_be_as_many_columns_as_there_are() {
    let seen = read(
        "L1|VOLVO|100\nL2|KIA|200|https://a\nL3|SAAB|300|https://a|https://b\nL4|KIA|200|https://a|https://b|https://c\n",
    );
    assert_eq!(seen.rows[0], "1@1 1=L1; 2=VOLVO; 3=100");
    assert_eq!(seen.rows[3], "4@4 1=L4; 2=KIA; 3=200; 4=https://a; 5=https://b; 6=https://c");
    assert!(seen.messages.is_empty());
}

#[test]
fn rows_of_separators_only_are_none() {
    let seen = read("a;b\nx1;1\n;\n\n ; \nx2;2\n");
    assert_eq!(seen.rows, ["1@2 a=x1; b=1", "2@6 a=x2; b=2"]);
}

proptest! {
    /// What is well quoted is read as by the `csv` crate.
    #[test]
    fn well_quoted_rows_are_what_the_csv_crate_reads(
        rows in proptest::collection::vec(proptest::collection::vec("[a;\"\n ]{0,6}", 2..5), 1..8),
        crlf in any::<bool>(),
    ) {
        let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer = csv::WriterBuilder::new().delimiter(b';').flexible(true).terminator(terminator).from_writer(Vec::new());
        for row in &rows {
            writer.write_record(row).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let dialect = Dialect { separator: b';', quote: b'"', line_end: b'\n', escape: 0 };
        let (mut at, mut cells, mut read) = (0, Vec::new(), Vec::new());
        while at < text.len() {
            // As if all of it, or only that much, had come.
            prop_assert_eq!(dialect.row(&text[at..=at], false, &mut cells).is_some(), text[at] == b'\n');
            let found = dialect.row(&text[at..], true, &mut cells).unwrap();
            prop_assert_eq!(found.flaw, None);
            let row: Vec<_> = cells
                .iter()
                .map(|cell| String::from_utf8_lossy(&text[at + cell.start..at + cell.end]).replace("\"\"", "\""))
                .collect();
            read.push(row);
            at += found.length;
        }
        prop_assert_eq!(read, rows);
    }
}

#[test]
fn lines_at_top_and_bottom_are_skipped() {
    let settings = Settings { skip_first: 2, skip_last: 1, ..Settings::default() };
    let text = "Stock list;\nprinted 2026-11-20\nNr;Regnr\n1;ABC123\n2;ABC124\n\nSum;2\n;\n";
    let seen = read_with(text, &settings);
    assert_eq!(seen.rows, ["1@4 Nr=1; Regnr=ABC123", "2@5 Nr=2; Regnr=ABC124"]);
    assert_eq!(seen.messages, Vec::<String>::new());
}

#[test]
fn rows_of_a_ragged_file_have_any_number_of_columns() {
    let settings = Settings { ragged: true, ..Settings::default() };
    let seen = read_with("Nr;Regnr\n1;ABC123;x;y\n2\n3;ABC124;z\n", &settings);
    assert_eq!(seen.rows, ["1@2 Nr=1; Regnr=ABC123; 3=x; 4=y", "2@3 Nr=2", "3@4 Nr=3; Regnr=ABC124; 3=z"]);
    assert_eq!(seen.messages, Vec::<String>::new());
}

/// The rows that are read, and the error behind them.
fn rows_and_error(text: &str, settings: &Settings) -> (usize, Option<String>) {
    let seen = read_with(text, settings);
    (seen.rows.len(), seen.error.map(|error| error.message))
}

#[test]
fn a_second_table_ends_the_file() {
    let stock = "Nr;Regnr;Pris\nL1;ABC123;100\nL2;DEF456;200\n";
    for (second, told) in [
        ("\nKund;Ort\nAnna;Luleå\nEva;Malmö\n", "A second table begins on line 5 (\"Kund\", \"Ort\")"),
        // As Excel saves it, and after several empty lines.
        (";;\n;;\nKund;Ort;\nAnna;Luleå;\n", "A second table begins on line 6 (\"Kund\", \"Ort\")"),
        ("\nKund;Ort;Köp\nAnna;Luleå;2024\n", "A second table begins on line 5 (\"Kund\", \"Ort\", \"Köp\")"),
        ("\nA;B;C;D;E\n1;2;3;4;5\n", "A second table begins on line 5 (\"A\", \"B\", \"C\", \"D\", …)"),
        ("Nr;Regnr;Pris\nL3;GHI789;300\n", "The header is repeated on line 4"),
    ] {
        let (rows, error) = rows_and_error(&format!("{stock}{second}"), &Settings::default());
        assert_eq!((rows, error), (2, Some(format!("{told}, but only one table per file can be read."))), "{second}");
    }
    let first = Settings { skip_last: 2, ..Settings::default() };
    assert_eq!(rows_and_error(&format!("{stock}\nKund;Ort\nAnna;Luleå\n"), &first), (2, None));
    let second = Settings { skip_first: 4, ..Settings::default() };
    assert_eq!(rows_and_error(&format!("{stock}\nKund;Ort\nAnna;Luleå\n"), &second), (1, None));
}

#[test]
fn a_second_table_without_an_empty_line_has_names_of_known_columns() {
    let stock = "Nr;Regnr;Pris\nL1;ABC123;100\nL2;DEF456;200\n";
    let settings = Settings::default();
    for second in
        ["Chassinr;Märke;Modell\nYV10D9PCF43ESF4DH;Volvo;V60\n", "Regnr;Kund;Pris;Färg\nGHI789;Anna;300;Röd\n"]
    {
        let (rows, error) = rows_and_error(&format!("{stock}{second}"), &settings);
        let error = error.unwrap_or_default();
        assert!(
            rows == 2 && error.starts_with("A second table begins on line 4 ("),
            "{second}: {rows} rows, {error:?}"
        );
    }
    for row in [
        // Unknown names, too few, of the same field, beside data, and in the last row.
        "Kund;Ort;Land\nAnna;Luleå;2024\n",
        "Märke;Modell;\nVolvo;V60;2019\n",
        "Märke;Fabrikat;Tillverkare\nVolvo;V60;2019\n",
        "Märke;Modell;2019\nVolvo;V60;2019\n",
        "Chassinr;Märke;Modell\n",
        // Vehicles of which little is known.
        "Volvo;Variant;Information\nL4;GHI789;300\n",
        "Volkswagen;Golf;Variant\nL4;GHI789;300\n",
    ] {
        let text = format!("{stock}{row}");
        let rows = text.lines().count() - 1;
        assert_eq!(rows_and_error(&text, &settings), (rows, None), "{row}");
    }
    let of_texts = "Nr;Märke;Färg\nL;Volvo;Röd\nChassinr;Märke;Modell\nL;Saab;2019\n";
    assert_eq!(rows_and_error(of_texts, &Settings { header: Some(true), ..settings }), (3, None));
}

#[test]
fn rows_behind_an_empty_line_belong_to_the_table() {
    for text in [
        "Nr;Regnr;Pris\nL1;ABC123;100\n\nL2;DEF456;200\n\n\nL3;GHI789;300\n",
        // A sum, a title, a row that is incomplete, and texts only.
        "Nr;Regnr;Pris\nL1;ABC123;100\n\nSumma;;100\n",
        "Nr;Regnr;Pris\nL1;ABC123;100\n\nBegagnade bilar;;\nL2;DEF456;200\n",
        "Nr;Regnr;Pris\nL1;ABC123;100\n\nL2;DEF456;\nL3;GHI789;300\n",
        "Nr;Märke;Färg\nL1;Volvo;Röd\n\nL2;Saab;Blå\n\nL3;Kia;Grön\n",
    ] {
        let rows = text.lines().skip(1).filter(|line| !line.is_empty()).count();
        assert_eq!(rows_and_error(text, &Settings::default()), (rows, None), "{text}");
    }
}

#[test]
fn a_header_is_found_below_titles_and_comments() {
    let table = "Nr;Regnr;Märke;Pris\n1;ABC123;Kia;100\n2;DEF456;Saab;200\n";
    let rows = ["Nr=1; Regnr=ABC123; Märke=Kia; Pris=100", "Nr=2; Regnr=DEF456; Märke=Saab; Pris=200"];
    for (above, lines) in [
        ("Lagerlista 2026-11-28;;\n", 1),
        ("#TYPE System.Management.Automation.PSCustomObject\n", 1),
        ("Bilfirman AB\n\nSkapad;2026-11-28\n\"Två\nrader\";;\n\n", 6),
    ] {
        let seen = read(format!("{above}{table}"));
        let expected: Vec<_> =
            (1..).zip(rows).map(|(number, row)| format!("{number}@{} {row}", number + lines + 1)).collect();
        assert_eq!(seen.rows, expected, "{above}: {:#?}", seen.reader.detected().notes);
        assert_eq!((seen.reader.detected().skip_first, seen.reader.detected().header), (lines, Some(true)));
        // As a draft sets it.
        let settings = Settings { skip_first: lines, header: Some(true), ..Settings::default() };
        assert_eq!(read_with(format!("{above}{table}"), &settings).rows, expected, "{above}");
    }
    for text in [
        // Data above, no names below, and texts only.
        "1;;\nLagernr;Regnr;Pris\n",
        "Volvo;;\n1;ABC123;100\n2;DEF456;200\n",
        "Volvo;;\nSaab;9-3;Bensin\nKia;Niro;El\n",
    ] {
        assert_eq!(read(text).reader.detected().skip_first, 0, "{text}");
    }
    let settings = Settings { header: Some(false), ..Settings::default() };
    assert_eq!(read_with(format!("Titel;;\n{table}"), &settings).rows.len(), 4);
}

#[test]
fn lines_end_with_cr_where_lf_is_in_cells_only() {
    let seen = read("a;b\rx1;\"one\ntwo\"\rx2;3\r");
    assert_eq!(seen.rows, ["1@2 a=x1; b=one\ntwo", "2@3 a=x2; b=3"]);
    let seen = read("a;b\nx1;\"one\rtwo\"\nx2;3\n");
    assert_eq!(seen.rows, ["1@2 a=x1; b=one\rtwo", "2@3 a=x2; b=3"]);
}

#[test]
fn what_fills_a_file_up_is_no_row() {
    for end in [&b"\x1a"[..], b"\r\n\x1a", b"\0\0\0\0", b"\n\0\0\x1a"] {
        let seen = read([b"a;b\r\nx1;1\r\nx2;2", end].concat());
        assert_eq!((seen.rows.len(), seen.messages.len()), (2, 0), "{end:?}: {:?}", seen.rows);
    }
}
