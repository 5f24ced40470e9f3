//! The findings. Each is found by one function of the table.

use serde_json::Value;

use super::{
    Finding, Measured, Severity,
    images::{self, Unreachable},
    registry::{self, Difference},
    vehicle::{self, VinError},
    words::{self, TextFinding},
};
use crate::{
    categories::price,
    model::{FailedImage, ImageRef, Photo, PhotoFacts, Reduction},
    violation::Code,
    written::damage::{self, Damage},
};

const CATEGORY_FIELDS: &str = "category_fields.";

/// What a row of the table finds.
type FindProblems = fn(&Measured<'_>, &mut Vec<Finding>);

/// The table: the codes that a function finds, in the order in which they are shown.
pub(super) const FINDINGS: &[(&[Code], FindProblems)] = &[
    (&[Code::VinLetter, Code::VinFormat, Code::VinCheckDigit, Code::VinSerial, Code::VinModelYear], vin),
    (&[Code::PlateFormat], plate),
    (&[Code::ModelYearInFuture, Code::ModelYearUnlikely], model_year),
    (&[Code::MileageUnlikely, Code::MileageFraction, Code::NewVehicleDriven], mileage),
    (&[Code::EngineRuntimeUnlikely], engine_runtime),
    (&[Code::PowerUnlikely], power),
    (&[Code::DisplacementUnlikely], displacement),
    (&[Code::PriceUnlikely, Code::PriceInOre], prices),
    (&[Code::ReducedWithoutList, Code::ReducedNotBelowList], reduced),
    (&[Code::ReducedNotBelowLowest], not_below_lowest),
    (&[Code::TextDamaged], damaged),
    (&[Code::DateUnlikely], dates),
    (&[Code::ImageUnreachable], addresses),
    (&[Code::BodyCapitals, Code::BodyMarkup, Code::BodyContact], body),
    (&[Code::TitleIncomplete], title),
    (&[Code::ElectricIncomplete, Code::EmissionsMissing], environment),
    (&[Code::FewPhotos, Code::PhotoMissing], photos),
    (
        &[
            Code::PhotoUndecodable,
            Code::PhotoRepeated,
            Code::PhotoSmall,
            Code::PhotoUpright,
            Code::PhotoDark,
            Code::PhotoBlurred,
        ],
        shown_photos,
    ),
    (&[Code::PhotoInOtherAd], photos_of_other_ads),
    (&[Code::PlateInOtherAd, Code::VinInOtherAd], other_ads),
    (&[Code::RegistryDiffers, Code::RegistryProposes], registered),
];

/// The findings of an ad.
pub(super) fn of(ad: &Measured<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, find) in FINDINGS {
        find(ad, &mut found);
    }
    found
}

/// What was found, in English and Swedish.
struct Text {
    english: String,
    swedish: String,
}

/// A [`Text`]; both languages have the same values in it.
macro_rules! say {
    ($english:literal, $swedish:literal) => {
        Text { english: format!($english), swedish: format!($swedish) }
    };
}

fn finding(code: Code, severity: Severity, field: &str, Text { english, swedish }: Text) -> Finding {
    Finding { code, severity, field: field.to_owned(), text: english, swedish, suggestion: None }
}

fn warning(code: Code, field: &str, text: Text) -> Finding {
    finding(code, Severity::Warning, field, text)
}

fn vin(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    // Machines have serial numbers of any shape.
    let Some(vin) = ad.text("vin").filter(|_| ad.category.registered) else { return };
    let field = "category_fields.vin";
    let plain: String = vin.chars().filter(|letter| !matches!(letter, ' ' | '-')).collect();
    let Err(error) = vehicle::check_vin(&plain) else {
        found.extend(other_model_year(ad, vin, &plain));
        return;
    };
    found.push(match error {
        VinError::Letter(letter) => {
            let text = say!(
                "The VIN \"{vin}\" contains {letter}. VINs do not use I, O and Q; it is probably a digit.",
                "Chassinumret \"{vin}\" innehåller {letter}. I, O och Q används inte; det är troligen en siffra."
            );
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
            let text = say!(
                "A VIN has 17 letters and digits; \"{vin}\" has {count} characters.",
                "Ett chassinummer har 17 bokstäver och siffror; \"{vin}\" har {count} tecken."
            );
            warning(Code::VinFormat, field, text)
        }
        VinError::CheckDigit { expected } => {
            let text = say!(
                "The check digit of the VIN \"{vin}\", its ninth character, should be {expected}. One of the characters is wrong.",
                "Kontrollsiffran i chassinumret \"{vin}\", det nionde tecknet, borde vara {expected}. Något av tecknen är fel."
            );
            warning(Code::VinCheckDigit, field, text)
        }
        VinError::Serial => {
            let text = say!(
                "The last four characters of a VIN are digits; those of \"{vin}\" are not.",
                "De fyra sista tecknen i ett chassinummer är siffror; i \"{vin}\" är de inte det."
            );
            warning(Code::VinSerial, field, text)
        }
    });
}

/// That a valid VIN is of another model year than the ad.
fn other_model_year(ad: &Measured<'_>, vin: &str, plain: &str) -> Option<Finding> {
    let (year, of_vin) = (ad.model_year()?, vehicle::model_years(plain)?);
    // A vehicle may be sold as of the year before or behind.
    if of_vin.iter().any(|of_vin| year.abs_diff(*of_vin) <= 1) {
        return None;
    }
    let [earlier, later] = of_vin;
    let text = say!(
        "The VIN \"{vin}\" is of the model year {earlier} or {later}; the ad says {year}.",
        "Chassinumret \"{vin}\" hör till årsmodell {earlier} eller {later}; annonsen anger {year}."
    );
    Some(warning(Code::VinModelYear, "category_fields.vin", text))
}

fn plate(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some(plate) = ad.text("registration_number").filter(|plate| !vehicle::is_swedish_plate(plate)) else { return };
    let countries = vehicle::foreign_plate(plate);
    let (personal, misread) = (vehicle::may_be_personal_plate(plate), vehicle::misread_plate(plate));
    let severity = if personal || !countries.is_empty() { Severity::Info } else { Severity::Warning };
    let (ends, slutar) = match (&misread, &countries[..], personal) {
        (Some(misread), ..) => (format!(" It may be {misread}."), format!(" Det kan vara {misread}.")),
        (None, [], true) => (" It may be a personal plate.".to_owned(), " Det kan vara en personlig skylt.".to_owned()),
        (None, [], false) => (String::new(), String::new()),
        (None, countries, _) => (
            format!(" It has the form of a {} plate.", countries.join(" or ")),
            format!(" Den liknar en utländsk ({}).", countries.join(" / ")),
        ),
    };
    let text = say!(
        "\"{plate}\" does not have the form of an ordinary Swedish plate, ABC123 or ABC12D.{ends}",
        "\"{plate}\" har inte formen av en vanlig svensk registreringsskylt, ABC123 eller ABC12D.{slutar}"
    );
    let found_plate = finding(Code::PlateFormat, severity, "category_fields.registration_number", text);
    found.push(Finding { suggestion: misread, ..found_plate });
}

fn model_year(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some(year) = ad.model_year() else { return };
    if let Some(usual) = vehicle::of(ad.category.id)
        && year < usual.since
    {
        let since = usual.since;
        let text = say!(
            "The model year {year} is unlikely: vehicles of this category are of {since} at the earliest.",
            "Årsmodell {year} är osannolik: fordon av denna typ är tidigast från {since}."
        );
        found.push(warning(Code::ModelYearUnlikely, "category_fields.model_year", text));
    }
    // The models of the next year are sold from summer on.
    if year > i64::from(ad.today.year()) + 1 {
        let text = say!("The model year {year} is in the future.", "Årsmodell {year} ligger i framtiden.");
        found.push(warning(Code::ModelYearInFuture, "category_fields.model_year", text));
    }
}

/// Most kilometres of a new vehicle: test drives, and the way from the factory.
const KILOMETRES_OF_NEW: f64 = 200.0;

fn mileage(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some((value, unit)) = ad.measure("condition.mileage") else { return };
    let field = "category_fields.condition.mileage";
    let kilometres = if unit.eq_ignore_ascii_case("mil") { value * 10.0 } else { value };
    if (kilometres - kilometres.round()).abs() > 1e-6 {
        let text = say!(
            "A mileage of {value} {unit} is no whole number of kilometres: is a separator of thousands taken for a decimal one?",
            "Mätarställningen {value} {unit} är inget helt antal kilometer: har en tusentalsavgränsare tolkats som decimaltecken?"
        );
        found.push(warning(Code::MileageFraction, field, text));
    }
    if ad.is_new == Some(true) && kilometres > KILOMETRES_OF_NEW {
        let text = say!(
            "The vehicle is said to be new, and has a mileage of {value} {unit}.",
            "Fordonet anges som nytt, men mätarställningen är {value} {unit}."
        );
        found.push(warning(Code::NewVehicleDriven, field, text));
        return;
    }
    let (Some(usual), Some(years)) = (vehicle::of(ad.category.id), ad.years()) else { return };
    let year = ad.model_year().unwrap_or_default();
    let most = usual.yearly * years;
    if kilometres > most || ad.lacks_mileage {
        let text = say!(
            "A mileage of {value} {unit} is unlikely for the model year {year}.",
            "Mätarställningen {value} {unit} är osannolik för årsmodell {year}."
        );
        let as_kilometres =
            (unit.eq_ignore_ascii_case("mil") && kilometres > most && value <= most).then(|| format!("{value} km"));
        found.push(Finding { suggestion: as_kilometres, ..warning(Code::MileageUnlikely, field, text) });
    }
}

fn engine_runtime(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let (Some((value, unit)), Some(years)) = (ad.measure("condition.engine_runtime"), ad.years()) else { return };
    let hours = if unit.eq_ignore_ascii_case("min") { value / 60.0 } else { value };
    if hours > vehicle::HOURS_OF_A_YEAR * years {
        let year = ad.model_year().unwrap_or_default();
        let text = say!(
            "{value} {unit} are more than the time since the beginning of the model year {year}.",
            "{value} {unit} är mer än tiden sedan början av årsmodell {year}."
        );
        found.push(warning(Code::EngineRuntimeUnlikely, "category_fields.condition.engine_runtime", text));
    }
}

fn power(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some((value, unit)) = ad.measure("powertrain.power") else { return };
    let Some((least, most)) = vehicle::of(ad.category.id).and_then(|usual| usual.power) else { return };
    let kilowatts = vehicle::kilowatts(value, unit);
    if kilowatts < least || kilowatts > most {
        let text = say!(
            "A power of {value} {unit} is outside of what is usual, {least} to {most} kW.",
            "Effekten {value} {unit} ligger utanför det vanliga, {least} till {most} kW."
        );
        found.push(warning(Code::PowerUnlikely, "category_fields.powertrain.power", text));
    }
}

fn displacement(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some((value, unit)) = ad.measure("powertrain.displacement") else { return };
    let cubic = if unit.eq_ignore_ascii_case("l") { value * 1000.0 } else { value };
    let (least, most) = vehicle::displacement(ad.category.id);
    if cubic < least || cubic > most {
        let text = say!(
            "A displacement of {value} {unit} is outside of what is usual, {least} to {most} cc.",
            "Slagvolymen {value} {unit} ligger utanför det vanliga, {least} till {most} cc."
        );
        found.push(warning(Code::DisplacementUnlikely, "category_fields.powertrain.displacement", text));
    }
}

fn prices(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some(usual) = vehicle::of(ad.category.id) else { return };
    // The ranges are in SEK. Before an ad is stored, a price may have no currency; it then is in the dealer's.
    let Some((amount, currency)) = ad.price(price::LIST) else { return };
    let currency = if currency.is_empty() { "SEK" } else { currency };
    let Some(rate) = vehicle::kronor(currency) else { return };
    let (least, most) = ((usual.price.0 / rate).round(), (usual.price.1 / rate).round());
    if amount < least || amount > most {
        let in_kronor = amount / 100.0;
        found.push(if amount > most && in_kronor >= least && amount % 100.0 == 0.0 {
            let text = say!(
                "A price of {amount} {currency} is unusually high, and ends in two zeros: it may be in öre.",
                "Priset {amount} {currency} är ovanligt högt och slutar på två nollor: det kan vara i öre."
            );
            Finding { suggestion: Some(in_kronor.to_string()), ..warning(Code::PriceInOre, "price", text) }
        } else {
            let text = say!(
                "A price of {amount} {currency} is outside of what is usual, {least} to {most} {currency}.",
                "Priset {amount} {currency} ligger utanför det vanliga, {least} till {most} {currency}."
            );
            warning(Code::PriceUnlikely, "price", text)
        });
    }
}

fn reduced(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    found.extend(match (ad.price(price::REDUCED), ad.price(price::LIST)) {
        (Some(_), None) => Some(warning(
            Code::ReducedWithoutList,
            "price",
            say!(
                "The ad has a reduced price without a price of type \"list\".",
                "Annonsen har ett nedsatt pris utan ett pris av typen \"list\"."
            ),
        )),
        (Some((reduced, _)), Some((list, _))) if reduced >= list => {
            let text = say!(
                "The reduced price is not below the price of type \"list\".",
                "Det nedsatta priset är inte lägre än priset av typen \"list\"."
            );
            Some(warning(Code::ReducedNotBelowList, "price", text))
        }
        _ => None,
    });
}

/// Where the directive can be read, in all languages of the EU.
const DIRECTIVE: &str = "https://eur-lex.europa.eu/eli/dir/1998/6/oj";

fn not_below_lowest(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some(Reduction { amount, currency, reference: Some(reference), below_reference: Some(false), .. }) =
        ad.prices.and_then(|prices| prices.reduction.as_ref())
    else {
        return;
    };
    let lowest = &reference.amount;
    let text = say!(
        "The reduced price, {amount} {currency}, is not below {lowest} {currency}, the lowest price of the 30 days before it was \
         announced. Where Directive 98/6/EC, Article 6a, applies, a reduction is shown with that price ({DIRECTIVE}).",
        "Det nedsatta priset, {amount} {currency}, är inte lägre än {lowest} {currency}, det lägsta priset de 30 dagarna innan det \
         tillkännagavs. Där artikel 6a i direktiv 98/6/EG gäller visas en nedsättning tillsammans med det priset ({DIRECTIVE})."
    );
    found.push(finding(Code::ReducedNotBelowLowest, Severity::Info, "price", text));
}

/// Most damaged texts that are listed.
const MOST_DAMAGED: usize = 5;

fn damaged(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let of_ad = ["title", "body"].into_iter().filter_map(|name| Some((name, ad.ad.get(name)?)));
    let of_vehicle = ad.facts.category_fields.into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    let all = of_ad
        .map(|(name, value)| ("", name, value))
        .chain(of_vehicle.map(|(name, value)| (CATEGORY_FIELDS, name, value)));
    let texts = all.filter_map(|(prefix, name, value)| match value {
        Value::String(text) => Some((prefix, name, None, damage::find(text)?, text.as_str())),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let text = item.as_str()?;
            Some((prefix, name, Some(index), damage::find(text)?, text))
        }),
        _ => None,
    });
    found.extend(texts.take(MOST_DAMAGED).map(|(prefix, name, index, damaged, sent)| {
        let index = index.map(|index| format!(".{index}")).unwrap_or_default();
        let (what, vad) = match damaged.damage {
            Damage::EncodedTwice => ("UTF-8 that was encoded twice", "UTF-8 som kodats två gånger"),
            Damage::Lost => ("characters that were lost (U+FFFD)", "tecken som gått förlorade (U+FFFD)"),
            Damage::Entities => ("HTML entities", "HTML-entiteter"),
            Damage::Escapes => ("escapes that were not read", "escapesekvenser som inte tolkats"),
            Damage::NoValue => {
                ("\\N, which stands for no value in a database dump", "\\N, som betyder inget värde i en databasdump")
            }
            Damage::Control => ("control characters", "styrtecken"),
        };
        let (is, ar) = match &damaged.meant {
            Some(meant) => {
                let (before, after) = first_difference(sent, meant);
                (
                    format!(": \"{before}\" is probably \"{after}\""),
                    format!(": \"{before}\" ska troligen vara \"{after}\""),
                )
            }
            None => Default::default(),
        };
        let text = say!("The text has {what}{is}.", "Texten innehåller {vad}{ar}.");
        let field = format!("{prefix}{name}{index}");
        Finding { suggestion: damaged.meant, ..warning(Code::TextDamaged, &field, text) }
    }));
}

/// Most characters of a damaged text that a message shows.
const MOST_SHOWN: usize = 40;

/// The words of two texts where they first differ.
fn first_difference(sent: &str, meant: &str) -> (String, String) {
    let same =
        sent.chars().zip(meant.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum();
    let start = sent[..same].char_indices().rev().find(|(_, letter)| letter.is_whitespace());
    let start = start.map_or(0, |(space, letter)| space + letter.len_utf8());
    let start = if same - start > MOST_SHOWN { same } else { start };
    let word = |text: &str| -> String {
        let word: String = text[start..].chars().take_while(|letter| *letter != ' ').take(MOST_SHOWN).collect();
        word.escape_debug().to_string()
    };
    (word(sent), word(meant))
}

fn addresses(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    for (index, address) in ad.facts.images.iter().enumerate() {
        let Some(unreachable) = address.as_str().and_then(images::unreachable) else { continue };
        if ad.private_images && matches!(unreachable, Unreachable::PrivateHost(_)) {
            continue;
        }
        let (english, swedish) = unreachable.texts();
        let finding = warning(Code::ImageUnreachable, &format!("image_urls.{index}"), Text { english, swedish });
        found.push(Finding { suggestion: unreachable.meant(), ..finding });
    }
}

/// Dates before this one are of programs that have none.
const FIRST_DATE: &str = "1900-01-02";

fn dates(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    for path in ["in_traffic_date", "eu_check_last", "eu_check_next"] {
        let date = ad.facts.category_fields.and_then(|fields| fields.get(path)?.as_str());
        let Some(date) = date.filter(|date| *date < FIRST_DATE) else { continue };
        let text = say!(
            "The date {date} is unlikely: it is what programs send for a date that is not set.",
            "Datumet {date} är osannolikt: så skickar program ett datum som inte är satt."
        );
        found.push(warning(Code::DateUnlikely, &format!("{CATEGORY_FIELDS}{path}"), text));
    }
}

fn body(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    found.extend(words::find(ad.facts.body).into_iter().map(|in_text| {
        let contact = |what: &str, vad: &str, part: &str| {
            let text = say!(
                "The description contains {what} (\"{part}\"). Marketplaces show the dealer's contact beside the ad.",
                "Annonstexten innehåller {vad} (\"{part}\"). Marknadsplatserna visar handlarens kontaktuppgifter bredvid annonsen."
            );
            finding(Code::BodyContact, Severity::Info, "body", text)
        };
        match in_text {
            TextFinding::Capitals => {
                let text = say!(
                    "The description is in capital letters throughout.",
                    "Annonstexten är helt i versaler."
                );
                finding(Code::BodyCapitals, Severity::Info, "body", text)
            }
            TextFinding::Markup(tag) => {
                let text = say!(
                    "The description contains an HTML tag (\"{tag}\"), which is shown as it is; `<` and `>` become hyphens.",
                    "Annonstexten innehåller en HTML-tagg (\"{tag}\"), som visas som den är; `<` och `>` blir bindestreck."
                );
                warning(Code::BodyMarkup, "body", text)
            }
            TextFinding::Link(part) => contact("a link", "en länk", part),
            TextFinding::Email(part) => contact("an e-mail address", "en e-postadress", part),
            TextFinding::Phone(part) => contact("a phone number", "ett telefonnummer", part),
        }
    }));
}

fn title(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    if !ad.category.registered {
        return;
    }
    for (path, namn) in [("brand", "märket"), ("model", "modellen")] {
        if ad.field(path).is_none() {
            let text = say!("The generated title lacks the {path}.", "I den genererade rubriken saknas {namn}.");
            found.push(finding(Code::TitleIncomplete, Severity::Info, &format!("category_fields.{path}"), text));
        }
    }
}

fn environment(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let mut lacks = |code, path: &str, text: Text| {
        if ad.category.field(path).is_some() && ad.field(path).is_none() {
            found.push(finding(code, Severity::Info, &format!("category_fields.{path}"), text));
        }
    };
    if ad.is_electric {
        let code = Code::ElectricIncomplete;
        let text = say!("The electric vehicle has no driving range.", "Elfordonet saknar räckvidd.");
        lacks(code, "powertrain.environmental.driving_range", text);
        let text = say!("The electric vehicle has no battery capacity.", "Elfordonet saknar batterikapacitet.");
        lacks(code, "powertrain.environmental.battery_capacity", text);
    } else if ad.is_new == Some(true) {
        let code = Code::EmissionsMissing;
        let text = say!("The new vehicle has no fuel consumption.", "Det nya fordonet saknar bränsleförbrukning.");
        lacks(code, "powertrain.environmental.fuel_consumption", text);
        let text = say!("The new vehicle has no CO2 emission.", "Det nya fordonet saknar koldioxidutsläpp.");
        lacks(code, "powertrain.environmental.co2_emission", text);
    }
}

fn photos(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    if let Some(usual) = vehicle::of(ad.category.id)
        && ad.images() < usual.photos
    {
        let (images, expected) = (ad.images(), usual.photos);
        let (photos, foton) = if images == 1 { ("photo", "foto") } else { ("photos", "foton") };
        let text = say!(
            "The ad has {images} {photos}; buyers of this category expect at least {expected}.",
            "Annonsen har {images} {foton}; köpare förväntar sig minst {expected}."
        );
        found.push(finding(Code::FewPhotos, Severity::Info, "image_urls", text));
    }
    for (place, url) in ad.facts.images.iter().enumerate() {
        if let Some(FailedImage { error, .. }) = ad.missing_image(url) {
            // Its host has said why, in English.
            let number = place + 1;
            let text = say!("Photo {number} is missing: {error}", "Foto {number} saknas.");
            found.push(warning(Code::PhotoMissing, &format!("image_urls.{place}"), text));
        }
    }
}

/// The least size of a photo in pixels, upright or not.
const PHOTO_SIZE: (u32, u32) = (1024, 768);

/// Mean lightness below which a photo is dark.
const DARK: u32 = 40;

/// Contrast from which a photo has edges that can be sharp.
const CONTRAST: u8 = 12;

/// Sharpness below which a photo with contrast is blurred.
const BLURRED: u16 = 15;

fn shown_photos(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let photos: Vec<_> = ad.photos().collect();
    for (place, image) in &photos {
        let number = place + 1;
        let mut find = |code, severity, text| found.push(finding(code, severity, &format!("image_urls.{place}"), text));
        if let Some((earlier, _)) = photos.iter().find(|(other, photo)| other < place && is_same(photo, image)) {
            let first = earlier + 1;
            let text = say!(
                "Photo {number} looks the same as photo {first}.",
                "Foto {number} ser likadant ut som foto {first}."
            );
            find(Code::PhotoRepeated, Severity::Warning, text);
        }
        let facts = match &image.photo {
            Some(Photo::Decoded(facts)) => facts,
            Some(Photo::Undecodable(why)) => {
                let text = say!("Photo {number} cannot be decoded: {why}.", "Foto {number} kan inte avkodas: {why}.");
                find(Code::PhotoUndecodable, Severity::Warning, text);
                continue;
            }
            None => continue,
        };
        let PhotoFacts { width, height, contrast, sharpness, .. } = *facts;
        if width.max(height) < PHOTO_SIZE.0 || width.min(height) < PHOTO_SIZE.1 {
            let (least_width, least_height) = PHOTO_SIZE;
            let text = say!(
                "Photo {number} has {width} × {height} pixels; buyers expect at least {least_width} × {least_height}.",
                "Foto {number} har {width} × {height} bildpunkter; köpare förväntar sig minst {least_width} × {least_height}."
            );
            find(Code::PhotoSmall, Severity::Info, text);
        }
        if *place == 0 && height > width {
            let text = say!(
                "The first photo is upright; lists of ads crop it above and below.",
                "Det första fotot är på höjden; annonslistor beskär det upptill och nertill."
            );
            find(Code::PhotoUpright, Severity::Info, text);
        }
        if facts.lightness() < DARK {
            find(Code::PhotoDark, Severity::Info, say!("Photo {number} is dark.", "Foto {number} är mörkt."));
        } else if contrast >= CONTRAST && sharpness < BLURRED {
            let text = say!("Photo {number} seems to be blurred.", "Foto {number} verkar vara oskarpt.");
            find(Code::PhotoBlurred, Severity::Info, text);
        }
    }
}

/// Whether two images are one or look the same.
fn is_same(one: &ImageRef, other: &ImageRef) -> bool {
    let facts = |image: &ImageRef| image.photo.as_ref().and_then(Photo::facts).copied();
    let look_alike = || facts(one).zip(facts(other)).is_some_and(|(one, other)| one.looks_like(&other));
    one.checksum == other.checksum || look_alike()
}

fn photos_of_other_ads(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    for (place, image) in ad.photos() {
        if let Some(other) = ad.same_photos.and_then(|same| same.get(&image.checksum)) {
            let number = place + 1;
            let text = say!(
                "Photo {number} looks the same as one of the ad with source id \"{other}\".",
                "Foto {number} ser likadant ut som ett i annonsen med käll-id \"{other}\"."
            );
            found.push(finding(Code::PhotoInOtherAd, Severity::Info, &format!("image_urls.{place}"), text));
        }
    }
}

fn other_ads(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    let Some(same) = ad.same_vehicle else { return };
    for (code, other, name, namn, path) in [
        (Code::PlateInOtherAd, &same.plate, "registration number", "registreringsnumret", "registration_number"),
        (Code::VinInOtherAd, &same.vin, "VIN", "chassinumret", "vin"),
    ] {
        if let (Some(other), Some(value)) = (other, ad.text(path)) {
            let text = say!(
                "The ad with source id \"{other}\" has the {name} \"{value}\" too.",
                "Annonsen med käll-id \"{other}\" har också {namn} \"{value}\"."
            );
            found.push(warning(code, &format!("category_fields.{path}"), text));
        }
    }
}

fn registered(ad: &Measured<'_>, found: &mut Vec<Finding>) {
    found.extend(registry::find(ad).into_iter().map(|Difference { path, sent, registered }| {
        let (code, severity, text) = match sent {
            None => {
                let text = say!(
                    "The ad does not have this field; the vehicle register has \"{registered}\".",
                    "Annonsen saknar detta fält; fordonsregistret har \"{registered}\"."
                );
                (Code::RegistryProposes, Severity::Info, text)
            }
            Some(sent) => {
                let text = say!(
                    "The ad has \"{sent}\"; the vehicle register has \"{registered}\".",
                    "Annonsen har \"{sent}\"; fordonsregistret har \"{registered}\"."
                );
                (Code::RegistryDiffers, Severity::Warning, text)
            }
        };
        let suggestion = Some(registered);
        Finding { suggestion, ..finding(code, severity, &format!("category_fields.{path}"), text) }
    }));
}
