//! The service inside another program: no server, no database, the same rules. Run it with
//! `cargo run -p ad-core --example embed`.

use std::{error::Error, sync::Arc};

use ad_core::{
    categories,
    memory::{Kit, one_pixel},
    model::{Dealer, Timestamp},
    ports::{Clock, Ids},
    service::{Access, ServiceError, TaggedAd},
};

const CAR: &str = r#"{"source_id": "stock/17", "category_id": 1020, "body": "One owner, full service history.",
    "price": [{"type": "list", "amount": 349900}], "image_urls": ["https://cdn.example/front.png"],
    "category_fields": {"registration_number": "abc 12d", "brand": "volvo", "model": "xc60", "model_year": 2022,
        "condition": {"mileage": {"unit": "mil", "value": 2800}, "number_of_owners": 1}}}"#;

const WRONG_CAR: &str = r#"{"source_id": "stock/18", "category_id": 1020, "price": [{"type": "cash", "amount": 1}],
    "category_fields": {"registration_number": "DEF456", "brand": "wolvo", "mileage": 2800}}"#;

/// The library has no clock of its own; the program brings one.
struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where this program asks for the time")]
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // All ports in memory. Bring your own store or marketplace: implement its trait in `ad_core::ports`.
    let kit = Kit::new(Arc::new(SystemClock), [Dealer::named("north-cars")]);
    kit.images.put("https://cdn.example/front.png", one_pixel(1));
    let access = Access::Dealer("north-cars".to_owned());
    let car = categories::by_vehicle_type("car").ok_or("cars are a category")?;

    let refused = kit.service.create(&access, kit.ids.next(), car, serde_json::from_str(WRONG_CAR)?).await;
    if let Err(ServiceError::Invalid(errors)) = refused {
        println!("stock/18 is refused:");
        errors.flatten().iter().for_each(|(path, message)| println!("  {path}: {message}"));
    }

    kit.service.create(&access, kit.ids.next(), car, serde_json::from_str(CAR)?).await?;
    kit.pipeline.run_due().await?;

    let (TaggedAd { ad, .. }, log) = kit.service.read(&access, "stock/17".into()).await?;
    println!("{} is published as {:?}:", ad.content.title().unwrap_or_default(), ad.marketplace_ad_id);
    for entry in log {
        println!("  {} {} {}: {}", entry.created, entry.action, entry.state, entry.external_message);
    }
    Ok(())
}
