//! x

pub mod host;
pub mod images;
pub mod stock;
