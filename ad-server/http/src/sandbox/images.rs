//! Sample images, good ones and failing ones, served at [`PATH`] and fetched from there without the network between.

use std::{path::Path, sync::Arc, time::Duration};

use ad_core::ports::{Clock, Fetched, ImageError, ImageFetcher, ImageRequest};
use async_trait::async_trait;
use poem::{Endpoint, EndpointExt, IntoEndpoint, Request, Response, Route, endpoint::make, get, http::StatusCode};
use tokio::time::sleep;

use super::failures::{MISSING, NOT_AN_IMAGE, SLOW, TRUNCATED};
use ad_server_outside::media::{ClientError, FetchOptions, HttpFetcher};

pub const PATH: &str = "/sandbox/images";

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
pub fn host() -> impl Endpoint<Output = Response> {
    Route::new().at("/*name", serve()).map_to_response()
}

/// Serves the samples at a path with the parameter `name`.
pub fn serve() -> impl IntoEndpoint<Endpoint = impl Endpoint<Output = Response> + 'static> {
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
pub struct SampleFetcher {
    /// What the addresses of samples begin with.
    own: Vec<String>,
    host: String,
    slow_host: String,
    samples: HttpFetcher,
    elsewhere: HttpFetcher,
}

ad_server_base::debug_by_name!(SampleFetcher);

impl SampleFetcher {
    pub fn new(
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
