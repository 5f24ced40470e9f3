//! All ports in memory, for embedding the service in another program and for tests. Nothing is stored permanently or sent over
//! the network, and tests can inspect everything and inject failures.
//!
//! | Type | Implements |
//! |---|---|
//! | [`MemoryStore`] | [`ports::Store`](crate::ports::Store): ads, logs, the queue with its leases; [`ports::PhotoStore`](crate::ports::PhotoStore), [`ports::PlanStore`](crate::ports::PlanStore), [`ports::AccountStore`](crate::ports::AccountStore), [`ports::SlotStore`](crate::ports::SlotStore) |
//! | [`MemoryMarketplace`] | [`ports::Marketplace`](crate::ports::Marketplace): listings in order, idempotent calls, injected failures |
//! | [`MemoryImages`] | [`ports::ImageFetcher`](crate::ports::ImageFetcher): addresses with given answers |
//! | [`MemoryMedia`] | [`ports::MediaStore`](crate::ports::MediaStore): images by checksum |
//! | [`MemoryDirectory`] | [`ports::DealerDirectory`](crate::ports::DealerDirectory): dealers and groups |
//! | [`ManualClock`], [`CountingIds`] | [`ports::Clock`](crate::ports::Clock), [`ports::Ids`](crate::ports::Ids): the same in every run |
//! | [`Kit`] | all of them, connected to a [`Service`](crate::service::Service) and a [`Pipeline`](crate::pipeline::Pipeline) |
//!
//! From a payload to a published ad:
//!
//! ```
//! use std::sync::Arc;
//! use ad_core::{
//!     categories, memory::{Kit, ManualClock, one_pixel}, model::Dealer, ports::Ids, service::{Access, TaggedAd},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kit = Kit::new(Arc::new(ManualClock::default()), [Dealer::named("north-cars")]);
//! kit.images.put("https://cdn.example/1.png", one_pixel(1));
//!
//! let access = Access::Dealer("north-cars".to_owned());
//! let car = categories::by_vehicle_type("car").ok_or("cars are a category")?;
//! let payload = serde_json::from_str(
//!     r#"{"source_id": "c1", "category_id": 1020, "image_urls": ["https://cdn.example/1.png"],
//!         "category_fields": {"registration_number": "abc 123", "brand": "volvo", "model_year": 2022}}"#,
//! )?;
//! let accepted = kit.service.create(&access, kit.ids.next(), car, payload).await?;
//! assert_eq!(accepted.ad.content.title(), Some("Volvo 2022"));
//! assert_eq!(accepted.ad.marketplace_ad_id, None);
//!
//! kit.pipeline.run_due().await?;
//!
//! let (TaggedAd { ad, .. }, log) = kit.service.read(&access, "c1".into()).await?;
//! assert_eq!(ad.marketplace_ad_id.as_deref(), Some("primary-1"));
//! assert_eq!(ad.offer_id.as_deref(), Some("secondary-1"));
//! assert!(ad.image_refs[0].cdn_url.starts_with("memory:/media/"));
//! assert_eq!(log.last().map(|entry| (entry.action.name(), entry.state.name())), Some(("publish", "done")));
//! # Ok(())
//! # }
//! ```

mod accounts;
mod clock;
mod directory;
mod kit;
mod marketplace;
mod media;
mod plans;
mod promotions;
mod slots;
mod store;

pub use clock::{CountingIds, ManualClock};
pub use directory::MemoryDirectory;
pub use kit::Kit;
pub use marketplace::{Call, MemoryListing, MemoryMarketplace, Operation};
pub use media::{MemoryImages, MemoryMedia, one_pixel};
pub use store::MemoryStore;
