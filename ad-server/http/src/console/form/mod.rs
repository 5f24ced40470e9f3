//! The form of an ad, generated from the field tables.
//!
//! | Module | Purpose |
//! |---|---|
//! | `values` | what the inputs hold, and its conversion from and to JSON |
//! | `sections` | which field is in which section |
//! | `labels` | names of fields |
//! | `inputs` | the input of each kind of value |

mod inputs;
mod labels;
mod sections;
mod values;

pub(super) use self::{
    inputs::AdForm,
    labels::label,
    values::{Difference, FormValues, REVISION},
};
