//! Names of shared schemas. A name says whose the property is and what it is: `CarOrTransportCondition`, `VehicleModelYear`, `PriceAmount`.

use std::collections::BTreeSet;

use ad_core::categories;

use crate::api::openapi::{fields::Form, name_of, pascal_case};

/// Longest name of a schema.
const LONGEST: usize = 40;

/// What the names of schemas with category fields end with.
const FIELDS: &str = "Fields";

/// A step of a path from an array to its items.
const ITEM: &str = "item";

/// A place in the document where a schema stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// What has it: components, without the suffix of their form; of category fields, the vehicle types.
    owners: BTreeSet<String>,
    /// Whether it is among category fields.
    in_fields: bool,
    /// Names of the properties down to it, and [`ITEM`]s.
    path: Vec<String>,
    form: Form,
}

impl Place {
    /// The top of a component.
    pub(super) fn of(component: &str) -> Self {
        let form = [Form::Update, Form::Answer].into_iter().find(|form| component.ends_with(form.suffix()));
        let form = form.unwrap_or(Form::New);
        let owner = component.strip_suffix(form.suffix()).unwrap_or(component);
        let (owner, in_fields) = owner.strip_suffix(FIELDS).map_or((owner, false), |of| (of, true));
        Self { owners: [owner.to_owned()].into(), in_fields, path: Vec::new(), form }
    }

    /// The top of a component that is shared by these places.
    pub(super) fn around(places: &[Self]) -> Self {
        Self {
            owners: places.iter().flat_map(|place| place.owners.clone()).collect(),
            in_fields: places.iter().all(|place| place.in_fields),
            path: places[0].path.clone(),
            form: common_form(places),
        }
    }

    /// Characters of the shortest name of what has it.
    pub(super) fn shortest_owner(&self) -> usize {
        self.owners.iter().map(String::len).min().unwrap_or_default()
    }

    pub(super) fn property(&self, name: &str) -> Self {
        let mut place = self.clone();
        place.path.push(name.to_owned());
        place
    }

    pub(super) fn item(&self) -> Self {
        self.property(ITEM)
    }
}

/// That of a new ad where there is one: updates and answers that have the same schema share it.
fn common_form(places: &[Place]) -> Form {
    let is_of = |form: &Form| places.iter().any(|place| place.form == *form);
    [Form::New, Form::Answer].into_iter().find(is_of).unwrap_or(Form::Update)
}

/// What schemas in these places are, in a word or two: their property, or that around them if their properties have different names;
/// `None` if these differ too.
pub(super) fn own(places: &[Place]) -> Option<String> {
    let same = |of: &dyn Fn(&[String]) -> String| {
        let mut names = places.iter().map(|place| of(&place.path));
        let first = names.next()?;
        names.all(|name| name == first).then_some(first)
    };
    let around = |path: &[String]| path.split_last().map_or(String::new(), |(_, above)| singular(&own_of(above)));
    same(&own_of).or_else(|| same(&around).filter(|name| !name.is_empty()))
}

/// The name at the end of a path, with that of the array whose item has it: `VehicleRatingValue` of `vehicle_ratings.item.value`.
fn own_of(path: &[String]) -> String {
    match path {
        [] => String::new(),
        [above @ .., last] if last == ITEM => singular(&own_of(above)),
        [above @ .., last] if above.last().is_some_and(|above| above == ITEM) => own_of(above) + &pascal_case(last),
        [.., last] => pascal_case(last),
    }
}

/// An item of what this names.
fn singular(name: &str) -> String {
    name.strip_suffix('s').unwrap_or(name).to_owned()
}

/// A name for what these places share that is not in use.
pub(super) fn unused(places: &[Place], is_unused: impl Fn(&str) -> bool) -> String {
    let own = own(places).unwrap_or_default();
    let suffix = common_form(places).suffix();
    let path = places[0].path.iter().filter(|name| *name != ITEM).map(|name| pascal_case(name)).collect::<String>();
    let of = subjects(places);
    let names = of.iter().flat_map(|of| [format!("{of}{own}"), format!("{of}{path}")]);
    let mut names = names.map(|name| name + suffix).filter(|name| name.len() <= LONGEST);
    // Nothing else stands in the first place.
    let owner = places[0].owners.iter().next().map_or("", String::as_str);
    let fields = if places[0].in_fields { FIELDS } else { "" };
    names.find(|name| is_unused(name)).unwrap_or_else(|| format!("{owner}{fields}{path}{suffix}"))
}

/// Words for what has these places, the best first.
fn subjects(places: &[Place]) -> Vec<String> {
    let owners: BTreeSet<_> = places.iter().flat_map(|place| &place.owners).map(String::as_str).collect();
    if places.iter().all(|place| place.in_fields) {
        return of_types(&owners);
    }
    // A property of the items of `NewPrices` is one of a new price.
    let of_items = places.iter().any(|place| place.path.first().is_some_and(|name| name == ITEM));
    let owners: Vec<_> = owners.iter().map(|of| if of_items { singular(of) } else { (*of).to_owned() }).collect();
    let shortest = owners.iter().min_by_key(|name| name.len()).cloned();
    let owners = owners.iter().map(String::as_str).collect();
    common(&owners).or_else(|| either(&owners)).into_iter().chain(shortest).collect()
}

/// Words for vehicle types, those of API V3 with that name before them.
fn of_types(owners: &BTreeSet<&str>) -> Vec<String> {
    let version = if owners.iter().all(|of| of.starts_with("V3")) { "V3" } else { "" };
    let types: BTreeSet<_> = owners.iter().map(|of| of.strip_prefix("V3").unwrap_or(of)).collect();
    let known = common(&types).or_else(|| either(&types));
    let is_registered =
        |name: &&str| categories::typed().any(|(_, category)| category.registered && name_of(category) == *name);
    let which = match types.iter().filter(|name| is_registered(name)).count() {
        0 => "Unregistered",
        registered if registered == types.len() => "Registered",
        _ => "",
    };
    let several = [format!("{version}Vehicle"), format!("{version}{which}Vehicle")];
    known.map(|of| version.to_owned() + &of).into_iter().chain(several).collect()
}

/// The words that names have in common, if they have any.
fn common(names: &BTreeSet<&str>) -> Option<String> {
    let mut names = names.iter().map(|name| words(name));
    let first = names.next()?;
    let others: Vec<_> = names.collect();
    let words: String = first.into_iter().filter(|word| others.iter().all(|of| of.contains(word))).collect();
    (!words.is_empty()).then_some(words)
}

/// Names of two, as one.
fn either(names: &BTreeSet<&str>) -> Option<String> {
    (names.len() == 2).then(|| names.iter().copied().collect::<Vec<_>>().join("Or"))
}

/// The words of a name in Pascal case.
fn words(name: &str) -> Vec<&str> {
    let mut starts: Vec<_> = name.match_indices(|mark: char| mark.is_ascii_uppercase()).map(|(at, _)| at).collect();
    starts.push(name.len());
    starts.windows(2).map(|ends| &name[ends[0]..ends[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of what stands at these places, each a component and a path.
    fn name(places: &[(&str, &str)]) -> Option<String> {
        named(places, &[])
    }

    fn named(places: &[(&str, &str)], taken: &[&str]) -> Option<String> {
        let place = |(component, path): &(&str, &str)| {
            path.split('.').fold(Place::of(component), |place, name| place.property(name))
        };
        let places: Vec<_> = places.iter().map(place).collect();
        own(&places).map(|_| unused(&places, |name| !taken.contains(&name)))
    }

    #[test]
    fn a_name_says_whose_it_is_and_what() {
        for (places, expected) in [
            (&[("CarFields", "physics.cargo"), ("V3CarFieldsUpdate", "physics.cargo")][..], "CarCargo"),
            (
                &[("CarFieldsUpdate", "condition"), ("TransportFieldsUpdate", "condition")],
                "CarOrTransportConditionUpdate",
            ),
            (&[("V3CarFields", "condition"), ("V3TransportFields", "condition")], "V3CarOrTransportCondition"),
            (&[("AgricultureToolsFields", "physics"), ("AgricultureTractorFields", "physics")], "AgriculturePhysics"),
            (&[("AtvFields", "model"), ("BoatFields", "model"), ("BusFieldsAnswer", "model")], "VehicleModel"),
            (&[("V3AtvFields", "vin"), ("V3CarFields", "vin"), ("V3MopedFields", "vin")], "V3VehicleVin"),
            (&[("CarFields", "wheels.item.tires.left"), ("CarFields", "wheels.item.tires.right")], "CarWheelTire"),
            (&[("CarFields", "ratings.item.value"), ("V3CarFields", "ratings.item.value")], "CarRatingValue"),
            (&[("Prices", "item"), ("PricesUpdate", "item")], "Price"),
            (
                &[("NewPrices", "item.amount"), ("AdPriceAnswer", "item.amount"), ("Prices", "item.amount")],
                "PriceAmount",
            ),
            (&[("MeasureKm", "value"), ("MeasureHpOrKw", "value"), ("MeasureKmUpdate", "value")], "MeasureValue"),
            (&[("AdPage", "count"), ("LogPage", "count"), ("WebhookPage", "count")], "PageCount"),
            (&[("Event", "code"), ("LogEntry", "code")], "EventOrLogEntryCode"),
            (&[("V3OnlyCreate", "category_id"), ("V3OnlyValidate", "category_id")], "V3OnlyCategoryId"),
        ] {
            assert_eq!(name(places).as_deref(), Some(expected));
        }
        assert_eq!(
            name(&[("CarFields", "physics.number_of_seats"), ("BusFields", "condition.number_of_owners")]),
            None
        );
    }

    #[test]
    fn no_name_is_given_twice_or_with_a_number() {
        let of_unregistered = [("BoatFields", "vin"), ("BusFields", "vin"), ("TruckFields", "vin")];
        assert_eq!(named(&of_unregistered, &["VehicleVin"]).unwrap(), "UnregisteredVehicleVin");
        let taken = ["VehicleVin", "UnregisteredVehicleVin"];
        assert_eq!(named(&of_unregistered, &taken).unwrap(), "BoatFieldsVin");
        let nested = [("CarFields", "physics.length"), ("CarFields", "cargo.length")];
        assert_eq!(named(&nested, &["CarLength"]).unwrap(), "CarPhysicsLength");
    }
}
