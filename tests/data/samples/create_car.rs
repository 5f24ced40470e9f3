#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (url, token) = (std::env::var("AD_URL")?, std::env::var("AD_TOKEN")?);
    let payload = serde_json::json!({
      "category_fields": {
        "brand": "volvo",
        "model": "xc60",
        "model_year": 2021,
        "registration_number": "CAR21A"
      },
      "category_id": 1020,
      "image_urls": [
        "https://images.dealer.example/car-1001/1.jpg",
        "https://images.dealer.example/car-1001/2.jpg"
      ],
      "price": [
        {
          "amount": 349900,
          "currency": "SEK",
          "type": "list"
        },
        {
          "amount": 4595,
          "currency": "SEK",
          "type": "leasing"
        }
      ],
      "source_id": "car-1001"
    });
    let response = reqwest::Client::new()
        .post(format!("{url}/v4/car"))
        .header("X-Auth-Token", token)
        .body(payload.to_string())
        .send()
        .await?;
    println!("{} {}", response.status(), response.text().await?);
    Ok(())
}
