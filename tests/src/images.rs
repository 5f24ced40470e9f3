//! An image host for tests: real JPEG and PNG files over HTTP, and every way in which a host can fail.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use poem::{
    Endpoint, IntoResponse, Request, Response, Server,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use tokio::task::JoinHandle;

/// A host on a free port; it ends with the value.
#[derive(Debug)]
pub struct ImageHost {
    /// Its address.
    pub base: String,
    calls: Arc<Mutex<HashMap<String, usize>>>,
    server: JoinHandle<()>,
}

impl Drop for ImageHost {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl ImageHost {
    /// Starts it. It serves
    ///
    /// - `/<seed>.jpg`, `/<seed>.png`: a picture that depends on the seed, for instance `/7.jpg`
    /// - `/lying.jpg`: a JPEG that calls itself text
    /// - `/broken.jpg`: the first half of a JPEG; `/page.jpg`: HTML that calls itself a JPEG
    /// - `/flaky/<times>/<anything>`: 503 so often, then a picture
    /// - everything else: 404
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start() -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port is free");
        let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("it listens on TCP");
        let calls = Arc::new(Mutex::new(HashMap::new()));
        let pictures = Pictures { calls: Arc::clone(&calls) };
        let server = tokio::spawn(async move {
            let _ended = Server::new_with_acceptor(acceptor).run(pictures).await;
        });
        Self { base: format!("http://{address}"), calls, server }
    }

    /// Address of a file on it.
    pub fn url(&self, file: &str) -> String {
        format!("{}/{file}", self.base)
    }

    /// How often a file was asked for.
    ///
    /// # Panics
    /// When a handler panicked.
    pub fn calls(&self, file: &str) -> usize {
        self.calls.lock().expect("no handler panics").get(&format!("/{file}")).copied().unwrap_or(0)
    }
}

struct Pictures {
    calls: Arc<Mutex<HashMap<String, usize>>>,
}

impl Endpoint for Pictures {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let path = request.uri().path().to_owned();
        let times = {
            let mut calls = self.calls.lock().expect("no handler panics");
            let times = calls.entry(path.clone()).or_default();
            *times += 1;
            *times
        };
        Ok(answer(&path, times))
    }
}

fn answer(path: &str, times: usize) -> Response {
    let of_type = |content_type: &str, bytes: Vec<u8>| Response::builder().content_type(content_type).body(bytes);
    match path.trim_start_matches('/') {
        "lying.jpg" => of_type("text/plain", jpeg(1)),
        "broken.jpg" => {
            let mut bytes = jpeg(2);
            bytes.truncate(bytes.len() / 2);
            of_type("image/jpeg", bytes)
        }
        "page.jpg" => of_type("image/jpeg", b"<html><body>Not an image</body></html>".to_vec()),
        path if path.starts_with("flaky/") => {
            let failures = path.split('/').nth(1).and_then(|times| times.parse().ok()).unwrap_or(0);
            if times <= failures {
                return StatusCode::SERVICE_UNAVAILABLE.into_response();
            }
            of_type("image/jpeg", jpeg(3))
        }
        path => match path.split_once('.').map(|(seed, kind)| (seed.parse(), kind)) {
            Some((Ok(seed), "jpg")) => of_type("image/jpeg", jpeg(seed)),
            Some((Ok(seed), "png")) => of_type("image/png", png(seed)),
            _ => StatusCode::NOT_FOUND.into_response(),
        },
    }
}

fn picture(seed: u32) -> image::RgbImage {
    let [red, green, ..] = seed.wrapping_mul(2_654_435_761).to_be_bytes();
    image::RgbImage::from_fn(32, 24, |x, y| image::Rgb([red, green, u8::try_from(x * 4 + y).unwrap_or(0)]))
}

fn encoded(seed: u32, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture(seed).write_to(&mut bytes, format).expect("a small picture can be encoded");
    bytes.into_inner()
}

/// A JPEG that depends on the seed.
fn jpeg(seed: u32) -> Vec<u8> {
    encoded(seed, image::ImageFormat::Jpeg)
}

/// A PNG that depends on the seed.
fn png(seed: u32) -> Vec<u8> {
    encoded(seed, image::ImageFormat::Png)
}
