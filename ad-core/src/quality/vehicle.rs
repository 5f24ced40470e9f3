//! What is usual for a vehicle, as data, and what VINs and plates look like.

/// What is usual in a category. A value beyond it is probably a slip.
#[derive(Debug)]
pub(super) struct UsualValues {
    pub(super) category_id: u16,
    /// Lowest and highest price, in SEK.
    pub(super) price: (f64, f64),
    /// Highest mileage of a year, in kilometres.
    pub(super) yearly: f64,
    /// The earliest model year that is plausible.
    pub(super) since: i64,
    /// Lowest and highest power, in kW; nothing where vehicles have no engine.
    pub(super) power: Option<(f64, f64)>,
    /// Number of photos that buyers expect.
    pub(super) photos: usize,
}

const fn usual(
    category_id: u16,
    price: (f64, f64),
    yearly: f64,
    since: i64,
    power: Option<(f64, f64)>,
    photos: usize,
) -> UsualValues {
    UsualValues { category_id, price, yearly, since, power, photos }
}

#[rustfmt::skip]
pub(super) const USUAL: &[UsualValues] = &[
    usual(1020, (3_000.0, 5_000_000.0), 60_000.0, 1910, Some((5.0, 1_500.0)), 8),
    usual(1021, (3_000.0, 2_000_000.0), 80_000.0, 1930, Some((15.0, 500.0)), 8),
    usual(1140, (2_000.0, 1_000_000.0), 30_000.0, 1910, Some((2.0, 250.0)), 6),
    usual(1121, (500.0, 200_000.0), 15_000.0, 1930, Some((0.2, 15.0)), 4),
    usual(1180, (1_000.0, 500_000.0), 15_000.0, 1955, Some((3.0, 250.0)), 4),
    usual(1143, (1_000.0, 500_000.0), 15_000.0, 1960, Some((1.0, 200.0)), 4),
    usual(1102, (10_000.0, 5_000_000.0), 40_000.0, 1930, Some((15.0, 450.0)), 10),
    usual(1101, (3_000.0, 1_500_000.0), 40_000.0, 1930, None, 8),
    usual(1045, (500.0, 1_000_000.0), 200_000.0, 1930, None, 4),
    usual(1060, (500.0, 50_000_000.0), 20_000.0, 1850, Some((0.3, 5_000.0)), 8),
    usual(1227, (5_000.0, 10_000_000.0), 20_000.0, 1930, Some((15.0, 800.0)), 6),
    usual(1228, (5_000.0, 8_000_000.0), 20_000.0, 1910, Some((3.0, 700.0)), 6),
    usual(1229, (200.0, 5_000_000.0), 20_000.0, 1900, None, 3),
    usual(1321, (5_000.0, 8_000_000.0), 250_000.0, 1920, Some((20.0, 600.0)), 8),
    usual(1322, (5_000.0, 8_000_000.0), 300_000.0, 1910, Some((15.0, 800.0)), 8),
    usual(1323, (2_000.0, 20_000_000.0), 50_000.0, 1920, Some((1.0, 5_000.0)), 6),
];

/// Most years, that of the model year included, in which a vehicle may still be new.
pub(super) const MOST_YEARS_OF_NEW: f64 = 3.0;

/// Hours of a year, of which no engine runs more.
pub(super) const HOURS_OF_A_YEAR: f64 = 8_784.0;

/// Power in kW; `hp` are metric horsepower.
pub(super) fn kilowatts(value: f64, unit: &str) -> f64 {
    if unit.eq_ignore_ascii_case("hp") { value * 0.7355 } else { value }
}

/// Lowest and highest displacement of the engines of a category, in cubic centimetres.
pub(super) const fn displacement(category_id: u16) -> (f64, f64) {
    match category_id {
        1020 | 1021 | 1102 => (200.0, 9_000.0),
        1121 | 1140 | 1143 | 1180 => (20.0, 3_000.0),
        _ => (50.0, 40_000.0),
    }
}

/// About how many kronor a unit of a currency is: the ranges of prices are so wide that no exact rate is needed.
pub(super) fn kronor(currency: &str) -> Option<f64> {
    Some(match currency {
        "SEK" | "NOK" => 1.0,
        "DKK" => 1.5,
        "EUR" | "CHF" => 11.0,
        "GBP" => 13.0,
        "USD" => 10.0,
        "PLN" => 2.6,
        _ => return None,
    })
}

/// What is usual in a category; nothing is known of categories with open fields.
pub(super) fn of(category_id: u16) -> Option<&'static UsualValues> {
    USUAL.iter().find(|usual| usual.category_id == category_id)
}

/// What is wrong with a VIN (ISO 3779).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VinError {
    /// It contains I, O or Q, which VINs do not use.
    Letter(char),
    /// It does not have 17 letters and digits.
    Shape,
    /// Its check digit, the ninth character, does not match the others.
    CheckDigit {
        /// The digit that would match.
        expected: char,
    },
    /// Its last four characters are not all digits.
    Serial,
}

/// Whether North America (1 to 5) or China (L) has assigned a VIN. They prescribe more than ISO 3779: check digit and model year.
fn is_checked(vin: &str) -> bool {
    matches!(vin.as_bytes().first(), Some(b'1'..=b'5' | b'L' | b'l'))
}

/// Checks a VIN without spaces and hyphens. The check digit binds in North America and China only.
pub(super) fn check_vin(vin: &str) -> Result<(), VinError> {
    let vin = vin.to_ascii_uppercase();
    if let Some(letter) = vin.chars().find(|letter| matches!(letter, 'I' | 'O' | 'Q')) {
        return Err(VinError::Letter(letter));
    }
    if vin.len() != 17 || !vin.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(VinError::Shape);
    }
    if is_checked(&vin) {
        let expected = check_digit(vin.as_bytes());
        if vin.as_bytes()[8] != expected {
            return Err(VinError::CheckDigit { expected: expected.into() });
        }
    }
    // A maker of few vehicles has 9 in the third place, and the rest of its code in the 12th to 14th.
    let serial = if vin.as_bytes()[2] == b'9' { 14 } else { 13 };
    if vin.as_bytes()[serial..].iter().all(u8::is_ascii_digit) { Ok(()) } else { Err(VinError::Serial) }
}

/// What the tenth character of a VIN stands for: model years from 1980 on, and again every 30 years.
const YEAR_CODES: &[u8; 30] = b"ABCDEFGHJKLMNPRSTVWXY123456789";

/// The model years that a valid VIN may be of, where it says so: the earlier and the later one of its code.
pub(super) fn model_years(vin: &str) -> Option<[i64; 2]> {
    let code = vin.as_bytes().get(9).filter(|_| is_checked(vin))?.to_ascii_uppercase();
    let place = i64::try_from(YEAR_CODES.iter().position(|known| *known == code)?).ok()?;
    Some([1980 + place, 2010 + place])
}

/// The check digit of a VIN: the weighted sum of its characters modulo 11, in which `X` stands for 10.
fn check_digit(vin: &[u8]) -> u8 {
    const WEIGHTS: [u32; 17] = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
    let value = |byte: u8| match byte {
        b'A'..=b'H' => u32::from(byte - b'A') + 1,
        b'J'..=b'R' => u32::from(byte - b'J') + 1,
        b'S'..=b'Z' => u32::from(byte - b'S') + 2,
        _ => u32::from(byte.saturating_sub(b'0')),
    };
    let sum: u32 = vin.iter().zip(WEIGHTS).map(|(byte, weight)| value(*byte) * weight).sum();
    b"0123456789X"[(sum % 11) as usize]
}

/// Whether a plate has the form of an ordinary Swedish one, `ABC123` or `ABC12D`. I, Q, V, Å, Ä and Ö are not used in the first three
/// letters, and O and Q not as the last character.
pub(super) fn is_swedish_plate(plate: &str) -> bool {
    let &[first, second, third, digit, other_digit, last] = plate.as_bytes() else { return false };
    let is_letter = |byte: &u8| byte.is_ascii_uppercase() && !matches!(byte, b'I' | b'Q' | b'V');
    [first, second, third].iter().all(is_letter)
        && [digit, other_digit].iter().all(u8::is_ascii_digit)
        && (last.is_ascii_digit() || (last.is_ascii_uppercase() && !matches!(last, b'I' | b'O' | b'Q' | b'V')))
}

/// Characters that are taken for one another: the letter and the digit.
const LOOK_ALIKE: [(u8, u8); 5] = [(b'O', b'0'), (b'I', b'1'), (b'Z', b'2'), (b'S', b'5'), (b'B', b'8')];

/// The ordinary Swedish plate that a plate becomes when letters in the places of digits, and digits in those of letters, are taken for the
/// characters that they look like: `ABC103` for `ABC1O3`.
pub(super) fn misread_plate(plate: &str) -> Option<String> {
    let letter = |read: u8| LOOK_ALIKE.iter().find(|(_, digit)| *digit == read).map_or(read, |(letter, _)| *letter);
    let digit = |read: u8| LOOK_ALIKE.iter().find(|(letter, _)| *letter == read).map_or(read, |(_, digit)| *digit);
    let corrected: String = plate
        .bytes()
        .enumerate()
        .map(|(place, read)| {
            char::from(if place < 3 {
                letter(read)
            } else if place < 5 {
                digit(read)
            } else {
                read
            })
        })
        .collect();
    (corrected != plate && is_swedish_plate(&corrected)).then_some(corrected)
}

/// Plates of other countries around Sweden: letters besides A to Z, and forms, in which `A` stands for a letter, `0` for a digit, and
/// everything else for itself. Spaces are removed from plates. The form of Lithuania is that of Sweden, which has no I, Q and V.
#[rustfmt::skip]
const FOREIGN_PLATES: &[(&str, &str, &[&str])] = &[
    ("Norwegian", "", &["AA00000", "AA0000"]),
    ("Danish", "", &["AA00000", "AA0000"]),
    ("Finnish", "ÅÄÖ", &["AAA-000", "AA-000", "AAA-00", "AA-00", "AAA-0", "AA-0", "ÅLA000"]),
    ("Estonian", "", &["000AAA", "00AAA"]),
    ("Latvian", "", &["AA-0000", "AA0000", "AA-000"]),
    ("Lithuanian", "", &["AAA000"]),
    ("German", "ÄÖÜ", &[
        "A-A000", "A-A0000", "A-AA00", "A-AA000", "A-AA0000", "AA-A000", "AA-A0000", "AA-AA00", "AA-AA000", "AA-AA0000", "AAA-A000",
        "AAA-AA00", "AAA-AA000", "A-AA000E", "AA-AA000E", "AAA-AA00E", "A-AA000H", "AA-AA00H", "AA-AA000H", "AAA-AA00H",
    ]),
    ("Polish", "", &[
        "AA00000", "AA0000A", "AA000AA", "AA0A000", "AA0AA00", "AAA0000", "AAA00000", "AAA0000A", "AAA000AA", "AAAA000", "AAA00AA",
        "AAA0A00", "AAA00A0", "AAA0AA0", "AAAAA00",
    ]),
];

/// The countries around Sweden with plates of this form, as adjectives.
pub(super) fn foreign_plate(plate: &str) -> Vec<&'static str> {
    let fits = |form: &str, letters: &str| {
        form.chars().count() == plate.chars().count()
            && form.chars().zip(plate.chars()).all(|(wanted, sent)| match wanted {
                'A' => sent.is_ascii_uppercase() || letters.contains(sent),
                '0' => sent.is_ascii_digit(),
                other => sent == other,
            })
    };
    let countries = FOREIGN_PLATES.iter().filter(|(_, letters, forms)| forms.iter().any(|form| fits(form, letters)));
    countries.map(|(country, ..)| *country).collect()
}

/// Whether a plate may be a personal Swedish one: 2 to 7 letters, digits and spaces in between.
pub(super) fn may_be_personal_plate(plate: &str) -> bool {
    let count = plate.chars().count();
    (2..=7).contains(&count) && plate.chars().all(|letter| letter.is_ascii_alphanumeric() || "ÅÄÖ".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vin_has_17_letters_and_digits_without_i_o_q() {
        assert_eq!(check_vin("YV1UZH5V1M1000001"), Ok(()));
        assert_eq!(check_vin("yv1uzh5v1m1000001"), Ok(()));
        assert_eq!(check_vin("YV1UZH5V1M100000I"), Err(VinError::Letter('I')));
        assert_eq!(check_vin("YV1UZH5V1M100000"), Err(VinError::Shape));
        assert_eq!(check_vin("YV1UZH5V1M10000🚗"), Err(VinError::Shape));
    }

    #[test]
    fn the_check_digit_binds_in_north_america_and_china() {
        assert_eq!(check_vin("1M8GDM9AXKP042788"), Ok(()));
        assert_eq!(check_vin("1M8GDM9A1KP042788"), Err(VinError::CheckDigit { expected: 'X' }));
        assert_eq!(check_vin("5GZCZ43D13S812715"), Ok(()));
        assert_eq!(check_vin("LVSHCAMB1CE054249"), Ok(()));
        // European makers use the ninth character as they like.
        assert_eq!(check_vin("WV1ZZZ7HZMH000001"), Ok(()));
    }

    #[test]
    fn the_last_four_characters_of_a_vin_are_digits() {
        assert_eq!(check_vin("YV1UZH5V1M1000A01"), Err(VinError::Serial));
        assert_eq!(check_vin("YV1UZH5V1MA0A0001"), Ok(()));
        assert_eq!(check_vin("YT9AB1234M1ABC001"), Ok(()), "a maker of few vehicles");
        assert_eq!(check_vin("YT9AB1234M1ABCA01"), Err(VinError::Serial));
    }

    #[test]
    fn a_vin_of_north_america_or_china_tells_its_model_year() {
        assert_eq!(model_years("1M8GDM9AXKP042788"), Some([1989, 2019]));
        assert_eq!(model_years("5GZCZ43D13S812715"), Some([2003, 2033]));
        assert_eq!(model_years("YV1UZH5V1M1000001"), None);
        assert_eq!(model_years("1"), None);
    }

    #[test]
    fn plates_of_neighbours_are_known_by_their_form() {
        assert_eq!(foreign_plate("AB12345"), ["Norwegian", "Danish", "Polish"]);
        assert_eq!(foreign_plate("123ABC"), ["Estonian"]);
        assert_eq!(foreign_plate("B-AB1234"), ["German"]);
        assert_eq!(foreign_plate("B-AB123E"), ["German"], "an electric car");
        assert_eq!(foreign_plate("ABC-123"), ["Finnish"]);
        assert_eq!(foreign_plate("ÅLB123"), ["Finnish"], "of Åland");
        assert_eq!(foreign_plate("ÄÖ-7"), ["Finnish"]);
        assert_eq!(foreign_plate("MÜ-AB123"), ["German"]);
        assert_eq!(foreign_plate("AB-1234"), ["Latvian"]);
        assert_eq!(foreign_plate("AVI123"), ["Lithuanian"]);
        assert_eq!(foreign_plate("WA123AC"), ["Polish"]);
        for plate in ["A-1234", "", "ÅB12345", "🚗"] {
            assert!(foreign_plate(plate).is_empty(), "{plate}");
        }
    }

    #[test]
    fn a_plate_that_was_misread_is_corrected() {
        for (plate, corrected) in [
            ("ABC1O3", "ABC103"),
            ("A8C123", "ABC123"),
            ("0BC12D", "OBC12D"),
            ("ABCIZ3", "ABC123"),
            ("ABC5SA", "ABC55A"),
        ] {
            assert_eq!(misread_plate(plate).as_deref(), Some(corrected), "{plate}");
        }
        for plate in ["ABC123", "MINBIL", "1BC123", "ABC12O", "ABC1O", "ÅBC1O3", "", "🚗"] {
            assert_eq!(misread_plate(plate), None, "{plate}");
        }
    }

    #[test]
    fn ordinary_plates_have_three_letters_and_three_characters() {
        for plate in ["ABC123", "ABC12D"] {
            assert!(is_swedish_plate(plate), "{plate}");
        }
        for plate in ["AB123", "ABI123", "ABC12O", "ABCD12", "123ABC", "abc123", "ÅBC123"] {
            assert!(!is_swedish_plate(plate), "{plate}");
        }
        assert!(may_be_personal_plate("MINBIL") && may_be_personal_plate("ÅKE1") && !may_be_personal_plate("AB-1"));
    }
}
