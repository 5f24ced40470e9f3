//! The findings. Each is found by one function of the table.

use super::{
    Finding, Measured, Severity,
    vehicle::{self, VinError},
    words::{self, InText},
};
use crate::{categories::price, model::FailedImage, violation::Code};

/// What a row of the table finds.
type Find = fn(Measured<'_>, &mut Vec<Finding>);

/// The table: the codes that a function finds, in the order in which they are shown.
pub(super) const FINDINGS: &[(&[Code], Find)] = &[
    (&[Code::VinLetter, Code::VinFormat, Code::VinCheckDigit], vin),
    (&[Code::PlateFormat], plate),
    (&[Code::ModelYearInFuture], model_year),
    (&[Code::MileageUnlikely, Code::NewVehicleDriven], mileage),
    (&[Code::PriceUnlikely, Code::PriceInOre], prices),
    (&[Code::ReducedWithoutList, Code::ReducedNotBelowList], reduced),
    (&[Code::BodyCapitals, Code::BodyMarkup, Code::BodyContact], body),
    (&[Code::TitleIncomplete], title),
    (&[Code::ElectricIncomplete, Code::EmissionsMissing], environment),
    (&[Code::FewPhotos, Code::PhotoMissing], photos),
    (&[Code::PlateInOtherAd], other_ad),
];

/// The findings of an ad.
pub(super) fn of(ad: Measured<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, find) in FINDINGS {
        find(ad, &mut found);
    }
    found
}

fn finding(code: Code, severity: Severity, field: &str, text: impl Into<String>) -> Finding {
    Finding { code, severity, field: field.to_owned(), text: text.into(), suggestion: None }
}

fn warning(code: Code, field: &str, text: impl Into<String>) -> Finding {
    finding(code, Severity::Warning, field, text)
}

fn vin(ad: Measured<'_>, found: &mut Vec<Finding>) {
    // Machines have serial numbers of any shape.
    let Some(vin) = ad.text("vin").filter(|_| ad.category.registered) else { return };
    let field = "category_fields.vin";
    let plain: String = vin.chars().filter(|letter| !matches!(letter, ' ' | '-')).collect();
    let Err(error) = vehicle::check_vin(&plain) else { return };
    found.push(match error {
        VinError::Letter(letter) => {
            let text = format!("The VIN \"{vin}\" contains {letter}. VINs do not use I, O and Q; it is probably a digit.");
            let digits = |letter| match letter {
                'I' | 'i' => '1',
                'O' | 'o' | 'Q' | 'q' => '0',
                other => other,
            };
            let suggestion = Some(plain.chars().map(digits).collect());
            Finding { suggestion, ..warning(Code::VinLetter, field, text) }
        }
        VinError::Shape => {
            let count = plain.chars().count();
            let text = format!("A VIN has 17 letters and digits; \"{vin}\" has {count} characters.");
            warning(Code::VinFormat, field, text)
        }
        VinError::CheckDigit { expected } => {
            let text = format!(
                "The check digit of the VIN \"{vin}\", its ninth character, should be {expected}. One of the characters is wrong."
            );
            warning(Code::VinCheckDigit, field, text)
        }
    });
}

fn plate(ad: Measured<'_>, found: &mut Vec<Finding>) {
    let Some(plate) = ad.text("registration_number").filter(|plate| !vehicle::is_swedish_plate(plate)) else { return };
    let personal = vehicle::may_be_personal_plate(plate);
    let severity = if personal { Severity::Info } else { Severity::Warning };
    let ends = if personal { " It may be a personal or a foreign plate." } else { "" };
    let text = format!("\"{plate}\" does not have the form of an ordinary Swedish plate, ABC123 or ABC12D.{ends}");
    found.push(finding(Code::PlateFormat, severity, "category_fields.registration_number", text));
}

fn model_year(ad: Measured<'_>, found: &mut Vec<Finding>) {
    let Some(year) = ad.field("model_year").and_then(serde_json::Value::as_i64) else { return };
    // The models of the next year are sold from summer on.
    if year > i64::from(ad.today.year()) + 1 {
        let text = format!("The model year {year} is in the future.");
        found.push(warning(Code::ModelYearInFuture, "category_fields.model_year", text));
    }
}

/// Most kilometres of a new vehicle: test drives, and the way from the factory.
const KILOMETRES_OF_NEW: f64 = 200.0;

fn mileage(ad: Measured<'_>, found: &mut Vec<Finding>) {
    let Some((value, unit)) = ad.measure("condition.mileage") else { return };
    let field = "category_fields.condition.mileage";
    let kilometres = if unit.eq_ignore_ascii_case("mil") { value * 10.0 } else { value };
    if ad.is_new() == Some(true) && kilometres > KILOMETRES_OF_NEW {
        let text = format!("The vehicle is said to be new, and has a mileage of {value} {unit}.");
        found.push(warning(Code::NewVehicleDriven, field, text));
        return;
    }
    let (Some(usual), Some(year)) =
        (vehicle::of(ad.category.id), ad.field("model_year").and_then(serde_json::Value::as_i64))
    else {
        return;
    };
    let years = (i64::from(ad.today.year()) - year).max(0) + 1;
    #[expect(clippy::cast_precision_loss, reason = "a number of years")]
    let most = usual.yearly * years as f64;
    if kilometres > most {
        let text = format!("A mileage of {value} {unit} is unlikely for the model year {year}.");
        let as_kilometres = (unit.eq_ignore_ascii_case("mil") && value <= most).then(|| format!("{value} km"));
        found.push(Finding { suggestion: as_kilometres, ..warning(Code::MileageUnlikely, field, text) });
    }
}

fn prices(ad: Measured<'_>, found: &mut Vec<Finding>) {
    let Some(usual) = vehicle::of(ad.category.id) else { return };
    let (least, most) = usual.price;
    // The ranges are in SEK.
    let Some((amount, _)) = ad.price(price::LIST).filter(|(_, currency)| *currency == "SEK") else { return };
    if amount < least || amount > most {
        let in_kronor = amount / 100.0;
        found.push(if amount > most && in_kronor >= least && amount % 100.0 == 0.0 {
            let text = format!("A price of {amount} SEK is unusually high, and ends in two zeros: it may be in öre.");
            Finding { suggestion: Some(in_kronor.to_string()), ..warning(Code::PriceInOre, "price", text) }
        } else {
            let text = format!("A price of {amount} SEK is outside of what is usual, {least} to {most} SEK.");
            warning(Code::PriceUnlikely, "price", text)
        });
    }
}

fn reduced(ad: Measured<'_>, found: &mut Vec<Finding>) {
    found.extend(match (ad.price(price::REDUCED), ad.price(price::LIST)) {
        (Some(_), None) => Some(warning(
            Code::ReducedWithoutList,
            "price",
            "The ad has a reduced price without a price of type \"list\".",
        )),
        (Some((reduced, _)), Some((list, _))) if reduced >= list => {
            let text = "The reduced price is not below the price of type \"list\".";
            Some(warning(Code::ReducedNotBelowList, "price", text))
        }
        _ => None,
    });
}

fn body(ad: Measured<'_>, found: &mut Vec<Finding>) {
    found.extend(words::find(ad.body()).into_iter().map(|in_text| {
        let contact = |what: &str, part: &str| {
            let text = format!(
                "The description contains {what} (\"{part}\"). Marketplaces show the dealer's contact beside the ad."
            );
            finding(Code::BodyContact, Severity::Info, "body", text)
        };
        match in_text {
            InText::Capitals => {
                finding(Code::BodyCapitals, Severity::Info, "body", "The description is in capital letters throughout.")
            }
            InText::Markup(tag) => warning(
                Code::BodyMarkup,
                "body",
                format!("The description contains markup (\"{tag}\"), which is shown as it is."),
            ),
            InText::Link(part) => contact("a link", part),
            InText::Email(part) => contact("an e-mail address", part),
            InText::Phone(part) => contact("a phone number", part),
        }
    }));
}

fn title(ad: Measured<'_>, found: &mut Vec<Finding>) {
    if !ad.category.registered {
        return;
    }
    for (path, name) in [("brand", "brand"), ("model", "model")] {
        if ad.field(path).is_none() {
            let text = format!("The generated title lacks the {name}.");
            found.push(finding(Code::TitleIncomplete, Severity::Info, &format!("category_fields.{path}"), text));
        }
    }
}

fn environment(ad: Measured<'_>, found: &mut Vec<Finding>) {
    let mut lacks = |code, path: &str, text: &str| {
        if ad.category.field(path).is_some() && ad.field(path).is_none() {
            found.push(finding(code, Severity::Info, &format!("category_fields.{path}"), text));
        }
    };
    if ad.is_electric() {
        let code = Code::ElectricIncomplete;
        lacks(code, "powertrain.environmental.driving_range", "The electric vehicle has no driving range.");
        lacks(code, "powertrain.environmental.battery_capacity", "The electric vehicle has no battery capacity.");
    } else if ad.is_new() == Some(true) {
        let code = Code::EmissionsMissing;
        lacks(code, "powertrain.environmental.fuel_consumption", "The new vehicle has no fuel consumption.");
        lacks(code, "powertrain.environmental.co2_emission", "The new vehicle has no CO2 emission.");
    }
}

fn photos(ad: Measured<'_>, found: &mut Vec<Finding>) {
    if let Some(usual) = vehicle::of(ad.category.id)
        && ad.images() < usual.photos
    {
        let (images, expected) = (ad.images(), usual.photos);
        let text = format!("The ad has {images} photos; buyers of this category expect at least {expected}.");
        found.push(finding(Code::FewPhotos, Severity::Info, "image_urls", text));
    }
    for (place, url) in ad.image_urls().iter().enumerate() {
        if let Some(FailedImage { url, error, .. }) = ad.missing_image(url) {
            let text = format!("The photo {url} is missing: {error}");
            found.push(warning(Code::PhotoMissing, &format!("image_urls.{place}"), text));
        }
    }
}

fn other_ad(ad: Measured<'_>, found: &mut Vec<Finding>) {
    if let (Some(other), Some(plate)) = (ad.same_plate, ad.text("registration_number")) {
        let text = format!("The ad with source id \"{other}\" has the registration number \"{plate}\" too.");
        found.push(warning(Code::PlateInOtherAd, "category_fields.registration_number", text));
    }
}
