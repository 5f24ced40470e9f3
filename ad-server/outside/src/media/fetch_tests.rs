//! The fetcher against a real host on the loopback interface.

use std::{io, net::SocketAddr, sync::Mutex};

use ad_core::{
    model::{ImageFlaw, Timestamp},
    ports::Format,
};
use futures_util::{StreamExt, stream};
use image::ImageFormat;
use poem::{
    Body, EndpointExt, Response as Answer, Route, Server,
    endpoint::make_sync,
    handler,
    http::StatusCode as Status,
    listener::{Acceptor, Listener, TcpListener},
    web::{Data, Path},
};

use super::*;

/// 2026-01-15T10:00:00Z, a Thursday.
const NOW: Timestamp = Timestamp::from_millis(1_768_471_200_000);

struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        NOW
    }
}

/// A picture of noise, so that it has some length.
fn picture(format: ImageFormat) -> Vec<u8> {
    let low = |number: u32| number.to_le_bytes()[0];
    let noise = image::RgbImage::from_fn(40, 30, |x, y| image::Rgb([low(x * y), low(x * 31), low(y * 57)]));
    let mut bytes = io::Cursor::new(Vec::new());
    noise.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// The ports of the clients that connected.
type Peers = Arc<Mutex<Vec<SocketAddr>>>;

struct Host {
    base: String,
    peers: Peers,
    server: tokio::task::JoinHandle<io::Result<()>>,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn jpeg(media_type: &str) -> Answer {
    Answer::builder().content_type(media_type).body(picture(ImageFormat::Jpeg))
}

fn status(status: Status, retry_after: Option<&str>) -> Answer {
    let mut answer = Answer::builder().status(status).header("location", "/loop");
    if let Some(pause) = retry_after {
        answer = answer.header("retry-after", pause);
    }
    answer.finish()
}

/// A body of chunks that ends as `then` does.
fn chunks(then: impl futures_util::Stream<Item = io::Result<Vec<u8>>> + Send + 'static) -> Body {
    Body::from_bytes_stream(stream::iter([Ok(picture(ImageFormat::Jpeg))]).chain(then))
}

#[handler]
fn hop(Path(left): Path<u32>) -> Answer {
    let next = if left == 1 { "/good.jpg".to_owned() } else { format!("/hops/{}", left - 1) };
    Answer::builder().status(Status::FOUND).header("location", next).finish()
}

#[handler]
fn good(Data(peers): Data<&Peers>, peer: &poem::web::RemoteAddr) -> Answer {
    peers.lock().unwrap().extend(peer.as_socket_addr());
    jpeg("image/jpeg")
}

#[handler]
async fn silent() -> Answer {
    std::future::pending().await
}

/// A picture of which the host says the version, and that it answers no more than that to whoever knows it.
#[handler]
fn versioned(request: &poem::Request) -> Answer {
    let of = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let answer = Answer::builder().header("etag", "\"v1\"").header("last-modified", MODIFIED);
    if of("if-none-match") == Some("\"v1\"") && of("if-modified-since") == Some(MODIFIED) {
        return answer.status(Status::NOT_MODIFIED).finish();
    }
    answer.content_type("image/jpeg").body(picture(ImageFormat::Jpeg))
}

/// Sends a part of a picture now and then, less of it than is asked for.
#[handler]
fn dripping() -> Answer {
    let drop = |()| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Some((Ok(vec![0]), ()))
    };
    Answer::builder().header("content-length", 9000).body(chunks(stream::unfold((), drop)))
}

const MODIFIED: &str = "Thu, 15 Jan 2026 09:00:00 GMT";

impl Host {
    async fn start() -> Self {
        Self::start_at("127.0.0.1").await
    }

    async fn start_at(address: &str) -> Self {
        let acceptor = TcpListener::bind(format!("{address}:0")).into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let peers = Peers::default();
        let of_length = |length: u32| Answer::builder().header("content-length", length);
        let to = |address: &'static str| {
            make_sync(move |_| Answer::builder().status(Status::FOUND).header("location", address).finish())
        };
        let app = Route::new()
            .at("/good.jpg", good)
            .at("/good.png", make_sync(|_| Answer::builder().content_type("image/png").body(picture(ImageFormat::Png))))
            .at("/misnamed.png", make_sync(|_| jpeg("text/plain")))
            .at("/page.jpg", make_sync(|_| Answer::builder().content_type("image/jpeg").body("<html>gone</html>")))
            .at(
                "/half.jpg",
                make_sync(|_| {
                    let whole = picture(ImageFormat::Jpeg);
                    Answer::builder().content_type("image/jpeg").body(whole[..whole.len() / 2].to_vec())
                }),
            )
            .at(
                "/announced.jpg",
                make_sync(move |_| {
                    of_length(1_000_000).body(Body::from_bytes_stream(stream::pending::<io::Result<Bytes>>()))
                }),
            )
            .at("/endless.jpg", make_sync(|_| Answer::from(chunks(stream::repeat_with(|| Ok(vec![0; 1000]))))))
            .at("/torn.jpg", make_sync(move |_| of_length(9000).body(chunks(stream::empty()))))
            .at("/stalled.jpg", make_sync(|_| Answer::from(chunks(stream::pending()))))
            .at("/silent.jpg", silent)
            .at("/versioned.jpg", versioned)
            .at("/moved.jpg", to("/versioned.jpg"))
            .at("/dripping.jpg", dripping)
            .at("/busy", make_sync(|_| status(Status::TOO_MANY_REQUESTS, Some("7"))))
            .at("/until", make_sync(|_| status(Status::SERVICE_UNAVAILABLE, Some("Thu, 15 Jan 2026 10:00:30 GMT"))))
            .at("/down", make_sync(|_| status(Status::INTERNAL_SERVER_ERROR, None)))
            .at("/empty", make_sync(|_| status(Status::NO_CONTENT, None)))
            .at("/gone", make_sync(|_| status(Status::GONE, Some("7"))))
            .at("/loop", to("/loop"))
            .at("/metadata", to("http://169.254.169.254/latest/meta-data/"))
            .at("/elsewhere", to("ftp://images.example/1.jpg"))
            .at("/hops/:left", hop)
            .data(Arc::clone(&peers));
        Self { base, peers, server: tokio::spawn(Server::new_with_acceptor(acceptor).run(app)) }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

/// Limits that a test need not wait for.
fn development() -> FetchOptions {
    FetchOptions { allow_private: true, max_bytes: 10_000, ..FetchOptions::default() }
}

fn fetcher(options: FetchOptions) -> HttpFetcher {
    HttpFetcher::new(options, Arc::new(StoppedClock)).unwrap()
}

impl HttpFetcher {
    /// An image for a dealer who has none of it.
    async fn image(&self, url: &str) -> Result<Image, ImageError> {
        self.image_for("north-cars", url).await
    }

    async fn image_for(&self, dealer_code: &str, url: &str) -> Result<Image, ImageError> {
        match self.fetch(ImageRequest { url, dealer_code, known: None }).await? {
            Fetched::Image(image, _) => Ok(image),
            Fetched::Unchanged => panic!("nothing was known"),
        }
    }
}

fn unusable(flaw: ImageFlaw, reason: &str) -> ImageError {
    ImageError::Unusable(flaw, reason.to_owned())
}

fn passing(reason: &str, pause: Option<u64>) -> ImageError {
    ImageError::Transient { reason: reason.to_owned(), retry_after: pause.map(Duration::from_secs) }
}

#[tokio::test]
async fn bytes_decide_what_an_image_is_and_connections_are_used_again() {
    let host = Host::start().await;
    let fetcher = fetcher(development());
    for (path, format) in [
        ("/good.jpg", Format::Jpeg),
        ("/good.png", Format::Png),
        ("/misnamed.png", Format::Jpeg),
        ("/hops/5", Format::Jpeg),
    ] {
        let image = fetcher.image(&host.url(path)).await.unwrap();
        assert_eq!(image.format, format, "{path}");
        let kind = if format == Format::Jpeg { ImageFormat::Jpeg } else { ImageFormat::Png };
        assert_eq!(image.bytes, picture(kind), "{path}");
    }
    let peers = host.peers.lock().unwrap();
    assert_eq!(peers.len(), 2);
    assert_eq!(peers[0], peers[1]);
}

#[tokio::test]
async fn each_failure_says_what_happened_and_whether_to_try_again() {
    let host = Host::start().await;
    let fetcher = fetcher(development());
    for (path, expected) in [
        ("/page.jpg", unusable(ImageFlaw::NotAPhoto, "neither JPEG nor PNG, but an HTML page")),
        ("/half.jpg", unusable(ImageFlaw::Damaged, "a damaged image: it stops before its end")),
        ("/announced.jpg", unusable(ImageFlaw::TooLarge, "larger than 10000 bytes")),
        ("/endless.jpg", unusable(ImageFlaw::TooLarge, "larger than 10000 bytes")),
        ("/torn.jpg", passing("the connection broke off before the end of the file", None)),
        ("/nowhere.jpg", unusable(ImageFlaw::Missing, "the host answered 404 Not Found")),
        ("/gone", unusable(ImageFlaw::Missing, "the host answered 410 Gone")),
        ("/empty", unusable(ImageFlaw::Refused, "the host answered 204 No Content")),
        ("/busy", passing("the host answered 429 Too Many Requests", Some(7))),
        ("/until", passing("the host answered 503 Service Unavailable", Some(30))),
        ("/down", passing("the host answered 500 Internal Server Error", None)),
        ("/loop", unusable(ImageFlaw::Redirect, "more than 5 redirects")),
        ("/hops/6", unusable(ImageFlaw::Redirect, "more than 5 redirects")),
        ("/metadata", unusable(ImageFlaw::Address, "the address resolves to a private network")),
        ("/elsewhere", unusable(ImageFlaw::Address, "only https addresses are fetched")),
    ] {
        assert_eq!(fetcher.image(&host.url(path)).await.err(), Some(expected), "{path}");
    }
}

#[tokio::test]
async fn a_slow_host_is_given_up() {
    let host = Host::start().await;
    let short = Duration::from_millis(200);
    for path in ["/silent.jpg", "/stalled.jpg"] {
        let of_idle = fetcher(FetchOptions { idle: short, ..development() });
        let error = of_idle.image(&host.url(path)).await.unwrap_err();
        assert_eq!(error, passing("the host sent nothing for 200 ms", None), "{path}");
        let of_total = fetcher(FetchOptions { total: short, ..development() });
        let error = of_total.image(&host.url(path)).await.unwrap_err();
        assert_eq!(error, passing("timed out after 200 ms", None), "{path}");
    }
}

#[tokio::test]
async fn a_silent_host_is_not_asked_for_more_and_takes_nothing_from_others() {
    let (mute, other_host) = (Host::start().await, Host::start_at("127.0.0.2").await);
    // One place at each host, and memory for two of the largest images.
    let fetcher = fetcher(FetchOptions { idle: Duration::from_secs(2), per_host: 1, memory: 20_000, ..development() });
    let (url, other) = (mute.url("/stalled.jpg"), mute.url("/good.jpg"));
    let (stalled, waiting, first, second) = tokio::join!(
        fetcher.image(&url),
        fetcher.image(&other),
        async { fetcher.image_for("south-cars", &other_host.url("/good.jpg")).await },
        async { fetcher.image_for("south-cars", &other_host.url("/good.png")).await },
    );
    assert_eq!(stalled, Err(passing("the host sent nothing for 2 s", None)));
    let Err(ImageError::NotAsked { reason, retry_after }) = waiting else { panic!("{waiting:?}") };
    assert_eq!(reason, "the host sent nothing for 2 s");
    assert!(retry_after > Duration::ZERO && retry_after <= crate::media::hosts::PAUSE);
    assert!(mute.peers.lock().unwrap().is_empty(), "the other image was not asked for");
    assert_eq!((first.unwrap().format, second.unwrap().format), (Format::Jpeg, Format::Png));
}

#[tokio::test]
async fn many_images_come_through_little_memory() {
    let host = Host::start().await;
    let fetcher = fetcher(FetchOptions { memory: 1, ..development() });
    let url = host.url("/good.jpg");
    let used = async |_| fetcher.image(&url).await.map(|image| image.format);
    let formats = futures_util::future::join_all((0..50).map(used)).await;
    assert_eq!(formats, vec![Ok(Format::Jpeg); 50]);
}

#[tokio::test]
async fn a_host_that_is_not_there_may_come_back_and_one_without_tls_may_not() {
    let host = Host::start().await;
    let fetcher = fetcher(development());
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = fetcher.image(&format!("http://{free}/1.jpg")).await.unwrap_err();
    assert_eq!(error, passing("the host refuses connections", None));
    let error = fetcher.image("http://nowhere.invalid/1.jpg").await.unwrap_err();
    assert_eq!(error, passing("the name of the host cannot be resolved", None));
    let error = fetcher.image(&host.url("/good.jpg").replace("http:", "https:")).await.unwrap_err();
    assert_eq!(error, unusable(ImageFlaw::Certificate, "no secure connection: the host has no valid certificate"));
}

#[tokio::test]
async fn private_addresses_are_refused_before_anything_is_sent() {
    let host = Host::start().await;
    let fetcher = fetcher(FetchOptions::default());
    let https = host.url("/good.jpg").replace("http:", "https:");
    for (url, expected) in [
        (host.url("/good.jpg"), "only https addresses are fetched"),
        (https.clone(), "the address resolves to a private network"),
        (https.replace("127.0.0.1", "localhost"), "the address resolves to a private network"),
        (https.replace("127.0.0.1", "[::ffff:7f00:1]"), "the address resolves to a private network"),
    ] {
        assert_eq!(fetcher.image(&url).await.unwrap_err(), unusable(ImageFlaw::Address, expected), "{url}");
    }
    assert!(host.peers.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_version_that_is_known_is_asked_for_conditionally() {
    let host = Host::start().await;
    let fetcher = fetcher(development());
    let fetch = async |path: &str, known: Option<&Validators>| {
        let url = host.url(path);
        fetcher.fetch(ImageRequest { url: &url, dealer_code: "north-cars", known }).await.unwrap()
    };
    let Fetched::Image(image, validators) = fetch("/versioned.jpg", None).await else { panic!("nothing was known") };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(validators, Validators { etag: text("\"v1\""), last_modified: text(MODIFIED) });
    assert_eq!(fetch("/versioned.jpg", Some(&validators)).await, Fetched::Unchanged);
    let older = Validators { etag: text("\"v0\""), ..validators.clone() };
    assert_eq!(fetch("/versioned.jpg", Some(&older)).await, Fetched::Image(image.clone(), validators.clone()));
    // What a redirect leads to may be another file with the same validators.
    assert_eq!(fetch("/moved.jpg", Some(&validators)).await, Fetched::Image(image, Validators::default()));
}

#[tokio::test]
async fn a_host_that_sends_less_than_the_least_rate_is_given_up() {
    let host = Host::start().await;
    let behind = Duration::from_millis(200);
    let fetcher = fetcher(FetchOptions { behind, ..development() });
    let begun = Instant::now();
    let error = fetcher.image(&host.url("/dripping.jpg")).await.unwrap_err();
    assert_eq!(error, passing("the host sent less than 16 KiB/s", None));
    assert!(begun.elapsed() < 10 * behind, "{:?}", begun.elapsed());
}
