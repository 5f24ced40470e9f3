//! Creates a car, waits until it is published, and lists what the dealer has.
//!
//! ```sh
//! AD_URL=http://127.0.0.1:8080 AD_TOKEN=… cargo run -p ad-cli --no-default-features --example publish
//! ```

use std::{error::Error, time::Duration};

use ad_cli::{AdFilter, AdQuery, Client, ErrorKind};
use ad_core::model::{Action, ActionState, AdState};
use futures_util::StreamExt;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    run(&std::env::var("AD_URL")?, &std::env::var("AD_TOKEN")?, "example-1").await
}

/// What the example does, on any service.
pub async fn run(url: &str, token: &str, source_id: &str) -> Result<(), Box<dyn Error>> {
    let client = Client::new(url, token)?;
    let cars = client.typed("car");

    // A misspelt brand: the service says so, and what was probably meant.
    let mut car = json!({
        "source_id": source_id,
        "category_id": 1020,
        "price": [{"type": "list", "amount": 189_000}],
        "category_fields": {
            "registration_number": "ABC123", "brand": "vlvo", "model": "v60", "model_year": 2019,
            "condition": {"mileage": {"value": 6200, "unit": "mil"}},
            "powertrain": {"transmission": "automatic", "fuels": ["gasoline"]},
        },
    });
    match cars.validate(&car).await {
        Err(error) => match error.kind() {
            ErrorKind::Invalid(errors) => {
                for (path, message) in errors.flatten() {
                    println!("{path}: {message}");
                }
            }
            _ => return Err(error.into()),
        },
        Ok(_) => println!("nothing is wrong"),
    }

    car["category_fields"]["brand"] = "volvo".into();
    let created = cars.create(&car).await?;
    println!("created {} with request {:?}", created.id, created.request_id);

    // The answer comes before the work is done; the log tells when it is.
    let published = loop {
        let ad = client.v4().read(source_id).await?.body;
        let log = ad.log.as_deref().unwrap_or_default();
        if log.iter().any(|entry| entry.action == Action::Publish && entry.state != ActionState::Processing) {
            break ad;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    println!("published as {:?}", published.marketplace_ad_id);

    // As many pages as there are, asked for as they are needed.
    let mut all = client.v4().all(&AdQuery::oldest_first([AdFilter::State(AdState::Created)]));
    while let Some(ad) = all.next().await {
        let ad = ad?;
        println!("{} {}", ad.source_id, ad.title.unwrap_or_default());
    }
    Ok(())
}
