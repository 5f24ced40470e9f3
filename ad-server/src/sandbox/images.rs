//! Sample images, good ones and failing ones, served at [`PATH`] and fetched from there without the network between.

use std::{path::Path, sync::Arc, time::Duration};

use ad_core::ports::{Clock, Fetched, ImageError, ImageFetcher, ImageRequest};
use async_trait::async_trait;
use poem::{Endpoint, EndpointExt, IntoEndpoint, Request, Response, Route, endpoint::make, get, http::StatusCode};
use tokio::time::sleep;

use super::failures::{MISSING, NOT_AN_IMAGE, SLOW, TRUNCATED};
use crate::media::{ClientError, FetchOptions, HttpFetcher};

/// Path of the sample images.
pub(crate) const PATH: &str = "/sandbox/images";

/// How long the worker waits for a sample image: a fraction of the time that other hosts have, so that a test of a slow one is short.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the slow image takes.
const SLOWNESS: Duration = Duration::from_secs(20);

/// Folder of the pictures that are served without a folder too.
const SAMPLES: &str = "nc-1001";

macro_rules! pictures {
    ($($folder:literal / $($file:literal)+;)+) => {
        &[$($((concat!($folder, "/", $file), include_bytes!(concat!("pictures/", $folder, "/", $file)))),+),+]
    };
}

/// The pictures of the stock, by folder and file.
static PICTURES: &[(&str, &[u8])] = pictures! {
    "nc-1001" / "1.jpg" "2.jpg" "3.jpg" "4.jpg";
    "nc-1002" / "1.jpg" "2.jpg" "4.jpg";
    "nc-1003" / "1.jpg" "2.jpg";
    "nc-1004" / "1.jpg" "3.png";
    "nc-1005" / "1.jpg" "2.jpg" "3.jpg";
    "nc-1006" / "1.jpg" "2.jpg" "4.jpg";
    "nc-1007" / "1.jpg" "2.jpg";
    "nc-1008" / "1.jpg" "2.jpg" "3.jpg";
    "nc-1009-sommar" / "1.jpg" "4.jpg";
    "nc-1010" / "1.jpg";
    "cb-2001" / "1.jpg" "2.jpg" "3.jpg";
    "cb-2002" / "1.jpg" "2.jpg" "4.jpg";
    "cb-3001" / "1.jpg" "2.jpg" "3.jpg";
    "cb-3002" / "1.jpg" "2.jpg" "4.jpg";
    "cb-3003" / "1.jpg" "2-truncated.jpg" "4.jpg";
    "cb-3004" / "1.jpg" "3.jpg";
    "cb-3005" / "1.jpg" "2.jpg";
    "cb-3006" / "1.jpg" "4.png";
    "fault-refused-1" / "1.jpg" "3.jpg";
};

/// The image host of a sandbox.
pub(super) fn host() -> impl Endpoint<Output = Response> {
    Route::new().at("/*name", serve()).map_to_response()
}

/// Serves the samples at a path with the parameter `name`.
pub(crate) fn serve() -> impl IntoEndpoint<Endpoint = impl Endpoint<Output = Response> + 'static> {
    get(make(|request: Request| async move {
        Ok::<_, poem::Error>(sample(request.raw_path_param("name").unwrap_or_default()).await)
    }))
}

/// The answer to a request for a sample. Any name that is not one of them is missing, as [`MISSING`] is.
async fn sample(name: &str) -> Response {
    let image = |bytes: &'static [u8]| {
        let is_png = Path::new(name).extension().is_some_and(|extension| extension == "png");
        let content_type = if is_png { "image/png" } else { "image/jpeg" };
        Response::builder().content_type(content_type).body(bytes)
    };
    let picture = |name: &str| PICTURES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes);
    let first = picture("nc-1001/1.jpg").unwrap_or_default();
    match name {
        MISSING => StatusCode::NOT_FOUND.into(),
        NOT_AN_IMAGE => {
            Response::builder().content_type("text/html").body("<!doctype html><title>Not an image</title>")
        }
        TRUNCATED => image(&first[..first.len() / 2]),
        SLOW => {
            sleep(SLOWNESS).await;
            image(first)
        }
        name => picture(name)
            .or_else(|| picture(&format!("{SAMPLES}/{name}")))
            .map_or_else(|| StatusCode::NOT_FOUND.into(), image),
    }
}

/// Fetches sample images from this process, whatever the network makes of their addresses, and all others from where they are.
pub(crate) struct SampleFetcher {
    /// What the addresses of samples begin with.
    own: Vec<String>,
    host: String,
    slow_host: String,
    samples: HttpFetcher,
    elsewhere: HttpFetcher,
}

impl SampleFetcher {
    pub(super) fn new(
        own: Vec<String>,
        [host, slow_host]: [String; 2],
        elsewhere: HttpFetcher,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ClientError> {
        let options = FetchOptions { allow_private: true, idle: PATIENCE, ..FetchOptions::default() };
        Ok(Self { own, host, slow_host, samples: HttpFetcher::new(options, clock)?, elsewhere })
    }
}

#[async_trait]
impl ImageFetcher for SampleFetcher {
    async fn fetch(&self, request: ImageRequest<'_>) -> Result<Fetched, ImageError> {
        let name = self.own.iter().find_map(|own| request.url.strip_prefix(own)?.strip_prefix('/'));
        let Some(name) = name else { return self.elsewhere.fetch(request).await };
        let host = if name == SLOW { &self.slow_host } else { &self.host };
        self.samples.fetch(ImageRequest { url: &format!("{host}/{name}"), ..request }).await
    }
}

#[cfg(test)]
mod tests {
    use ad_core::model::Timestamp;
    use futures_util::future::join_all;

    use super::{super::Loopback, *};
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
        let (host, slow) = (Loopback::start(host()).await.unwrap(), Loopback::start(super::host()).await.unwrap());
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
            (
                "https://sandbox.example/ads/sandbox/images/truncated.jpg",
                Some("a damaged image: it stops before its end"),
            ),
            (
                "https://sandbox.example/ads/sandbox/images/not-an-image.jpg",
                Some("neither JPEG nor PNG, but an HTML page"),
            ),
            ("http://127.0.0.1:1/sandbox/images/1.jpg", Some("only https addresses are fetched")),
            ("https://127.0.0.1:1/sandbox/images/1.jpg", Some("the address resolves to a private network")),
        ] {
            let answer = fetcher.fetch(ImageRequest { url, dealer_code: "north-cars", known: None }).await;
            assert_eq!(answer.err().map(|error| error.to_string()).as_deref(), error, "{url}");
        }
    }
}
