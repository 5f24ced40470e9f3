//! A plain stock list in each language, to which misleading columns are added.

use serde_json::{Value, json};

use super::Hostile;
use crate::cars::{Car, cars, price, set, word};

/// Cars of a list.
const COUNT: usize = 24;

/// What a column has for a car, and which car it is.
pub(super) type Cells = Box<dyn Fn(usize, &Car) -> String>;

/// What changes in the truth of a car, and which car it is.
type Change = Box<dyn Fn(usize, &Car, &mut Value)>;

/// A list with the columns that it has.
pub(super) struct Table {
    name: String,
    language: &'static str,
    columns: Vec<(String, Cells)>,
    /// What is changed in the truth of a car.
    changes: Vec<Change>,
    says: Vec<&'static str>,
    fills: Vec<&'static str>,
    has_header: bool,
}

/// Names of the columns of a plain list: id, plate or VIN, brand, model, year, mileage, fuel, gearbox, colour and price.
const NAMES: [(&str, [&str; 10]); 4] = [
    ("sv", ["Lagernr", "Regnr", "Märke", "Modell", "Årsmodell", "Miltal", "Drivmedel", "Växellåda", "Färg", "Pris"]),
    (
        "de",
        [
            "Interne Nummer",
            "FIN",
            "Marke",
            "Modell",
            "Modelljahr",
            "Kilometerstand",
            "Kraftstoff",
            "Getriebe",
            "Farbe",
            "Verkaufspreis (EUR)",
        ],
    ),
    (
        "en",
        ["Stock no", "VIN", "Make", "Model", "Model year", "Odometer (km)", "Fuel", "Gearbox", "Colour", "Price (GBP)"],
    ),
    (
        "nb",
        [
            "Lagernr",
            "Understellsnr",
            "Merke",
            "Modell",
            "Årsmodell",
            "Kjørelengde (km)",
            "Drivstoff",
            "Girkasse",
            "Farge",
            "Pris NOK",
        ],
    ),
];

const LIST: [&str; 10] = ["id", "vin", "brand", "model", "year", "mileage", "fuel", "gearbox", "colour", "price"];

/// The languages of the lists.
pub(super) const LANGUAGES: [&str; 4] = ["sv", "de", "en", "nb"];

impl Table {
    pub(super) fn new(name: impl Into<String>, language: &'static str) -> Self {
        let (_, names) = NAMES.iter().find(|(known, _)| *known == language).expect("the language has names");
        let is_swedish = language == "sv";
        let columns = names.iter().zip(LIST).map(|(name, what)| {
            let cells: Cells = match what {
                "id" => Box::new(|_, car| car.id.clone()),
                "vin" if is_swedish => Box::new(|_, car| car.plate.clone()),
                "vin" => Box::new(|_, car| car.vin.clone()),
                "brand" => Box::new(|_, car| car.brand.1.to_owned()),
                "model" => Box::new(|_, car| car.model.1.to_owned()),
                "year" => Box::new(|_, car| car.year.to_string()),
                "mileage" if is_swedish => Box::new(|_, car| (car.km / 10).to_string()),
                "mileage" => Box::new(|_, car| car.km.to_string()),
                "fuel" => Box::new(move |_, car| word(language, car.fuel).to_owned()),
                "gearbox" => Box::new(move |_, car| word(language, car.gearbox).to_owned()),
                "colour" => Box::new(move |_, car| word(language, car.colour).to_owned()),
                _ => Box::new(|_, car| car.price.to_string()),
            };
            ((*name).to_owned(), cells)
        });
        Self {
            name: format!("{} ({language})", name.into()),
            language,
            columns: columns.collect(),
            changes: Vec::new(),
            says: Vec::new(),
            fills: Vec::new(),
            has_header: true,
        }
    }

    /// The name of a column of the plain list.
    pub(super) fn called(&self, what: &str) -> String {
        let (_, names) = NAMES.iter().find(|(known, _)| *known == self.language).expect("the language has names");
        let at = LIST.iter().position(|known| *known == what).expect("the list has it");
        names[at].to_owned()
    }

    /// Adds a column.
    pub(super) fn with(mut self, name: &str, cells: impl Fn(usize, &Car) -> String + 'static) -> Self {
        self.columns.push((name.to_owned(), Box::new(cells)));
        self
    }

    /// Adds a column before all others.
    pub(super) fn first(mut self, name: &str, cells: impl Fn(usize, &Car) -> String + 'static) -> Self {
        self.columns.insert(0, (name.to_owned(), Box::new(cells)));
        self
    }

    /// Replaces what a column of the plain list has.
    pub(super) fn instead(mut self, what: &str, cells: impl Fn(usize, &Car) -> String + 'static) -> Self {
        let name = self.called(what);
        self.columns
            .iter_mut()
            .filter(|(known, _)| *known == name)
            .for_each(|(_, known)| *known = Box::new(|_, _| String::new()));
        let place = self.columns.iter().position(|(known, _)| *known == name).expect("it has the column");
        self.columns[place].1 = Box::new(cells);
        self
    }

    /// Renames a column of the plain list.
    pub(super) fn renamed(mut self, what: &str, to: &str) -> Self {
        let name = self.called(what);
        self.columns.iter_mut().filter(|(known, _)| *known == name).for_each(|(known, _)| to.clone_into(known));
        self
    }

    /// Leaves out a column of the plain list.
    pub(super) fn without(mut self, what: &str) -> Self {
        let name = self.called(what);
        self.columns.retain(|(known, _)| *known != name);
        self
    }

    /// Changes what is true of each car.
    pub(super) fn truth(mut self, change: impl Fn(usize, &Car, &mut Value) + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// What the draft must say.
    pub(super) fn says(mut self, text: &'static str) -> Self {
        self.says.push(text);
        self
    }

    /// A field that the draft must fill.
    pub(super) fn fills(mut self, field: &'static str) -> Self {
        self.fills.push(field);
        self
    }

    pub(super) fn headerless(mut self) -> Self {
        self.has_header = false;
        self
    }

    /// What is true of a car by the plain list.
    fn plain_truth(&self, car: &Car) -> Value {
        let mut truth = car.truth(self.language);
        let fields = truth["category_fields"].as_object_mut().expect("it is an object");
        for field in ["model_type", "in_traffic_date", "body_type"] {
            fields.remove(field);
        }
        if self.language == "sv" {
            fields.remove("vin");
            fields.insert("registration_number".to_owned(), json!(car.plate));
        }
        fields["powertrain"].as_object_mut().map(|powertrain| powertrain.remove("displacement"));
        truth.as_object_mut().map(|truth| truth.remove("image_urls"));
        let currency = match self.language {
            "sv" => "SEK",
            "nb" => "NOK",
            "en" => "GBP",
            _ => "EUR",
        };
        set(&mut truth, "price", price(car.price, currency));
        truth
    }

    /// The file, with what is true of each row.
    pub(super) fn file(self) -> Hostile {
        let cars = cars(77, COUNT);
        let mut text = String::new();
        if self.has_header {
            text = self.columns.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>().join(";") + "\r\n";
        }
        let mut truths = Vec::new();
        for (number, car) in cars.iter().enumerate() {
            let cells: Vec<String> = self.columns.iter().map(|(_, cells)| quoted(&cells(number, car))).collect();
            text.push_str(&cells.join(";"));
            text.push_str("\r\n");
            let mut truth = self.plain_truth(car);
            self.changes.iter().for_each(|change| change(number, car, &mut truth));
            truths.push(truth);
        }
        Hostile { name: self.name, bytes: text.into_bytes(), truth: truths, says: self.says, fills: self.fills }
    }
}

/// Removes the value at a dotted path.
pub(super) fn unset(truth: &mut Value, path: &str) {
    let (around, name) = path.rsplit_once('.').unwrap_or(("", path));
    let place = around.split('.').filter(|name| !name.is_empty()).fold(truth, |place, name| &mut place[name]);
    if let Some(members) = place.as_object_mut() {
        members.remove(name);
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([';', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}
