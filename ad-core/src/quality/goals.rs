//! The goals. A goal applies to the categories that have its field.

use std::sync::LazyLock;

use super::{GoalStatus, Measured};
use crate::categories::{self, Category};

#[derive(Debug)]
pub(super) struct Goal {
    pub(super) code: &'static str,
    /// The field as the API names it.
    pub(super) field: &'static str,
    pub(super) weight: u8,
    pub(super) text: &'static str,
    pub(super) how: &'static str,
    /// `text` and `how` in Swedish.
    swedish: (&'static str, &'static str),
    met_if: GoalCondition,
}

/// When a goal is met.
#[derive(Debug)]
enum GoalCondition {
    /// The ad has at least so many images.
    Images(usize),
    /// The description has at least so many characters.
    Body(usize),
    /// The ad has a price with an amount.
    Price,
    /// The field has a value.
    Given,
    /// The category field has a value, or a list at least one item.
    Field,
    /// As `Field`, for vehicles that run on electricity alone.
    OfElectric,
    /// As `Field`, for new vehicles with an engine.
    OfNewWithEngine,
}

#[expect(clippy::too_many_arguments, reason = "the columns of the table")]
const fn goal(
    code: &'static str,
    field: &'static str,
    weight: u8,
    met_if: GoalCondition,
    text: &'static str,
    how: &'static str,
    swedish_text: &'static str,
    swedish_how: &'static str,
) -> Goal {
    Goal { code, field, weight, text, how, swedish: (swedish_text, swedish_how), met_if }
}

#[rustfmt::skip]
pub(super) const GOALS: &[Goal] = &[
    goal("photos", "image_urls", 20, GoalCondition::Images(1), "At least one photo", "Add photos of the vehicle.",
        "Minst ett foto", "Lägg till foton av fordonet."),
    goal("many_photos", "image_urls", 15, GoalCondition::Images(10), "At least 10 photos", "Show all sides, the interior, the instruments, the wheels, and each damage.",
        "Minst 10 foton", "Visa alla sidor, interiören, instrumenten, hjulen och varje skada."),
    goal("price", "price", 15, GoalCondition::Price, "A price", "Give a price, or what it costs each month.",
        "Ett pris", "Ange ett pris, eller vad det kostar varje månad."),
    goal("description", "body", 10, GoalCondition::Body(200), "A description of at least 200 characters", "Describe equipment, condition, history and what is included, in whole sentences.",
        "En annonstext på minst 200 tecken", "Beskriv utrustning, skick, historik och vad som ingår, i hela meningar."),
    goal("mileage", "category_fields.condition.mileage", 8, GoalCondition::Field, "The mileage", "Give the mileage with its unit, mil or km.",
        "Mätarställningen", "Ange mätarställningen med enhet, mil eller km."),
    goal("engine_runtime", "category_fields.condition.engine_runtime", 8, GoalCondition::Field, "The working hours", "Give the reading of the hour meter.",
        "Drifttiden", "Ange timmätarens värde."),
    goal("brand", "category_fields.brand", 5, GoalCondition::Field, "The brand", "Choose the brand.",
        "Märket", "Ange märket; fältets uppslag visar de kända."),
    goal("model", "category_fields.model", 5, GoalCondition::Field, "The model", "Give the model.",
        "Modellen", "Ange modellen."),
    goal("model_year", "category_fields.model_year", 5, GoalCondition::Field, "The model year", "Give the model year.",
        "Årsmodellen", "Ange årsmodellen."),
    goal("range", "category_fields.powertrain.environmental.driving_range", 5, GoalCondition::OfElectric, "The range of an electric vehicle", "Give the driving range by WLTP.",
        "Ett elfordons räckvidd", "Ange räckvidden enligt WLTP."),
    goal("battery", "category_fields.powertrain.environmental.battery_capacity", 4, GoalCondition::OfElectric, "The battery of an electric vehicle", "Give the capacity of the battery in kWh.",
        "Ett elfordons batteri", "Ange batteriets kapacitet i kWh."),
    goal("consumption", "category_fields.powertrain.environmental.fuel_consumption", 4, GoalCondition::OfNewWithEngine, "The consumption of a new vehicle", "Give the fuel consumption with its standard.",
        "Ett nytt fordons förbrukning", "Ange bränsleförbrukningen med mätmetod."),
    goal("emission", "category_fields.powertrain.environmental.co2_emission", 4, GoalCondition::OfNewWithEngine, "The CO2 emission of a new vehicle", "Give the CO2 emission.",
        "Ett nytt fordons koldioxidutsläpp", "Ange koldioxidutsläppet."),
    goal("fuels", "category_fields.powertrain.fuels", 4, GoalCondition::Field, "The fuels", "Give all fuels on which the vehicle runs.",
        "Drivmedlen", "Ange alla drivmedel som fordonet går på."),
    goal("transmission", "category_fields.powertrain.transmission", 4, GoalCondition::Field, "The transmission", "Give the transmission.",
        "Växellådan", "Ange växellådan."),
    goal("equipment", "category_fields.equipments", 4, GoalCondition::Field, "The equipment", "List the equipment, one thing each.",
        "Utrustningen", "Räkna upp utrustningen, en sak i taget."),
    goal("power", "category_fields.powertrain.power", 3, GoalCondition::Field, "The power", "Give the power in hp or kW.",
        "Effekten", "Ange effekten i hp eller kW."),
    goal("body_type", "category_fields.body_type", 3, GoalCondition::Field, "The body type", "Give the body type.",
        "Karossen", "Ange karossen."),
    goal("drive_type", "category_fields.powertrain.drive_type", 3, GoalCondition::Field, "The driven wheels", "Give the drive type.",
        "Drivningen", "Ange drivningen."),
    goal("colour", "category_fields.color_group", 2, GoalCondition::Field, "The colour group", "Give the colour group, by which buyers filter.",
        "Färggruppen", "Ange färggruppen, som köpare filtrerar på."),
    goal("trim", "category_fields.model_type", 2, GoalCondition::Field, "The trim or variant", "Give the trim or variant, which becomes part of the title.",
        "Modellvarianten", "Ange modellvarianten, som blir en del av rubriken."),
    goal("owners", "category_fields.condition.number_of_owners", 2, GoalCondition::Field, "The number of owners", "Give the number of owners.",
        "Antalet ägare", "Ange antalet ägare."),
    goal("service_history", "category_fields.service_history", 2, GoalCondition::Field, "The service history", "Say when and where the vehicle was serviced.",
        "Servicehistoriken", "Skriv när och var fordonet har servats."),
    goal("seats", "category_fields.physics.number_of_seats", 1, GoalCondition::Field, "The number of seats", "Give the number of seats.",
        "Antalet säten", "Ange antalet säten."),
    goal("video", "video_url", 1, GoalCondition::Given, "A video", "Give the address of a video.",
        "En film", "Ange en films adress."),
];

impl Goal {
    /// The path of a category field.
    pub(super) fn path(&self) -> Option<&'static str> {
        self.field.strip_prefix("category_fields.")
    }

    /// Whether it applies to some ads of a category.
    pub(super) fn is_of(&self, category: &Category) -> bool {
        match self.path() {
            None => true,
            // The fields of an open category are unknown.
            Some(_) if category.is_open() => false,
            Some(path) => category.field(path).is_some(),
        }
    }

    /// Whether a goal of the category applies to this ad.
    fn applies(&self, ad: &Measured<'_>) -> bool {
        match self.met_if {
            GoalCondition::OfElectric => ad.is_electric,
            GoalCondition::OfNewWithEngine => ad.is_new == Some(true) && !ad.is_electric,
            _ => true,
        }
    }

    fn is_met(&self, ad: &Measured<'_>) -> bool {
        match self.met_if {
            GoalCondition::Images(least) => ad.images() >= least,
            GoalCondition::Body(least) => ad.facts.body.chars().nth(least - 1).is_some(),
            GoalCondition::Price => ["list", "leasing", "monthly"].iter().any(|kind| ad.price(kind).is_some()),
            GoalCondition::Given => ad.ad.get(self.field).is_some_and(|value| !value.is_null()),
            GoalCondition::Field | GoalCondition::OfElectric | GoalCondition::OfNewWithEngine => {
                let value = self.path().and_then(|path| ad.field(path));
                value.is_some_and(|value| value.as_array().is_none_or(|items| !items.is_empty()))
            }
        }
    }

    pub(super) fn status(&self, met: bool) -> GoalStatus {
        GoalStatus {
            code: self.code.into(),
            field: self.field.into(),
            met,
            weight: self.weight,
            text: self.text.into(),
            how: self.how.into(),
        }
    }
}

/// A goal and how to meet it in Swedish, by its code.
pub fn goal_in_swedish(code: &str) -> Option<(&'static str, &'static str)> {
    GOALS.iter().find(|goal| goal.code == code).map(|goal| goal.swedish)
}

/// The goals of each category.
static OF_CATEGORIES: LazyLock<Vec<(u16, Vec<&'static Goal>)>> = LazyLock::new(|| {
    let goals = |category| GOALS.iter().filter(|goal| goal.is_of(category)).collect();
    categories::all().map(|category| (category.id, goals(category))).collect()
});

/// The goals that apply to an ad, and whether it meets them.
pub(super) fn of(ad: &Measured<'_>) -> impl Iterator<Item = (&'static Goal, bool)> {
    let of_category = OF_CATEGORIES.iter().find(|(category_id, _)| *category_id == ad.category.id);
    let goals = of_category.map_or(&[][..], |(_, goals)| goals);
    goals.iter().filter(move |goal| goal.applies(ad)).map(move |goal| (*goal, goal.is_met(ad)))
}
