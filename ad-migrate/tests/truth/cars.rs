//! The vehicles of the files, and what systems of each language call their values.

use serde_json::{Value, json};

/// Random numbers that are the same every time.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number from 0 to below `most`.
    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// A car; its values are those of the contract, and files write them in their own way.
pub(super) struct Car {
    pub(super) id: String,
    pub(super) plate: String,
    pub(super) vin: String,
    /// Id and display name of the brand.
    pub(super) brand: (&'static str, &'static str),
    pub(super) model: (&'static str, &'static str),
    pub(super) trim: &'static str,
    pub(super) body: &'static str,
    pub(super) year: usize,
    /// Year, month and day of the first registration.
    pub(super) registered: (usize, usize, usize),
    /// A whole number of mil.
    pub(super) km: usize,
    pub(super) kw: usize,
    /// 0 of an electric car.
    pub(super) cc: usize,
    pub(super) fuel: &'static str,
    pub(super) gearbox: &'static str,
    pub(super) colour: &'static str,
    /// List price in whole SEK.
    pub(super) price: usize,
    /// What the dealer paid, in whole SEK.
    pub(super) cost: usize,
    pub(super) images: usize,
}

type Known = ((&'static str, &'static str), (&'static str, &'static str), &'static str, usize, usize, &'static str);

const KNOWN: &[Known] = &[
    (("volvo", "Volvo"), ("v60", "V60"), "estate", 140, 1969, "diesel"),
    (("volvo", "Volvo"), ("xc60", "XC60"), "suv", 173, 1969, "gasoline"),
    (("volkswagen", "Volkswagen"), ("golf", "Golf"), "hatchback", 96, 1498, "gasoline"),
    (("skoda", "Škoda"), ("octavia", "Octavia"), "estate", 110, 1968, "diesel"),
    (("toyota", "Toyota"), ("yaris", "Yaris"), "hatchback", 82, 1496, "gasoline"),
    (("audi", "Audi"), ("a4", "A4"), "sedan", 150, 1984, "gasoline"),
    (("tesla", "Tesla"), ("model-3", "Model 3"), "sedan", 239, 0, "electric"),
    (("peugeot", "Peugeot"), ("308", "308"), "hatchback", 96, 1199, "gasoline"),
    (("kia", "Kia"), ("ceed", "Ceed"), "estate", 103, 1353, "gasoline"),
    (("opel", "Opel"), ("astra", "Astra"), "hatchback", 81, 1199, "gasoline"),
    (("audi", "Audi"), ("a5", "A5"), "convertible", 140, 1968, "diesel"),
];

const COLOURS: &[&str] = &["black", "white", "grey", "blue", "red", "green"];
const TRIMS: &[&str] = &["Momentum", "Summum", "Style", "GT Line", "R-Design", "Business"];

/// A year with 2026 as the present.
const PRESENT: usize = 2026;

impl Car {
    fn new(number: usize, dice: &mut Dice) -> Self {
        let (brand, model, body, kw, cc, fuel) = dice.of(KNOWN);
        let age = 1 + dice.below(11);
        let year = PRESENT - age;
        let registered = (year + dice.below(2) * usize::from(age > 1), 1 + dice.below(12), 1 + dice.below(28));
        let letter = |dice: &mut Dice| char::from(b"ABCDEFGHJKLMNPRSTUWXYZ"[dice.below(22)]);
        let plate: String = (0..3).map(|_| letter(dice)).collect();
        let vin: String = (0..6).map(|_| letter(dice)).collect();
        let price = (42_000 / (age + 1) + dice.below(9_000) + 4_000) * 10;
        Self {
            id: format!("B{}", 1001 + number),
            plate: format!("{plate}{:03}", dice.below(1000)),
            vin: format!("YV1{vin}{:08}", 10_000_000 + number * 37),
            brand,
            model,
            trim: dice.of(TRIMS),
            body,
            year,
            registered,
            km: age * (9_000 + dice.below(12_000)) / 10 * 10,
            kw,
            cc,
            fuel,
            gearbox: if cc == 0 { "automatic" } else { dice.of(&["manual", "automatic"]) },
            colour: dice.of(COLOURS),
            price: price / 100 * 100,
            cost: price * 4 / 500 * 100,
            images: 1 + dice.below(4),
        }
    }

    pub(super) fn hp(&self) -> usize {
        (self.kw * 136 + 50) / 100
    }

    pub(super) fn image(&self, number: usize) -> String {
        format!("https://cdn.example/{}/{number}.jpg", self.id)
    }

    /// The addresses of its images.
    pub(super) fn pictures(&self) -> Vec<String> {
        (0..self.images).map(|number| self.image(number)).collect()
    }

    pub(super) fn date(&self) -> String {
        let (year, month, day) = self.registered;
        format!("{year}-{month:02}-{day:02}")
    }

    /// First registration, such as `19.09.2014`.
    pub(super) fn dotted_date(&self) -> String {
        let (year, month, day) = self.registered;
        format!("{day:02}.{month:02}.{year}")
    }

    /// What every file says: the payload, with colours as they are called in a language.
    pub(super) fn truth(&self, language: &str) -> Value {
        let mut truth = json!({
            "category_id": 1020,
            "source_id": self.id,
            "image_urls": self.pictures(),
            "category_fields": {
                "vin": self.vin,
                "brand": self.brand.0,
                "model": self.model.0,
                "model_type": self.trim,
                "model_year": self.year,
                "in_traffic_date": self.date(),
                "body_type": self.body,
                "color": word(language, self.colour),
                "color_group": self.colour,
                "condition": {"mileage": {"unit": "km", "value": self.km}},
                "powertrain": {"fuels": [self.fuel], "transmission": self.gearbox},
            },
        });
        if self.cc > 0 {
            set(&mut truth, "category_fields.powertrain.displacement", json!({"unit": "cc", "value": self.cc}));
        }
        truth
    }
}

/// Sets the value at a dotted path.
pub(super) fn set(truth: &mut Value, path: &str, value: Value) {
    let place = path.split('.').fold(truth, |place, name| &mut place[name]);
    *place = value;
}

/// A `price` of one list price.
pub(super) fn price(amount: usize, currency: &str) -> Value {
    json!([{"type": "list", "amount": amount, "currency": currency}])
}

/// Random cars, the same for the same seed.
pub(super) fn cars(seed: u64, count: usize) -> Vec<Car> {
    let mut dice = Dice::new(seed);
    (0..count).map(|number| Car::new(number, &mut dice)).collect()
}

/// A number with a separator between thousands: `12.345`.
pub(super) fn grouped(number: usize, mark: &str) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|it| std::str::from_utf8(it).ok()).collect();
    groups.join(mark)
}

/// Values of the contract, and what they are called in Swedish, German, English, Norwegian, Danish, Finnish, Dutch and French.
const WORDS: &[(&str, [&str; 8])] = &[
    ("sedan", ["Sedan", "Limousine", "Saloon", "Sedan", "Sedan", "Porrasperä", "Sedan", "Berline"]),
    ("estate", ["Kombi", "Kombi", "Estate", "Stasjonsvogn", "Stationcar", "Farmari", "Stationwagen", "Break"]),
    (
        "hatchback",
        ["Halvkombi", "Schrägheck", "Hatchback", "Kombi 5-dørs", "Hatchback", "Viistoperä", "Hatchback", "Citadine"],
    ),
    ("suv", ["SUV", "SUV/Geländewagen", "SUV", "SUV/Offroad", "SUV", "Katumaasturi", "SUV", "SUV"]),
    ("convertible", ["Cab", "Cabrio", "Convertible", "Kabriolet", "Cabriolet", "Avoauto", "Cabriolet", "Décapotable"]),
    ("gasoline", ["Bensin", "Benzin", "Petrol", "Bensin", "Benzin", "Bensiini", "Benzine", "Essence"]),
    ("diesel", ["Diesel", "Diesel", "Diesel", "Diesel", "Diesel", "Diesel", "Diesel", "Gazole"]),
    ("electric", ["El", "Elektro", "Electric", "Elektrisk", "El", "Sähkö", "Elektrisch", "Électrique"]),
    ("manual", ["Manuell", "Schaltgetriebe", "Manual", "Manuell", "Manuelt", "Manuaali", "Handgeschakeld", "Manuelle"]),
    (
        "automatic",
        ["Automat", "Automatik", "Automatic", "Automat", "Automatisk", "Automaatti", "Automaat", "Automatique"],
    ),
    ("black", ["Svart", "Schwarz", "Black", "Sort", "Sort", "Musta", "Zwart", "Noir"]),
    ("white", ["Vit", "Weiß", "White", "Hvit", "Hvid", "Valkoinen", "Wit", "Blanc"]),
    ("grey", ["Grå", "Grau", "Grey", "Grå", "Grå", "Harmaa", "Grijs", "Gris"]),
    ("blue", ["Blå", "Blau", "Blue", "Blå", "Blå", "Sininen", "Blauw", "Bleu"]),
    ("red", ["Röd", "Rot", "Red", "Rød", "Rød", "Punainen", "Rood", "Rouge"]),
    ("green", ["Grön", "Grün", "Green", "Grønn", "Grøn", "Vihreä", "Groen", "Vert"]),
];

const LANGUAGES: [&str; 8] = ["sv", "de", "en", "nb", "da", "fi", "nl", "fr"];

/// What a value is called in a language.
pub(super) fn word(language: &str, value: &str) -> &'static str {
    let place = LANGUAGES.iter().position(|known| *known == language).expect("the language is known");
    WORDS.iter().find(|(known, _)| *known == value).expect("the value is known").1[place]
}
