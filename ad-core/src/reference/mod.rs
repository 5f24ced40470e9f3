//! The field reference, written from the tables: one page of Markdown for all types (`docs/categories.md`), and the rows
//! of a single type for whoever shows them in another way. It says what the tables say and has no rule of its own.

mod page;
mod rows;

pub use page::markdown;
pub use rows::{Row, rows};
