//! From the nightly bulk file to the API: a dealer's legacy stock file becomes ads, once.
//!
//! ```text
//! file ─▶ readers ─▶ rows ─▶ mapping ─▶ payloads ─▶ check ─▶ submit ─▶ the service
//!                                          │          │        │
//!                                          └──────────┴────────┴─▶ report
//! ```
//!
//! | Module | What it is for |
//! |---|---|
//! | [`readers`] | CSV, XML, JSON, NDJSON, fixed-width files and spreadsheets, plain or compressed, in any usual encoding, as [rows](readers::Row) of texts |
//! | [`mapping`] | maps columns to fields of an ad by a TOML file, which is validated against ad-core's tables |
//! | [`mod@inspect`] | detects the columns of an unknown file, and drafts a mapping |
//! | [`finding`] | findings about a row |
//! | [`check`] | maps and validates all rows |
//! | [`report`] | the results as JSON, side by side, and as a page to forward |
//! | `submit` (feature `cli`) | creates one ad per valid row |
//! | `v3` (feature `cli`) | ads of V3 that must be migrated, and what they lack |
//! | `cli` (feature `cli`, on by default) | the binary `ad-migrate` and its commands |
//!
//! A file can be checked by any program:
//!
//! ```
//! use ad_core::rulebook::Rulebook;
//! use ad_migrate::{
//!     mapping::Mapping,
//!     check::{self, Payloads, Sink, Verdict},
//!     readers::Reader,
//! };
//!
//! /// Keeps the findings of each row.
//! struct Texts(Vec<String>);
//!
//! impl Sink for Texts {
//!     fn verdict(&mut self, verdict: Verdict) -> std::io::Result<()> {
//!         let reasons: Vec<_> = verdict.findings.iter().map(|finding| finding.reason.as_str()).collect();
//!         self.0.push(format!("row {}: {}", verdict.row, reasons.join(", ")));
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("stock.csv");
//! std::fs::write(&file, "Nr;Regnr;Märke;År\n1;ABC 123;Volvo;2019\n2;ABC124;Wolvo;2020\n")?;
//! let rulebook = Rulebook::default();
//! let mapping = Mapping::parse(
//!     r#"
//!     vehicle.type = "car"
//!     [fields]
//!     source_id = "Nr"
//!     category_fields.registration_number = "Regnr"
//!     category_fields.brand = "Märke"
//!     category_fields.model_year = "År"
//!     "#,
//!     &rulebook.catalogue,
//! )?;
//! let reader = Reader::open(&file, mapping.reading())?;
//! let mut texts = Texts(Vec::new());
//! let now = "2026-11-22T10:00:00Z".parse()?;
//! let totals = check::run(reader, &mapping, &rulebook, Payloads::None, now, &mut texts)?;
//! assert_eq!((totals.rows, totals.valid), (2, 1));
//! assert!(texts.0[1].starts_with("row 2: unknown brand"), "{}", texts.0[1]);
//! # Ok(())
//! # }
//! ```
//!
//! [`ad_core`] has the rules about ads, and `ad-cli` the client.
#![warn(missing_docs)]

pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod finding;
pub mod inspect;
pub mod mapping;
pub mod readers;
pub mod report;
#[cfg(feature = "cli")]
mod submit;
#[cfg(feature = "cli")]
mod v3;
