#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (url, token) = (std::env::var("AD_URL")?, std::env::var("AD_TOKEN")?);
    let response = reqwest::Client::new()
        .get(format!("{url}/v4/car/car-1001"))
        .header("X-Auth-Token", token)
        .send()
        .await?;
    println!("{} {}", response.status(), response.text().await?);
    Ok(())
}
