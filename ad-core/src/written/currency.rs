//! Currencies as people write them.

/// Signs and names of currencies with their codes; no code where several currencies use the sign.
const CURRENCIES: &[(&str, &str)] = &[
    ("sek", "SEK"),
    ("nok", "NOK"),
    ("dkk", "DKK"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("€", "EUR"),
    ("usd", "USD"),
    ("gbp", "GBP"),
    ("£", "GBP"),
    ("chf", "CHF"),
    ("pln", "PLN"),
    ("czk", "CZK"),
    ("kr", ""),
    ("kr.", ""),
    ("kronor", ""),
    (":-", ""),
    (",-", ""),
    (".-", ""),
    ("-", ""),
    (":", ""),
    ("$", ""),
];

/// The code of a currency's sign or name; an empty one where several currencies use it.
pub fn of_sign(text: &str) -> Option<&'static str> {
    CURRENCIES.iter().find(|(sign, _)| sign.eq_ignore_ascii_case(text)).map(|(_, code)| *code)
}

/// The code of a currency's sign or name, if it has only one.
pub fn unambiguous(text: &str) -> Option<&'static str> {
    of_sign(text).filter(|code| !code.is_empty())
}

/// The code that a text is or stands for, in capital letters.
pub fn code(text: &str) -> String {
    unambiguous(text).map_or_else(|| text.to_uppercase(), str::to_owned)
}
