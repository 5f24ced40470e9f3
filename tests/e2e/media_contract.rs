//! What every place for images has to do. Each case runs with a folder and with a bucket of a real S3-compatible server,
//! through the whole service: images come from a host, are kept, and are shown.

use std::path::PathBuf;

use ad_tests::{BucketServer, Client, ImageHost, Keys, Options, Server, command, eventually};
use reqwest::{Method, Response};
use serde_json::json;

use crate::payloads::plain_car;

/// A service with its images, and where they come from.
struct Fixture {
    server: Server,
    images: ImageHost,
    kept: Kept,
}

/// What is kept, seen from outside.
enum Kept {
    Folder(PathBuf),
    Bucket(Box<BucketServer>),
}

async fn folder(options: Options) -> Option<Fixture> {
    let server = Server::with(options).await;
    let kept = Kept::Folder(server.dir().join("data/media"));
    Some(Fixture { server, images: ImageHost::start().await, kept })
}

async fn bucket(mut options: Options) -> Option<Fixture> {
    let bucket = BucketServer::start().await?;
    options.args.extend(["--media".to_owned(), bucket.place()]);
    options.env.extend(bucket.environment());
    let server = Server::with(options).await;
    Some(Fixture { server, images: ImageHost::start().await, kept: Kept::Bucket(Box::new(bucket)) })
}

macro_rules! contract {
    ($($case:ident),+ $(,)?) => {
        mod in_a_folder {
            $(#[tokio::test] async fn $case() {
                let fixture = super::folder(Default::default()).await.unwrap();
                super::$case(fixture).await;
            })+
        }
        mod in_a_bucket {
            $(#[tokio::test] async fn $case() {
                let Some(fixture) = super::bucket(Default::default()).await else { return };
                super::$case(fixture).await;
            })+
        }
    };
}

contract!(
    an_image_is_shown_as_it_came_and_may_be_kept_for_ever,
    the_same_bytes_are_stored_once,
    what_was_cut_short_is_replaced,
    what_cannot_be_stored_now_is_stored_later,
);

impl Kept {
    async fn get(&self, key: &str) -> Option<Vec<u8>> {
        match self {
            Self::Folder(root) => std::fs::read(root.join(key)).ok(),
            Self::Bucket(server) => Some(server.object(&format!("media/{key}")).await?.bytes().await.unwrap().into()),
        }
    }

    async fn put(&self, key: &str, bytes: Vec<u8>) {
        match self {
            Self::Folder(root) => std::fs::write(root.join(key), bytes).unwrap(),
            Self::Bucket(server) => server.put(&format!("media/{key}"), bytes).await,
        }
    }

    /// Makes it useless for a while.
    async fn fail(&mut self) {
        match self {
            Self::Folder(root) => {
                std::fs::rename(&root, root.with_extension("away")).unwrap();
                std::fs::write(root, "").unwrap();
            }
            Self::Bucket(server) => server.kill().await,
        }
    }

    async fn mend(&mut self) {
        match self {
            Self::Folder(root) => {
                std::fs::remove_file(&root).unwrap();
                std::fs::rename(root.with_extension("away"), root).unwrap();
            }
            Self::Bucket(server) => server.restart().await,
        }
    }
}

impl Fixture {
    /// A published ad with one image; its `image_refs` entry.
    async fn ad(&self, source_id: &str, plate: &str, file: &str) -> serde_json::Value {
        let mut ad = plain_car(source_id, plate);
        ad["image_urls"] = json!([self.images.url(file)]);
        self.server.client.post("/v4/car", &ad).await.expect(201);
        self.server.client.published(source_id).await["image_refs"][0].clone()
    }

    /// Fetches and stores the images of an ad once more.
    async fn again(&self, source_id: &str, file: &str) {
        let urls = json!({ "image_urls": [self.images.url(file)] });
        let answer = self.server.client.patch(&format!("/v4/car/{source_id}"), &urls).await;
        let entry = self.server.client.ended(source_id, "handle_media", answer.header("x-request-id")).await;
        assert_eq!(entry["state"], "done", "{entry}");
    }
}

/// Where an image is kept.
fn key_of(image: &serde_json::Value) -> String {
    let sum = image["checksum"].as_str().unwrap();
    let file = image["cdn_url"].as_str().unwrap().rsplit('/').next().unwrap();
    format!("{}/{}/{file}", &sum[..2], &sum[2..4])
}

async fn ask(client: &Client, method: Method, path: &str, known: Option<&str>) -> Response {
    let mut request = reqwest::Client::new().request(method, format!("{}{path}", client.base));
    if let Some(tag) = known {
        request = request.header("if-none-match", tag);
    }
    request.send().await.unwrap()
}

async fn an_image_is_shown_as_it_came_and_may_be_kept_for_ever(fixture: Fixture) {
    let image = fixture.ad("one", "MCO001", "noise/300000.png").await;
    let client = &fixture.server.client;
    let bytes = reqwest::get(fixture.images.url("noise/300000.png")).await.unwrap().bytes().await.unwrap();
    assert!(bytes.len() > 300_000, "more than is read at once");
    let sum = ad_core::ports::Checksum::of(&bytes).to_string();
    assert_eq!(image["checksum"], sum);
    let (file, key, tag) = (format!("{sum}.png"), key_of(&image), format!("\"{sum}\""));
    assert_eq!(image["cdn_url"], format!("{}/media/{file}", client.base));
    assert_eq!(fixture.kept.get(&key).await.unwrap(), bytes);

    for path in [format!("/media/{file}"), format!("/media/{key}")] {
        let got = ask(client, Method::GET, &path, Some("\"x\"")).await;
        let head = ask(client, Method::HEAD, &path, None).await;
        for response in [&got, &head] {
            assert_eq!(response.status(), 200);
            let header = |name| response.headers()[name].to_str().unwrap();
            assert_eq!(header("content-type"), "image/png");
            assert_eq!(header("content-length"), bytes.len().to_string());
            assert_eq!(header("etag"), tag);
            assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
            assert_eq!(header("x-content-type-options"), "nosniff");
        }
        assert_eq!(got.bytes().await.unwrap(), bytes);
        assert!(head.bytes().await.unwrap().is_empty());
        for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let response = ask(client, Method::GET, &path, Some(&known)).await;
            assert_eq!(response.status(), 304, "{known}");
            assert_eq!(response.headers()["etag"].to_str().unwrap(), tag);
        }
    }
    let response = ask(client, Method::POST, &format!("/media/{file}"), None).await;
    assert_eq!(
        (response.status().as_u16(), response.headers()["allow"].to_str().unwrap()),
        (405, "GET, HEAD, OPTIONS")
    );
    for other in [format!("{sum}.jpg"), file.to_uppercase(), format!("x/{file}"), "..%2f..%2fetc%2fpasswd".to_owned()] {
        for method in [Method::GET, Method::HEAD] {
            let response = ask(client, method.clone(), &format!("/media/{other}"), Some("*")).await;
            assert_eq!(response.status(), 404, "{method} {other}");
            let body = response.text().await.unwrap();
            assert_eq!(body, if method == Method::GET { r#"{"detail":"Not found."}"# } else { "" });
        }
    }
}

async fn the_same_bytes_are_stored_once(fixture: Fixture) {
    let image = fixture.ad("one", "MCO002", "1.jpg").await;
    // A mark of the same length: what is put again must not touch it.
    let mark = vec![0; fixture.kept.get(&key_of(&image)).await.unwrap().len()];
    fixture.kept.put(&key_of(&image), mark.clone()).await;
    let other = fixture.ad("two", "MCO003", "1.jpg").await;
    assert_eq!(
        (&image["cdn_url"], &image["checksum"]),
        (&other["cdn_url"], &other["checksum"]),
        "two ads, one stored image"
    );
    fixture.again("one", "1.jpg").await;
    assert_eq!(fixture.kept.get(&key_of(&image)).await.unwrap(), mark);
}

async fn what_was_cut_short_is_replaced(fixture: Fixture) {
    let image = fixture.ad("one", "MCO004", "1.jpg").await;
    let whole = fixture.kept.get(&key_of(&image)).await.unwrap();
    fixture.kept.put(&key_of(&image), whole[..whole.len() / 2].to_vec()).await;
    fixture.again("one", "1.jpg").await;
    assert_eq!(fixture.kept.get(&key_of(&image)).await.unwrap(), whole);
}

async fn what_cannot_be_stored_now_is_stored_later(mut fixture: Fixture) {
    let before = fixture.ad("before", "MCO005", "1.jpg").await;
    fixture.kept.fail().await;
    let client = &fixture.server.client;
    let path = before["cdn_url"].as_str().unwrap().strip_prefix(&client.base).unwrap().to_owned();
    let response = ask(client, Method::GET, &path, None).await;
    assert_eq!(response.status(), 503);
    assert_eq!(response.text().await.unwrap(), r#"{"detail":"The image cannot be read now."}"#);

    let mut ad = plain_car("after", "MCO006");
    ad["image_urls"] = json!([fixture.images.url("2.jpg")]);
    client.post("/v4/car", &ad).await.expect(201);
    let images = &fixture.images;
    eventually("a second try", || async { (images.calls("2.jpg") > 1).then_some(()) }).await;
    fixture.kept.mend().await;
    let client = &fixture.server.client;
    let image = client.published("after").await["image_refs"][0].clone();
    let path = image["cdn_url"].as_str().unwrap().strip_prefix(&client.base).unwrap();
    assert_eq!(client.get(path).await.status, 200);
}

#[tokio::test]
async fn what_could_never_be_stored_is_told_without_what_concerns_the_operator_only() {
    // The service's own store is tried as often as a marketplace.
    let options = Options { args: vec!["--marketplace-tries".to_owned(), "1".to_owned()], ..Options::default() };
    let mut fixtures = vec![folder(options.clone()).await.unwrap()];
    fixtures.extend(bucket(options).await);
    for mut fixture in fixtures {
        fixture.kept.fail().await;
        let mut ad = plain_car("never", "MCO007");
        ad["image_urls"] = json!([fixture.images.url("1.jpg")]);
        fixture.server.client.post("/v4/car", &ad).await.expect(201);
        let entry = fixture.server.client.ended("never", "handle_media", None).await;
        assert_eq!(
            entry["external_message"]["images"],
            json!([{"url": fixture.images.url("1.jpg"), "error": "the service's image store is not available"}])
        );
        fixture.kept.mend().await;
        fixture.server.client.get("/v4/ad/never/retry").await.expect(200);
        let client = &fixture.server.client;
        eventually("a retry that stores it", || async {
            (client.ad("never").await["image_refs"].as_array().unwrap().len() == 1).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn requests_are_signed_and_what_is_missing_is_told_at_start() {
    let Some(bucket) = BucketServer::start().await else { return };
    let all = bucket.user("all", &["s3:GetObject", "s3:PutObject", "s3:ListBucket"]).await;
    let writer = bucket.user("writer", &["s3:PutObject"]).await;
    bucket.guard().await;

    let options = Options {
        args: vec!["--media".to_owned(), bucket.place()],
        env: bucket.environment_of(&all),
        ..Options::default()
    };
    let server = Server::with(options).await;
    let fixture = Fixture { server, images: ImageHost::start().await, kept: Kept::Bucket(Box::new(bucket)) };
    let image = fixture.ad("one", "MCO008", "1.jpg").await;
    let path = image["cdn_url"].as_str().unwrap().strip_prefix(&fixture.server.client.base).unwrap();
    assert_eq!(fixture.server.client.get(path).await.status, 200);

    let Kept::Bucket(bucket) = &fixture.kept else { unreachable!("it was made a few lines above") };
    let stranger = Keys { id: "AKIASTRANGER".to_owned(), ..all.clone() };
    let forger = Keys { secret: "hush-hush".to_owned(), ..all.clone() };
    let nowhere = vec![("AWS_ENDPOINT_URL".to_owned(), "http://127.0.0.1:1".to_owned())];
    let no_url = vec![("AWS_ENDPOINT_URL".to_owned(), "store.example:9000".to_owned())];
    let no_secret = vec![("AWS_SECRET_ACCESS_KEY".to_owned(), String::new())];
    let set = |keys: &Keys, more: &[(String, String)]| [bucket.environment_of(keys), more.to_vec()].concat();
    for (place, environment, expected) in [
        (
            "s3://nothing/media",
            set(&all, &[]),
            "there is no such bucket (the store answered 404 Not Found, NoSuchBucket",
        ),
        (
            "s3://ads/media",
            set(&stranger, &[]),
            "permission to write denied (the store answered 403 Forbidden, InvalidAccessKeyId",
        ),
        (
            "s3://ads/media",
            set(&forger, &[]),
            "permission to write denied (the store answered 403 Forbidden, SignatureDoesNotMatch",
        ),
        ("s3://ads/media", set(&writer, &[]), "permission to read denied (the store answered 403 Forbidden)"),
        ("s3://ads/media", set(&all, &nowhere), "no answer from the store: Connection refused"),
        ("s3://ads/media", set(&all, &no_url), "AWS_ENDPOINT_URL has to begin with http:// or https://"),
        ("s3://ads/media", set(&all, &no_secret), "AWS_SECRET_ACCESS_KEY is not set"),
    ] {
        let mut serve = command(fixture.server.dir(), &["serve", "--listen", "127.0.0.1:0", "--media", place]);
        let ended = serve.envs(environment).output().await.unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        let error = said.trim_end().lines().last().unwrap();
        assert!(error.starts_with(&format!("error: cannot store images in {place}: {expected}")), "{said}");
        assert!(error.contains("AWS_REGION"), "{said}");
        assert!(!said.contains("hush-hush") && !said.contains(&all.secret), "{said}");
    }
}

#[tokio::test]
async fn addresses_of_images_can_be_those_of_a_cdn() {
    let args = |base: &str| vec!["--media-url".to_owned(), base.to_owned()];
    let cdn = Options { args: args("https://cdn.example/ads/"), ..Options::default() };
    let fixture = folder(cdn).await.unwrap();
    let image = fixture.ad("one", "MCO009", "1.jpg").await;
    assert_eq!(image["cdn_url"], format!("https://cdn.example/ads/{}", key_of(&image)));

    // The bucket itself, read by whoever may, as a CDN would.
    let Some(mut fixture) = bucket(Options::default()).await else { return };
    let Kept::Bucket(bucket) = &fixture.kept else { unreachable!("a bucket was asked for") };
    let mut options = Options { args: args(&bucket.url("media")), env: bucket.environment(), ..Options::default() };
    options.args.extend(["--media".to_owned(), bucket.place()]);
    fixture.server.restart_with(options).await;
    let image = fixture.ad("one", "MCO010", "1.jpg").await;
    let shown = reqwest::get(image["cdn_url"].as_str().unwrap()).await.unwrap();
    assert_eq!(shown.status(), 200);
    assert_eq!(shown.headers()["content-type"], "image/jpeg");
    assert_eq!(shown.headers()["cache-control"], "public, max-age=31536000, immutable");
    let sum = ad_core::ports::Checksum::of(&shown.bytes().await.unwrap()).to_string();
    assert_eq!(image["checksum"], sum);
}
