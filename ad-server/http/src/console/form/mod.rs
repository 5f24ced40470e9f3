//! The form of an ad, generated from the field tables.
//!
//! | Module | Purpose |
//! |---|---|
//! | `values` | what the inputs hold, and its conversion from and to JSON |
//! | `sections` | which field is in which section |
//! | `labels` | names of fields and values, and what helps to fill fields in |
//! | `said` | errors in the words of a seller |
//! | `inputs` | the input of each kind of value |

mod inputs;
mod labels;
mod said;
mod sections;
mod values;

pub(super) use self::{
    inputs::{AdForm, CHOICE, CONFLICT, FormError, STORED, errors_of, field_path, value_in_words},
    labels::{label, named, unit},
    said::{by_code, warned},
    values::{Difference, FormValues, REVISION},
};
