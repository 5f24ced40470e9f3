//! Conversions from V3 to V4 on a terminal.

use ad_bulk::conversion::ConversionState;
use serde_json::Value;

use super::{Cell, Column, Tone, ad_table, plain, tally};

/// What people see of each ad.
pub const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id"),
    Column::new("CATEGORY", "category_id").shown(ad_table::vehicle_type),
    Column::new("WAY", "way").shown(state),
    Column::new("TO", "vehicle_types"),
    Column::new("REQUEST", "request_id").for_programs(),
    Column::new("MISSING", "needs").wrapped().shown(needs),
];

/// The fields of each ad, as programs read them.
pub const FIELDS: &[&str] =
    &["source_id", "dealer_code", "category_id", "way", "vehicle_types", "needs", "left_out", "request_id"];

/// What people see of the data that V4 has no field for.
pub const LEFT_OUT: Column = Column::new("LEFT OUT", "left_out").wrapped();

fn state(state: &Value) -> Cell {
    let text = plain(state).replace('_', " ");
    let tone = match text.as_str() {
        "converts" | "ready" | "accepted" => Tone::Good,
        "stays" => Tone::Faint,
        "rejected" | "failed" => Tone::Bad,
        _ => Tone::Warning,
    };
    Cell::toned(text, tone)
}

fn needs(needs: &Value) -> Cell {
    let text = |need: &Value| {
        let messages = need["messages"].as_array().into_iter().flatten().map(plain).collect::<Vec<_>>().join(" ");
        match plain(&need["field"]).as_str() {
            "" => messages,
            field => format!("{field}: {messages}"),
        }
    };
    needs.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join("; ").into()
}

/// How many ads are how far.
#[derive(Debug, Default)]
pub struct ConversionCounts([u64; 8]);

impl ConversionCounts {
    /// Counts one ad in this state.
    pub fn add(&mut self, state: ConversionState) {
        self.0[state as usize] += 1;
    }

    /// How many ads are in one of these states.
    pub fn of(&self, states: &[ConversionState]) -> u64 {
        states.iter().map(|state| self.0[*state as usize]).sum()
    }

    /// `2 accepted, 1 in need of data`; `None` without any.
    pub fn text(&self, labels: &[(&[ConversionState], &str)]) -> Option<String> {
        Some(tally(labels.iter().map(|(states, label)| (self.of(states), *label)))).filter(|text| !text.is_empty())
    }
}
