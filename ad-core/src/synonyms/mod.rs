//! What other systems call the fields, parameters, units and values of an ad, in Swedish, English, German, Norwegian, Danish, Finnish,
//! Dutch and French (decision 4). Hints
//! of the API, the command lines and the mappings of stock lists read the same tables, which are data files.
//!
//! [`names`] has the names of fields, parameters and units; [`values`] maps terms to allowed values; [`languages`] tells languages
//! apart; [`models`] finds models as dealers write them; [`placeholders`] are texts that stand for no value; [`fold`] compares texts.

pub mod fold;
pub mod languages;
pub mod models;
pub mod names;
pub mod placeholders;
pub mod values;
