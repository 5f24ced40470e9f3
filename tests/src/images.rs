//! An image host for tests: real JPEG and PNG files over HTTP, and every way in which a host can fail.

use std::{
    collections::HashMap,
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt, stream};
use poem::{
    Body, Endpoint, IntoResponse, Request, Response, Server,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use tokio::task::JoinHandle;

/// A host on a free port; it ends with the value.
#[derive(Debug)]
pub struct ImageHost {
    pub base: String,
    files: Arc<Mutex<HashMap<String, Vec<u8>>>>,
    calls: Arc<Mutex<HashMap<String, usize>>>,
    healed: Arc<AtomicBool>,
    down: Arc<AtomicBool>,
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
    /// - `/noise/<bytes>.png`: a picture of at least this size
    /// - `/lying.jpg`: a JPEG that calls itself text
    /// - `/broken.jpg`: the first half of a JPEG; `/page.jpg`: HTML that calls itself a JPEG
    /// - `/flaky/<times>/<anything>`: 503 so often, then a picture
    /// - `/busy/<times>/<anything>`: 429 with `Retry-After: 1` so often, then a picture
    /// - `/versioned/<seed>.jpg`: a picture with an `ETag`, and 304 for whoever knows it
    /// - `/faulty/<fault>/<seed>.jpg`: until it is [healed](Self::heal), a fault: `silent` (no answer), `stalled` (a part
    ///   of the picture, and then nothing), `dripping` (a byte now and then), `trickling` (14.9 MB, the last of them byte by byte),
    ///   `torn` (the connection ends early), `endless`, `inward` (a redirect to where clouds keep their secrets)
    /// - the files that are [added](Self::add)
    /// - everything else: 404
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start() -> Self {
        Self::start_at("127.0.0.1").await
    }

    /// Starts it at another address of this machine, such as `127.0.0.2`: for the service that is another host.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start_at(address: &str) -> Self {
        let acceptor = TcpListener::bind(format!("{address}:0")).into_acceptor().await.expect("a port is free");
        let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("it listens on TCP");
        let calls = Arc::new(Mutex::new(HashMap::new()));
        let healed = Arc::new(AtomicBool::new(false));
        let down = Arc::new(AtomicBool::new(false));
        let files = Arc::<Mutex<HashMap<String, Vec<u8>>>>::default();
        let pictures = Pictures {
            files: Arc::clone(&files),
            calls: Arc::clone(&calls),
            healed: Arc::clone(&healed),
            down: Arc::clone(&down),
        };
        let server = tokio::spawn(async move {
            let _ended = Server::new_with_acceptor(acceptor).run(pictures).await;
        });
        Self { base: format!("http://{address}"), files, calls, healed, down, server }
    }

    /// Serves a file of this name from now on, and returns its address.
    ///
    /// # Panics
    /// When a handler panicked.
    pub fn add(&self, name: &str, bytes: Vec<u8>) -> String {
        self.files.lock().expect("no handler panics").insert(format!("/{name}"), bytes);
        self.url(name)
    }

    /// From now on what was faulty is a picture.
    pub fn heal(&self) {
        self.healed.store(true, Ordering::SeqCst);
    }

    /// Whether it answers 500 to everything.
    pub fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    /// How often anything was asked for.
    ///
    /// # Panics
    /// When a handler panicked.
    pub fn all_calls(&self) -> usize {
        self.calls.lock().expect("no handler panics").values().sum()
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
    files: Arc<Mutex<HashMap<String, Vec<u8>>>>,
    calls: Arc<Mutex<HashMap<String, usize>>>,
    healed: Arc<AtomicBool>,
    down: Arc<AtomicBool>,
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
        if self.down.load(Ordering::SeqCst) {
            return Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response());
        }
        let added = self.files.lock().expect("no handler panics").get(&path).cloned();
        if let Some(bytes) = added {
            return Ok(Response::builder().content_type("image/jpeg").body(bytes));
        }
        if let Some(file) = path.strip_prefix("/versioned/") {
            return Ok(versioned(&request, file));
        }
        let [_, faulty, fault, file] = &path.split('/').collect::<Vec<_>>()[..] else {
            return Ok(answer(&path, times));
        };
        if *faulty != "faulty" {
            return Ok(answer(&path, times));
        }
        if self.healed.load(Ordering::SeqCst) {
            return Ok(answer(file, times));
        }
        if *fault == "silent" {
            std::future::pending::<()>().await;
        }
        Ok(wrong(fault))
    }
}

/// A picture for whoever does not have it.
fn versioned(request: &Request, file: &str) -> Response {
    let tag = format!("\"{file}\"");
    if request.header("if-none-match") == Some(&tag) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    answer(file, 1).with_header("etag", tag).into_response()
}

/// An answer that is wrong in a way.
fn wrong(fault: &str) -> Response {
    let picture = jpeg(9);
    let half = picture[..picture.len() / 2].to_vec();
    let of_length = |length: usize| Response::builder().content_type("image/jpeg").header("content-length", length);
    let begun = |then: stream::BoxStream<'static, io::Result<Vec<u8>>>| {
        Body::from_bytes_stream(stream::iter([Ok(half.clone())]).chain(then))
    };
    match fault {
        "stalled" => of_length(picture.len()).body(begun(stream::pending().boxed())),
        "dripping" => {
            let drop = |()| async {
                tokio::time::sleep(Duration::from_millis(500)).await;
                Some((Ok(vec![0]), ()))
            };
            of_length(1_000_000).body(begun(stream::unfold((), drop).boxed()))
        }
        "trickling" => {
            let drop = |()| async {
                tokio::time::sleep(Duration::from_millis(500)).await;
                Some((Ok(vec![0]), ()))
            };
            let most = stream::repeat_with(|| Ok(vec![0; 64 * 1024])).take(225);
            of_length(14_900_000).body(begun(most.chain(stream::unfold((), drop)).boxed()))
        }
        "torn" => of_length(picture.len()).body(begun(stream::iter([Err(io::ErrorKind::BrokenPipe.into())]).boxed())),
        "endless" => Response::from(begun(stream::repeat_with(|| Ok(vec![0; 64 * 1024])).boxed())),
        "inward" => {
            let inward = "http://169.254.169.254/latest/meta-data/iam/";
            Response::builder().status(StatusCode::FOUND).header("location", inward).finish()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
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
        path if path.starts_with("flaky/") || path.starts_with("busy/") => {
            let failures = path.split('/').nth(1).and_then(|times| times.parse().ok()).unwrap_or(0);
            if times > failures {
                return of_type("image/jpeg", jpeg(3));
            }
            if path.starts_with("flaky/") {
                return StatusCode::SERVICE_UNAVAILABLE.into_response();
            }
            Response::builder().status(StatusCode::TOO_MANY_REQUESTS).header("retry-after", "1").finish()
        }
        path if path.starts_with("noise/") => {
            let size = path.trim_start_matches("noise/").trim_end_matches(".png").parse().unwrap_or(0);
            of_type("image/png", noise(size))
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

/// A PNG with this much behind its end, where readers do not look.
fn noise(size: usize) -> Vec<u8> {
    let mut bytes = png(4);
    bytes.resize(bytes.len() + size, 7);
    bytes
}
