//! Distinguishes data from names of columns.

/// What a cell of data looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    Number,
    Address,
    Vin,
    Plate,
    Text,
}

impl Data {
    /// Whether no header contains it.
    pub(super) fn is_certain(self) -> bool {
        matches!(self, Self::Address | Self::Vin)
    }

    /// The kind of value, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Number => "a number or a date",
            Self::Address => "an address",
            Self::Vin => "a VIN",
            Self::Plate => "a registration number",
            Self::Text => "a long text",
        }
    }
}

/// What a cell looks like, if it is not a name.
pub(super) fn data(cell: &str) -> Option<Data> {
    let is_ascii_alphanumeric = cell.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let digits = cell.bytes().filter(u8::is_ascii_digit).count();
    if cell.contains("://") || cell.starts_with("www.") {
        Some(Data::Address)
    } else if cell.len() == 17 && is_ascii_alphanumeric && digits > 2 && digits < 17 {
        Some(Data::Vin)
    } else if is_number(cell) {
        Some(Data::Number)
    } else if is_plate(cell) {
        Some(Data::Plate)
    } else if cell.len() > 80 {
        Some(Data::Text)
    } else {
        None
    }
}

/// Whether a cell is a number, a date or an amount, perhaps with a unit.
fn is_number(cell: &str) -> bool {
    let bare =
        cell.trim_end_matches(|letter: char| letter.is_alphabetic() || letter == '€' || letter == '$').trim_end();
    let unit = cell[bare.len()..].trim().chars().count();
    let mut digits = 0;
    let are_signs = bare.chars().all(|letter| {
        digits += usize::from(letter.is_ascii_digit());
        letter.is_ascii_digit() || letter.is_whitespace() || "+-.,:/'%€$".contains(letter)
    });
    digits > 0 && are_signs && unit <= 4
}

fn is_plate(cell: &str) -> bool {
    let mut bare = cell.bytes().filter(|byte| !b" -".contains(byte));
    let letters = bare.by_ref().take(3).filter(u8::is_ascii_uppercase).count();
    let digits = bare.by_ref().take(2).filter(u8::is_ascii_digit).count();
    letters == 3 && digits == 2 && bare.next().is_some_and(|byte| byte.is_ascii_alphanumeric()) && bare.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_stock_files_is_told_from_names_of_columns() {
        for cell in [
            "2024",
            "149 900 kr",
            "1.234,50",
            "2019-05-04",
            "20 559",
            "85 hk",
            "+46 8 123",
            "ABC123",
            "ABC 12D",
            "YV10D9PCF43ESF4DH",
            "https://x.example/1.jpg",
        ] {
            assert!(data(cell).is_some(), "{cell}");
        }
        for cell in ["Regnr", "Effekt (hk)", "CO2", "Bild 1", "I trafik", "Pris inkl. moms", "", "Euro6"] {
            assert!(data(cell).is_none(), "{cell}");
        }
    }
}
