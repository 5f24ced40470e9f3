//! The adapter against a host that keeps to no contract.

use std::sync::Mutex;

use ad_core::model::Action;
use poem::{
    Request, Response, Server,
    endpoint::make,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use poem_openapi::types::Example;
use uuid::Uuid;

use super::{super::wire::ListingBody, *};
use ad_server_base::secret::TokenSource;

/// 2026-01-15T10:00:00Z, a Thursday.
const NOW: Timestamp = Timestamp::from_millis(1_768_471_200_000);

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        NOW
    }
}

type Paths = Arc<Mutex<Vec<String>>>;

/// A host that answers by the id of the listing, and the paths that it was asked for.
async fn host() -> (HttpMarketplace, Paths) {
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
    let address = *acceptor.local_addr()[0].as_socket_addr().unwrap();
    let paths = Paths::default();
    let asked = Arc::clone(&paths);
    let app = make(move |request: Request| {
        let path = request.uri().path().to_owned();
        asked.lock().unwrap().push(format!("{} {path}", request.method()));
        let answer = Response::builder();
        let answer = match path.rsplit('/').next().unwrap() {
            "moved" => answer.status(StatusCode::TEMPORARY_REDIRECT).header("location", "/elsewhere").finish(),
            "later" => answer
                .status(StatusCode::SERVICE_UNAVAILABLE)
                .header("retry-after", "Thu, 15 Jan 2026 10:02:00 GMT")
                .finish(),
            "large" => answer.body(vec![b'x'; MAX_ANSWER + 1]),
            "refusal" => answer.status(StatusCode::UNPROCESSABLE_ENTITY).body(vec![b'x'; MAX_ANSWER + 1]),
            "by-plate" => answer.status(StatusCode::METHOD_NOT_ALLOWED).finish(),
            "listings" => answer.body(r#"{"results": [{"id": "..", "reference": null}]}"#),
            _ => answer.status(StatusCode::NO_CONTENT).finish(),
        };
        async move { Ok::<_, poem::Error>(answer) }
    });
    tokio::spawn(Server::new_with_acceptor(acceptor).run(app));
    let options = HttpOptions {
        base: Url::parse(&format!("http://{address}/base/")).unwrap(),
        token: TokenSource::Text("token".to_owned().into()).load().unwrap(),
        timeout: Duration::from_secs(5),
        breaker: BreakerOptions { failures: 100, pause: Duration::from_secs(1) },
    };
    (HttpMarketplace::new(Market::Primary, options, Arc::new(FixedClock)).unwrap(), paths)
}

const KEY: IdempotencyKey = IdempotencyKey { request: Uuid::nil(), action: Action::Bump, market: Market::Primary };

fn passing<T>(status: u16, reason: &str, retry_after: Option<u64>) -> Result<T, MarketplaceError> {
    let (reason, retry_after) = (reason.to_owned(), retry_after.map(Duration::from_secs));
    Err(MarketplaceError::Transient { code: Code::MarketplaceUnreachable, reason, retry_after, status: Some(status) })
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (marketplace, paths) = host().await;
    let told = marketplace.unpublish(KEY, "moved").await;
    assert_eq!(told, passing(307, "the marketplace answered 307 Temporary Redirect", None));
    assert_eq!(*paths.lock().unwrap(), ["DELETE /base/listings/moved"]);
}

#[tokio::test]
async fn a_date_may_stand_in_retry_after() {
    let (marketplace, _) = host().await;
    let told = marketplace.unpublish(KEY, "later").await;
    assert_eq!(told, passing(503, "the marketplace answered 503 Service Unavailable", Some(120)));
}

#[tokio::test]
async fn an_answer_is_read_up_to_its_limit() {
    let (marketplace, _) = host().await;
    let told = marketplace.unpublish(KEY, "large").await;
    assert_eq!(told, passing(200, "the answer of the marketplace cannot be read", None));
    let told = marketplace.unpublish(KEY, "refusal").await;
    assert_eq!(told, Err(MarketplaceError::refused("the marketplace answered 422 Unprocessable Entity")));
}

#[tokio::test]
async fn ids_stay_within_their_part_of_the_path() {
    let (marketplace, paths) = host().await;
    marketplace.bump(KEY, "a/b ?c#d%2Få").await.unwrap();
    assert_eq!(*paths.lock().unwrap(), ["POST /base/listings/a%2Fb%20%3Fc%23d%252F%C3%A5/bump"]);
    let told = marketplace.find_by_plate("d1", "ABC123").await;
    assert_eq!(told, passing(200, "the answer of the marketplace cannot be read", None));
}

#[tokio::test]
async fn a_marketplace_without_the_call_by_plate_is_not_asked_for_it_again() {
    let (marketplace, paths) = host().await;
    let ad = ListingBody::example().into_ad(NOW);
    let listing = Listing { ad: &ad, images: &ad.image_refs };
    for _ in 0..2 {
        let told = marketplace.publish_by_plate(KEY, listing, "ABC123").await;
        assert_eq!(told, Ok(Answered { status: 405, value: None }));
    }
    assert_eq!(*paths.lock().unwrap(), ["POST /base/listings/by-plate"]);
}
