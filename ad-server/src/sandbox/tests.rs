//! The sample images over HTTP.

use ad_core::model::Timestamp;
use futures_util::future::join_all;

use ad_core::ports::{Clock, Fetched, ImageFetcher, ImageRequest};
use ad_server_http::sandbox::images::host;
use ad_server_outside::media::{FetchOptions, HttpFetcher};

use super::*;
use crate::demo::stock::{Expected, stock};

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_picture_of_the_stock_is_served_and_one_is_broken() {
    let host = Loopback::start(host()).await.unwrap();
    let options = FetchOptions { allow_private: true, ..FetchOptions::default() };
    let fetcher = HttpFetcher::new(options, Arc::new(Stopped)).unwrap();
    let stock = stock(&host.address);
    let urls = stock.iter().flat_map(|ad| {
        ad.payload["image_urls"].as_array().into_iter().flatten().map(|url| url.as_str().unwrap_or_default())
    });
    let fetch = async |url: &str| {
        let request = ImageRequest { url, dealer_code: "north-cars", known: None };
        fetcher.fetch(request).await.map(|fetched| match fetched {
            Fetched::Image(image, _) => image,
            Fetched::Unchanged => panic!("nothing was known of {url}"),
        })
    };
    let answers = join_all(urls.map(async |url| (url, fetch(url).await))).await;

    let broken: Vec<_> = answers.iter().filter(|(_, image)| image.is_err()).collect();
    let [(url, Err(error))] = broken[..] else { panic!("{broken:?}") };
    assert!(url.ends_with("/2-truncated.jpg"), "{url}");
    assert_eq!(error.to_string(), "a damaged image: it stops before its end");
    assert_eq!(stock.iter().filter(|ad| ad.expects == Expected::PublishedWithoutOneImage).count(), 1);

    let mut checksums: Vec<_> =
        answers.iter().filter_map(|(_, image)| Some(image.as_ref().ok()?.checksum.to_string())).collect();
    checksums.sort();
    checksums.dedup();
    assert_eq!(checksums.len(), answers.len() - 1, "every picture is its own");
    for (url, image) in &answers {
        if let Ok(image) = image {
            assert!(url.ends_with(image.format.extension()), "{url}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_come_from_this_process_under_each_address_of_the_service_and_nothing_else_does() {
    let (host, slow) = (
        Loopback::start(host()).await.unwrap(),
        Loopback::start(ad_server_http::sandbox::images::host()).await.unwrap(),
    );
    let own = vec!["https://sandbox.example/ads/sandbox/images".to_owned()];
    let elsewhere = HttpFetcher::new(FetchOptions::default(), Arc::new(Stopped)).unwrap();
    let hosts = [host.address.clone(), slow.address.clone()];
    let fetcher = SampleFetcher::new(own, hosts, elsewhere, Arc::new(Stopped)).unwrap();
    for (url, error) in [
        ("https://sandbox.example/ads/sandbox/images/1.jpg", None),
        ("https://sandbox.example/ads/sandbox/images/cb-3006/4.png", None),
        ("https://sandbox.example/ads/sandbox/images/missing.jpg", Some("the host answered 404 Not Found")),
        ("https://sandbox.example/ads/sandbox/images/5.jpg", Some("the host answered 404 Not Found")),
        // Dots lead nowhere but to a sample.
        ("https://sandbox.example/ads/sandbox/images/../../1.jpg", None),
        ("https://sandbox.example/ads/sandbox/images/slow.jpg", Some("the host sent nothing for 1 s")),
        ("https://sandbox.example/ads/sandbox/images/truncated.jpg", Some("a damaged image: it stops before its end")),
        ("https://sandbox.example/ads/sandbox/images/not-an-image.jpg", Some("neither JPEG nor PNG, but an HTML page")),
        ("http://127.0.0.1:1/sandbox/images/1.jpg", Some("only https addresses are fetched")),
        ("https://127.0.0.1:1/sandbox/images/1.jpg", Some("the address resolves to a private network")),
    ] {
        let answer = fetcher.fetch(ImageRequest { url, dealer_code: "north-cars", known: None }).await;
        assert_eq!(answer.err().map(|error| error.to_string()).as_deref(), error, "{url}");
    }
}
