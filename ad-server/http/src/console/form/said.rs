//! Errors of an ad in the words of a seller: what is wrong with a field, and what to write instead. The API says the same to programs.

use std::borrow::Cow;

use ad_core::{
    categories::{
        location::RULE as LOCATION,
        price,
        rules::{LOCK, ONLINE, OWNERS_OF_USED, PLATE_OR_VIN, REMAINING_MILEAGE},
    },
    fields::Kind,
    violation::{Choices, Code, Cure, TextFormat, Violation, Warning},
};
use serde_json::Value;

use super::{
    super::{page::number, texts::Language},
    labels::{label, unit},
};

/// An error in a sentence or two.
pub(in crate::console) fn said(violation: &Violation, kind: Option<&Kind>, language: Language) -> String {
    let of = |english: &str, swedish: &str| language.pick(english, swedish).to_owned();
    match violation {
        Violation::Required | Violation::Null | Violation::Blank => of("Fill this in.", "Fyll i det här."),
        Violation::RequiredWith { other, .. } => {
            let other = label(language, other);
            of(
                &format!("Fill this in too, because of “{other}”."),
                &format!("Fyll i det här också, på grund av ”{other}”."),
            )
        }
        Violation::NotSupportedByV3 | Violation::Forbidden { .. } => of(
            "Leave this empty: it is not for this kind of vehicle.",
            "Lämna tomt: det gäller inte den här typen av fordon.",
        ),
        Violation::WrongType(_) => wrong_type(kind, language),
        Violation::Cured { cure: Cure::OneOf { values, .. }, .. } => {
            let values: Vec<_> = values.iter().map(|json| spoken_json(json, language)).collect();
            let values = values.join(language.pick(" or ", " eller "));
            of(
                &format!("This can be read as {values}. Write it without a point or comma."),
                &format!("Det kan läsas som {values}. Skriv det utan punkt eller komma."),
            )
        }
        Violation::Cured { error, .. } => said(error, kind, language),
        Violation::NotAChoice { sent, .. } => {
            let sent = &shortened(sent.trim_matches('"'));
            of(&format!("“{sent}” is not in the list."), &format!("”{sent}” finns inte i listan."))
        }
        Violation::WrongFormat(format) => wrong_format(*format, language),
        Violation::TooSmall(least) => of(&format!("At least {least}."), &format!("Minst {least}.")),
        Violation::TooLarge(most) => of(&format!("At most {most}."), &format!("Högst {most}.")),
        Violation::TooLong(most) => {
            let most = number(*most as u64);
            of(&format!("Write at most {most} characters."), &format!("Skriv högst {most} tecken."))
        }
        Violation::TooShort(least) => {
            of(&format!("Write at least {least} characters."), &format!("Skriv minst {least} tecken."))
        }
        Violation::TooMany(most) => of(&format!("At most {most}."), &format!("Högst {most}.")),
        Violation::Duplicate { sent } => {
            let sent = &shortened(sent.trim_matches('"'));
            of(&format!("“{sent}” is there twice."), &format!("”{sent}” finns två gånger."))
        }
        Violation::Stated { code, rule, text, .. } => match stated(*rule, *code) {
            Some((english, swedish)) => of(english, swedish),
            None if language == Language::English => text.to_string(),
            None => "Det går inte för den här annonsen.".to_owned(),
        },
        // Only a form that the console has not made can have them.
        _ => of("The form cannot have this.", "Formuläret kan inte ha det här."),
    }
}

/// An error of which only the code is known, and the rule that it breaks, in words about a file.
pub(in crate::console) fn by_code(code: Code, rule: Option<&str>, language: Language) -> Option<&'static str> {
    let (english, swedish) = match code {
        Code::Required | Code::Null | Code::Blank => ("Missing.", "Saknas."),
        Code::InvalidChoice => {
            ("It is not in the list of what can be chosen.", "Det finns inte i listan över vad som går att välja.")
        }
        Code::OutOfRange => ("The number is too large or too small.", "Talet är för stort eller för litet."),
        Code::TooLong => ("The text is too long.", "Texten är för lång."),
        Code::TooShort => ("The text is too short.", "Texten är för kort."),
        Code::TooMany => ("There are too many.", "Det är för många."),
        Code::InvalidType | Code::InvalidFormat => ("It cannot be read.", "Det går inte att läsa."),
        Code::DuplicateItem => ("It is there twice.", "Det finns två gånger."),
        Code::UnknownField | Code::MisplacedField => {
            ("It is not for this kind of vehicle.", "Det gäller inte den här typen av fordon.")
        }
        Code::AdDeleted => (
            "The ad was deleted. Give the vehicle another number of yours.",
            "Annonsen är raderad. Ge fordonet ett annat eget nummer.",
        ),
        Code::NoValidAd => ("No row can be used.", "Ingen rad går att använda."),
        Code::EmptyStock => ("The file has no vehicles.", "Filen har inga fordon."),
        _ => stated(rule, code)?,
    };
    let (english, swedish) = rule.and_then(|rule| stated(Some(rule), code)).unwrap_or((english, swedish));
    Some(language.pick(english, swedish))
}

/// What a rule says, by its name, or else by its code.
fn stated(rule: Option<&str>, code: Code) -> Option<(&'static str, &'static str)> {
    Some(match (rule, code) {
        (Some(PLATE_OR_VIN), _) => ("Fill in the plate or the VIN.", "Fyll i registreringsnummer eller chassinummer."),
        (Some(LOCATION), _) => (
            "Give the place in one way only: the postcode, or the coordinates. Empty means the dealer's address.",
            "Ange platsen på bara ett sätt: postnummer eller koordinater. Tomt betyder handlarens adress.",
        ),
        (Some(LOCK), _) => (
            "A vehicle cannot become new or used after the ad was made. If the car has been driven since, make a new ad.",
            "Ett fordon kan inte bli nytt eller begagnat efter att annonsen skapades. Har bilen körts sedan dess, gör en ny annons.",
        ),
        (Some(OWNERS_OF_USED), _) => (
            "A used vehicle has had at least 1 owner. Leave this empty if you do not know.",
            "Ett begagnat fordon har haft minst 1 ägare. Lämna tomt om du inte vet.",
        ),
        (Some(REMAINING_MILEAGE), _) => {
            ("Only with a price of the kind Leasing.", "Bara med ett pris av typen Leasing.")
        }
        (Some(ONLINE), _) => ("Not together with a leasing price.", "Inte tillsammans med ett leasingpris."),
        (_, Code::Required) => ("Fill this in.", "Fyll i det här."),
        (_, Code::Immutable) => (
            "This cannot be changed. For another vehicle, make another ad.",
            "Det här kan inte ändras. För ett annat fordon, gör en annan annons.",
        ),
        (_, Code::OutOfRange) => (
            "Write a price above 0, or 0 for “Call for the price”.",
            "Skriv ett pris över 0, eller 0 för ”Ring för pris”.",
        ),
        (_, Code::NotAllowed) => (
            "Not possible for this ad. Choose something else, or leave it empty.",
            "Går inte för den här annonsen. Välj något annat, eller lämna tomt.",
        ),
        _ => return None,
    })
}

/// A warning of a check; `None` if a finding about the quality of the ad says it already.
pub(in crate::console) fn warned(warning: &Warning, language: Language) -> Option<Cow<'_, str>> {
    if language == Language::English {
        return Some(warning.message.as_str().into());
    }
    let swedish = match warning.code {
        Code::TextDamaged | Code::ImageUnreachable | Code::DateUnlikely => return None,
        Code::NoImages => "Annonsen har inga foton.",
        Code::NoPrice => "Annonsen har inget pris.",
        Code::ReducedWithoutList => "Annonsen har ett nedsatt pris, men inget ordinarie.",
        Code::ReducedNotBelowList => "Det nedsatta priset är inte lägre än det ordinarie.",
        Code::LeasingDetailsWithoutPrice => "Annonsen har uppgifter om leasing, men inget pris för leasing.",
        Code::NoLongerCovered if warning.field.ends_with("salesperson") => {
            "Säljaren finns inte längre hos handlaren. Välj en annan, eller lämna tomt."
        }
        Code::NoLongerCovered => "Köp på nätet är inte längre aktiverat för handlaren. Välj nej, eller lämna tomt.",
        Code::SourceIdSpaces => "Numret börjar eller slutar med ett tecken som inte syns, och det hör till numret.",
        Code::PriceDropped => "Ett pris som annonsen hade tas bort.",
        Code::IgnoredField => "Det här bestämmer bara tjänsten.",
        _ => "Det här är troligen fel. Kontrollera värdet.",
    };
    Some(swedish.into())
}

fn wrong_type(kind: Option<&Kind>, language: Language) -> String {
    let example = match kind {
        Some(Kind::Integer { .. }) => "2021",
        Some(Kind::Decimal { .. } | Kind::Measure { .. }) => "12 500",
        _ => {
            return language.pick("Choose a value, or leave it empty.", "Välj ett värde, eller lämna tomt.").to_owned();
        }
    };
    match language {
        Language::English => format!("Write a number, such as {example}."),
        Language::Swedish => format!("Skriv ett tal, till exempel {example}."),
    }
}

fn wrong_format(format: TextFormat, language: Language) -> String {
    let (english, swedish) = match format {
        TextFormat::Date | TextFormat::Day => ("Choose a day of the calendar.", "Välj en dag i kalendern."),
        TextFormat::Address | TextFormat::Scheme(_) => {
            ("Write a web address that begins with https://.", "Skriv en webbadress som börjar med https://.")
        }
        TextFormat::Email => (
            "Write an e-mail address, such as anna@example.se.",
            "Skriv en e-postadress, till exempel anna@example.se.",
        ),
        TextFormat::Digits { lengths, .. } => {
            let most = lengths.iter().max().copied().unwrap_or_default();
            let least = lengths.iter().min().copied().unwrap_or_default();
            return match language {
                _ if least == most && language == Language::English => format!("Write {most} digits."),
                Language::English => format!("Write {least} to {most} digits."),
                _ if least == most => format!("Skriv {most} siffror."),
                Language::Swedish => format!("Skriv {least} till {most} siffror."),
            };
        }
        TextFormat::Without(character) => {
            return match language {
                Language::English => format!("Leave out “{character}”. Write one thing per line."),
                Language::Swedish => format!("Ta bort ”{character}”. Skriv en sak per rad."),
            };
        }
        TextFormat::Decimals(_) => ("At most two decimals.", "Högst två decimaler."),
        TextFormat::Uuid => ("This is not an id.", "Det här är inget id."),
    };
    language.pick(english, swedish).to_owned()
}

/// Most characters of a value that a text repeats.
const MOST_SHOWN: usize = 80;

/// The beginning of a long value.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// A value as people say it; `name` gives the name of a value of a list.
pub(super) fn spoken(value: Option<&Value>, language: Language, name: &impl Fn(&str) -> String) -> String {
    let spoken = |value| spoken(Some(value), language, name);
    match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => shortened(&name(text)).into_owned(),
        Some(Value::Number(amount)) => match amount.as_u64() {
            Some(whole) if whole >= 10_000 => number(whole),
            _ => amount.to_string().replace('.', language.pick(".", ",")),
        },
        Some(Value::Bool(is)) => if *is { "✓" } else { "✗" }.to_owned(),
        Some(Value::Array(items)) => items.iter().map(spoken).collect::<Vec<_>>().join(", "),
        // A measure is said with its unit behind it.
        Some(Value::Object(members)) => {
            let first = members.get("value").or_else(|| members.get("amount"));
            // A price is the regular one unless it says another kind.
            let others = members
                .iter()
                .filter(|(key, value)| !matches!(key.as_str(), "value" | "amount") && *value != price::LIST);
            let all = first.into_iter().chain(others.map(|(_, value)| value));
            all.map(spoken).collect::<Vec<_>>().join(" ")
        }
    }
}

/// A number or a measure, as JSON text, as people say it.
fn spoken_json(json: &str, language: Language) -> String {
    match serde_json::from_str(json) {
        Ok(value) => spoken(Some(&value), language, &|text| unit(language, text).to_owned()),
        Err(_) => json.to_owned(),
    }
}

/// The values that were probably meant.
pub(super) fn meant(violation: &Violation) -> &[String] {
    match violation.uncured() {
        Violation::NotAChoice { choices: Choices::Meant(values) | Choices::Nearest(values), .. } => values,
        _ => &[],
    }
}
