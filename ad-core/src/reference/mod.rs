//! The field reference, generated from the tables: one page of Markdown for all types (`docs/categories.md`), and the rows of a
//! single type for other forms.

mod page;
mod rows;

pub use page::markdown;
pub use rows::{ReferenceRow, rows};
