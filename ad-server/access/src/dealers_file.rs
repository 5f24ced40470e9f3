//! The dealers file: a list of `[[dealer]]` tables, read whole and checked before anything is imported.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    str::FromStr,
};

use ad_core::model::Dealer;
use jiff::tz::TimeZone;
use serde::{Deserialize, de::IgnoredAny};
use toml::Spanned;

use ad_server_base::toml_file::{self, TomlFileError, line_of};

/// Longest code, name and group.
const LONGEST: usize = 255;

/// Why a dealers file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum DealersFileError {
    #[error("invalid dealers file: {0}")]
    File(#[from] TomlFileError),
    #[error("invalid dealers file: {path}:{line}: dealer \"{code}\": {problem}")]
    Dealer {
        path: PathBuf,
        /// Where the dealer begins, from 1.
        line: usize,
        /// Code of the dealer, escaped for a terminal.
        code: String,
        /// The field, and what is wrong with it.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DealersFile {
    dealer: Vec<Dealer>,
}

/// The positions of the dealers in the file. They are parsed separately, because positions would change the paths in errors.
#[derive(Deserialize)]
struct Places {
    dealer: Vec<Spanned<IgnoredAny>>,
}

/// The dealers of a file.
///
/// # Errors
/// When the file, or one of its dealers, is not as it should be.
pub fn read(path: &Path) -> Result<Vec<Dealer>, DealersFileError> {
    let (file, text): (DealersFile, String) = toml_file::read(path)?;
    let places = toml_file::parse::<Places>(&text).map_or_else(|_| Vec::new(), |places| places.dealer);
    let start = |index: usize| places.get(index).map_or(0, |place| place.span().start);
    // Lines are counted for an error only: for each dealer, that would take the square of their number.
    let line = |index: usize| line_of(&text, start(index));
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (index, dealer) in file.dealer.iter().enumerate() {
        let earlier = known.insert(&dealer.code, index);
        let earlier = earlier.map(|earlier| format!("code: duplicate of the dealer on line {}", line(earlier)));
        if let Some(problem) = problem(dealer).or(earlier) {
            let code = dealer.code.escape_debug().to_string();
            return Err(DealersFileError::Dealer { path: path.to_owned(), line: line(index), code, problem });
        }
    }
    Ok(file.dealer)
}

/// The first thing that is wrong with a dealer.
fn problem(dealer: &Dealer) -> Option<String> {
    let texts = [("code", Some(&dealer.code)), ("name", Some(&dealer.name)), ("group", dealer.group.as_ref())];
    let text =
        texts.into_iter().find_map(|(field, text)| text_problem(text?).map(|problem| format!("{field}: {problem}")));
    text.or_else(|| {
        iso_currency::Currency::from_str(&dealer.currency)
            .is_err()
            .then(|| format!("currency: {:?} is not an ISO 4217 code, such as SEK", dealer.currency))
    })
    .or_else(|| {
        let wrong = dealer.salespersons.iter().find(|address| !email_address::EmailAddress::is_valid(address))?;
        Some(format!("salespersons: {wrong:?} is not an e-mail address"))
    })
    .or_else(|| {
        let is_unknown = TimeZone::get(&dealer.zone).is_err();
        is_unknown.then(|| format!("zone: {:?} is not a time zone, such as Europe/Stockholm", dealer.zone))
    })
    .or_else(|| dealer.products.iter().any(String::is_empty).then(|| "products: a product name is empty".to_owned()))
}

fn text_problem(text: &str) -> Option<&'static str> {
    if text.is_empty() {
        Some("must not be empty")
    } else if text.trim() != text {
        Some("must not begin or end with a space")
    } else if text.chars().any(char::is_control) {
        Some("must be one line of text")
    } else if text.chars().count() > LONGEST {
        Some("must have at most 255 characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ad_core::model::{Address, Amount, Market, Tariff};

    use super::*;

    fn read_text(text: &str) -> (Result<Vec<Dealer>, String>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dealers.toml");
        fs::write(&path, text).unwrap();
        (read(&path).map_err(|error| error.to_string()), path.display().to_string())
    }

    #[test]
    fn a_dealer_has_what_the_file_says() {
        let (dealers, _) = read_text(
            r#"
            [[dealer]]
            code = "nord-1"
            name = "Nordbil Umeå"
            group = "nord"
            currency = "EUR"
            zone = "Europe/Helsinki"
            salespersons = ["anna@nordbil.example"]
            products = ["online_purchase"]
            bump = ["primary", "secondary"]
            [dealer.address]
            street = "Storgatan 1"
            zipcode = "90325"
            city = "Umeå"
            [dealer.tariff]
            bump = 29.5
            pole_position = 199
            slots = 50
            budget = 1500

            [[dealer]]
            code = "syd-1"
            name = "Sydbåt"
            "#,
        );
        let nord = Dealer {
            name: "Nordbil Umeå".into(),
            group: Some("nord".into()),
            currency: "EUR".into(),
            salespersons: vec!["anna@nordbil.example".into()],
            products: vec!["online_purchase".into()],
            bump: vec![Market::Primary, Market::Secondary],
            zone: "Europe/Helsinki".into(),
            tariff: Some(Tariff {
                bump: Some(Amount::from_hundredths(2950)),
                pole_position: Some(Amount::from_hundredths(19_900)),
                slots: Some(50),
                budget: Some(Amount::from_hundredths(150_000)),
            }),
            address: Some(Address { street: "Storgatan 1".into(), zipcode: "90325".into(), city: "Umeå".into() }),
            ..Dealer::named("nord-1")
        };
        let syd = Dealer { name: "Sydbåt".into(), ..Dealer::named("syd-1") };
        assert_eq!(dealers, Ok(vec![nord, syd]));
    }

    #[test]
    fn errors_name_line_dealer_and_field() {
        let one = |more: &str| format!("\n[[dealer]]\ncode = \"a\"\nname = \"A\"\n{more}");
        let table = [
            (String::new(), 1, "missing field `dealer`"),
            ("[[dealers]]\ncode = \"a\"".to_owned(), 1, "dealers: unknown field `dealers`"),
            (one("colour = \"red\""), 5, "dealer[0].colour: unknown field `colour`"),
            (one("bump = [\"tertiary\"]"), 5, "dealer[0].bump[0]: unknown variant `tertiary`"),
            (one("[dealer.address]\nzip = \"1\""), 6, "dealer[0].address.zip: unknown field `zip`"),
            (one("[[dealer]]\ncode = \"b\""), 5, "dealer[1]: missing field `name`"),
            (one("zone = \"../../etc/passwd\""), 2, "dealer \"a\": zone: \"../../etc/passwd\" is not a time zone"),
            (one("zone = \"\\u001b[2J\""), 2, "dealer \"a\": zone: \"\\u{1b}[2J\" is not a time zone"),
            (one("[dealer.tariff]\nbump = 1e308"), 6, "dealer[0].tariff.bump: expected an amount"),
            (one("[dealer.tariff]\nbudget = -0.01"), 6, "dealer[0].tariff.budget: expected an amount"),
            (one("[dealer.tariff]\nbudget = nan"), 6, "dealer[0].tariff.budget: not a JSON number"),
            (one("[dealer.tariff]\nslots = 99999999999999999999"), 6, ""),
            (one(&format!("group = \"{}\"", "g".repeat(300))), 2, "dealer \"a\": group: must have at most 255"),
            (one("currency = \"KRONOR\""), 2, "dealer \"a\": currency: \"KRONOR\" is not an ISO 4217 code"),
            (one("zone = \"Stockholm\""), 2, "dealer \"a\": zone: \"Stockholm\" is not a time zone, such as"),
            (
                one("[dealer.tariff]\nbump = 29.555"),
                6,
                "dealer[0].tariff.bump: expected an amount from 0 to 1000000000",
            ),
            (one("[dealer.tariff]\nbumps = 1"), 6, "dealer[0].tariff.bumps: unknown field `bumps`"),
            (one("[dealer.tariff]\nslots = -1"), 6, "dealer[0].tariff.slots: invalid value: integer `-1`"),
            (one("salespersons = [\"a@b.se\", \"b\"]"), 2, "dealer \"a\": salespersons: \"b\" is not an e-mail"),
            (one("group = \"\""), 2, "dealer \"a\": group: must not be empty"),
            (one("products = [\"\"]"), 2, "dealer \"a\": products: "),
            (one("group = \"n\\u001b\""), 2, "dealer \"a\": group: must be one line"),
            (one("[[dealer]]\ncode = \"a\"\nname = \"B\""), 5, "dealer \"a\": code: duplicate of the dealer on line 2"),
            (one("[[dealer]]\ncode = \" b\"\nname = \"B\""), 5, "dealer \" b\": code: must not begin or end"),
        ];
        for (text, line, problem) in table {
            let (result, path) = read_text(&text);
            let message = result.unwrap_err();
            assert!(message.contains(&format!("invalid dealers file: {path}:{line}: {problem}")), "{text}\n{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
