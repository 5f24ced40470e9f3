//! What other systems call the fields, parameters, units and values of an ad, in English, Swedish and German (decision 4). Hints
//! of the API, the command lines and the mappings of stock lists read the same tables, which are data files.
//!
//! [`names`] has the names of fields, parameters and units; [`values`] maps terms to allowed values; [`fold`] compares texts.

pub mod fold;
pub mod names;
pub mod values;
