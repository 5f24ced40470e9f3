//! Renditions and findings of photos over HTTP, on both databases, in a folder and in a bucket (extensions E7.3 and E7.4).

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use ad_tests::{
    BucketServer, ImageHost, Options, Postgres, Server, broken_images, eventually_within,
    photos::{PATIENCE, jpeg, of_tools, photo, with_exif},
};
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};

use crate::payloads::plain_car;

/// A server that makes renditions, and where its images come from.
struct Site {
    server: Server,
    images: ImageHost,
}

impl Site {
    async fn with(args: &[&str]) -> Self {
        Self::start(Options { args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Options::default() }).await
    }

    async fn start(mut options: Options) -> Self {
        options.args.push("--renditions=true".to_owned());
        Self { server: Server::with(options).await, images: ImageHost::start().await }
    }

    /// Creates an ad with these files as its photos, and waits until it is published.
    async fn publish(&self, source_id: &str, files: &[(&str, Vec<u8>)]) -> Value {
        let urls: Vec<_> = files.iter().map(|(name, file)| self.images.add(name, file.clone())).collect();
        let mut ad = plain_car(source_id, &format!("PHO{:03}", source_id.len()));
        ad["image_urls"] = json!(urls);
        self.server.client.post("/v4/car", &ad).await.expect(201);
        self.server.client.published(source_id).await
    }

    /// The photos of an ad, once all of them were examined.
    async fn examined(&self, source_id: &str) -> Vec<Value> {
        eventually_within(PATIENCE, "the photos are examined", || async {
            let ad = self.server.client.ad(source_id).await;
            let photos = ad["image_refs"].as_array().unwrap().clone();
            photos.iter().all(|photo| !photo["renditions"].is_null()).then_some(photos)
        })
        .await
    }

    /// The findings about the photos of an ad: code and field.
    async fn findings(&self, source_id: &str) -> Vec<(String, String)> {
        let ad = self.server.client.get(&format!("/v4/car/{source_id}?include=quality")).await.expect(200);
        let findings = ad["quality"]["findings"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let about_photos = findings.filter(|finding| finding["code"].as_str().unwrap().starts_with("photo_"));
        about_photos.map(|finding| (text(&finding["code"]), text(&finding["field"]))).collect()
    }

    /// A file that the service serves.
    async fn served(&self, url: &Value) -> (u16, Vec<u8>) {
        let path = url.as_str().unwrap().strip_prefix(&self.server.client.base).unwrap().to_owned();
        let answer = self.server.client.with_token(None).get(&path).await;
        if answer.status == 200 {
            assert_eq!(answer.header("content-type"), Some("image/jpeg"));
            assert_eq!(answer.header("cache-control"), Some("public, max-age=31536000, immutable"));
        }
        (answer.status.into(), answer.bytes.to_vec())
    }

    /// Where the files of a photo are in a folder: that of the image, and those of its renditions.
    fn files(&self, photo: &Value) -> Vec<PathBuf> {
        let root = self.server.dir().join("data/media");
        let sum = photo["checksum"].as_str().unwrap();
        let urls = photo["renditions"].as_array().unwrap().iter().map(|rendition| &rendition["url"]);
        let file = |url: &Value| url.as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        [&photo["cdn_url"]]
            .into_iter()
            .chain(urls)
            .map(|url| root.join(&sum[..2]).join(&sum[2..4]).join(file(url)))
            .collect()
    }
}

fn decoded(file: &[u8]) -> RgbImage {
    image::load_from_memory_with_format(file, ImageFormat::Jpeg).unwrap().into_rgb8()
}

/// What a phone stores that was held sideways: a picture that is turned when it is shown.
fn sideways(upright: &RgbImage) -> Vec<u8> {
    with_exif(&jpeg(&image::imageops::rotate270(upright)), 6)
}

async fn photos_get_renditions(site: Site) {
    let upright = photo(1200, 900, 1);
    let file = sideways(&upright);
    let before = site.publish("car", &[("sideways.jpg", file.clone())]).await;
    let tag = site.server.client.get("/v4/car/car").await.header("etag").map(str::to_owned);
    let photo = site.examined("car").await.remove(0);
    assert_eq!((&photo["width"], &photo["height"]), (&json!(1200), &json!(900)), "as it is shown");
    let stem = photo["cdn_url"].as_str().unwrap().strip_suffix(".jpg").unwrap();
    let rendition =
        |width: u32, height: u32| json!({"width": width, "height": height, "url": format!("{stem}-{width}.jpg")});
    assert_eq!(photo["renditions"], json!([rendition(320, 240), rendition(800, 600), rendition(1200, 900)]));
    // The members of the contract are as before.
    for member in ["url", "cdn_url", "id", "checksum"] {
        assert_eq!(photo[member], before["image_refs"][0][member]);
    }
    assert_eq!(site.served(&photo["cdn_url"]).await, (200, file), "the bytes as they came");
    for rendition in photo["renditions"].as_array().unwrap() {
        let (status, file) = site.served(&rendition["url"]).await;
        let picture = decoded(&file);
        assert_eq!(
            (status, json!(picture.width()), json!(picture.height())),
            (200, rendition["width"].clone(), rendition["height"].clone())
        );
        assert!(!file.windows(4).any(|bytes| bytes == b"Exif"), "no GPS and nothing else");
        // The corner at the top left is that of the upright picture.
        let corner = picture.get_pixel(picture.width() / 20, picture.height() / 20).0;
        assert!(corner[0] > corner[1] && corner[0] > corner[2], "{corner:?}");
    }
    // The answer is another one by its tag.
    let now = site.server.client.get("/v4/car/car").await;
    if let (Some(tag), Some(now)) = (&tag, now.header("etag")) {
        let known = before["image_refs"][0]["renditions"] != Value::Null;
        assert_eq!(known, tag == now, "{tag} {now}");
    }
    // A list shows the same.
    let listed = site.server.client.get("/v4/ad?source_id=car").await.expect(200);
    assert_eq!(listed["results"][0]["image_refs"][0], photo);

    // An update that keeps the photo keeps what is known of it.
    let answer = site.server.client.patch("/v4/car/car", &json!({"image_urls": [photo["url"]]})).await;
    site.server.client.ended("car", "publish", answer.header("x-request-id")).await;
    assert_eq!(site.server.client.ad("car").await["image_refs"][0], photo);
    // Another ad with the same bytes gets it without decoding.
    site.publish("other", &[("copy.jpg", sideways(&upright))]).await;
    assert_eq!(site.examined("other").await[0]["renditions"], photo["renditions"]);
}

#[tokio::test]
async fn a_photo_taken_sideways_gets_upright_renditions() {
    photos_get_renditions(Site::with(&[]).await).await;
}

#[tokio::test]
async fn a_photo_taken_sideways_gets_upright_renditions_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    photos_get_renditions(Site::with(&["--database-url", &postgres.database().await]).await).await;
}

#[tokio::test]
async fn a_photo_taken_sideways_gets_upright_renditions_in_a_bucket() {
    let Some(bucket) = BucketServer::start().await else { return };
    let mut options = Options::default();
    options.args.extend(["--media".to_owned(), bucket.place()]);
    options.env.extend(bucket.environment());
    photos_get_renditions(Site::start(options).await).await;
}

#[tokio::test]
async fn each_flaw_of_a_photo_yields_exactly_its_finding() {
    let site = Site::with(&[]).await;
    let good = photo(1200, 900, 10);
    let mut dark = photo(1200, 900, 11);
    dark.pixels_mut().for_each(|pixel| pixel.0 = pixel.0.map(|color| color / 8));
    let copy = image::imageops::resize(&good, 1040, 780, image::imageops::FilterType::Triangle);
    let flawed = [
        ("upright.jpg", jpeg(&photo(900, 1200, 13))),
        ("good.jpg", jpeg(&good)),
        ("small.jpg", jpeg(&photo(640, 480, 14))),
        ("copy.jpg", jpeg(&copy)),
        ("dark.jpg", jpeg(&dark)),
        ("blurred.jpg", jpeg(&image::imageops::fast_blur(&photo(1200, 900, 15), 20.0))),
        ("lying.jpg", broken_images::lying()),
        ("fine.jpg", jpeg(&photo(1200, 900, 16))),
    ];
    site.publish("car", &flawed).await;
    let photos = site.examined("car").await;
    assert_eq!((&photos[6]["width"], &photos[6]["renditions"]), (&Value::Null, &json!([])));
    let found = site.findings("car").await;
    let expected = [
        ("photo_upright", 0),
        ("photo_small", 2),
        ("photo_repeated", 3),
        ("photo_dark", 4),
        ("photo_blurred", 5),
        ("photo_undecodable", 6),
    ];
    assert_eq!(found, expected.map(|(code, place)| (code.to_owned(), format!("image_urls.{place}"))));
    // The list counts the same findings.
    let quality = site.server.client.get("/v4/car/car?include=quality").await.expect(200)["quality"].clone();
    let listed = site.server.client.get("/v4/ad?source_id=car&include=quality&fields=id").await.expect(200);
    assert_eq!(listed["results"][0]["quality"]["findings"], quality["findings"].as_array().unwrap().len());
    // In another order, other places are meant.
    let urls: Vec<_> = photos.iter().rev().map(|photo| photo["url"].clone()).collect();
    let answer = site.server.client.patch("/v4/car/car", &json!({"image_urls": urls})).await;
    site.server.client.ended("car", "publish", answer.header("x-request-id")).await;
    let found = site.findings("car").await;
    assert!(found.contains(&("photo_undecodable".to_owned(), "image_urls.1".to_owned())), "{found:?}");
    assert!(!found.iter().any(|(code, _)| code == "photo_upright"), "it is no longer the first: {found:?}");
}

#[tokio::test]
async fn photos_as_real_tools_make_them_are_shown_or_named() {
    let site = Site::with(&[]).await;
    let truncated = of_tools("thumbnail.jpg");
    let files = [
        ("fill-bytes.jpg", of_tools("fill-bytes.jpg")),
        ("arithmetic.jpg", of_tools("arithmetic.jpg")),
        ("cmyk.jpg", of_tools("cmyk-profile.jpg")),
        ("cut.jpg", truncated[..truncated.len() / 2].to_vec()),
    ];
    site.publish("car", &files).await;
    let photos = site.examined("car").await;
    let widths: Vec<_> = photos.iter().map(|photo| photo["width"].as_u64()).collect();
    assert_eq!(widths, [Some(160), None, Some(160)]);
    let ad = site.server.client.get("/v4/car/car?include=quality").await.expect(200);
    let findings = ad["quality"]["findings"].as_array().unwrap().iter();
    let texts: Vec<_> = findings.map(|finding| finding["text"].as_str().unwrap()).collect();
    let is_said = |photo: &str, what: &str| texts.iter().any(|text| text.starts_with(photo) && text.contains(what));
    assert!(is_said("Photo 2 ", "it is of an uncommon kind of JPEG or PNG"), "{texts:?}");
    assert!(is_said("Photo 4 ", "it stops before its end"), "{texts:?}");
}

#[tokio::test]
async fn renditions_that_are_missing_are_made_again() {
    let site = Site::with(&[]).await;
    site.publish("car", &[("1.jpg", jpeg(&photo(1000, 750, 20)))]).await;
    let photo = site.examined("car").await.remove(0);
    let files = site.files(&photo);
    let made: Vec<_> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    for file in &files[1..] {
        std::fs::remove_file(file).unwrap();
    }
    let renditions = photo["renditions"].as_array().unwrap();
    assert_eq!(site.served(&renditions[1]["url"]).await, (200, made[2].clone()));
    assert_eq!(std::fs::read(&files[1]).unwrap(), made[1], "all of them");
    // Only what has been a rendition is made.
    let url = renditions[1]["url"].as_str().unwrap();
    for other in [url.replace("-800", "-801"), url.replace("-800", "-1600"), url.replace("-800", "-0")] {
        assert_eq!(site.served(&json!(other)).await.0, 404, "{other}");
    }

    // The command makes them too, beside the server.
    std::fs::remove_file(&files[3]).unwrap();
    let said = site.server.command(&["images", "renditions"]).await;
    assert_eq!(said, "1 ad, 1 image: 1 decoded, 0 cannot be decoded, 0 missing in the image store\n");
    assert_eq!(std::fs::read(&files[3]).unwrap(), made[3]);
    let said = site.server.command(&["images", "renditions"]).await;
    assert_eq!(said, "1 ad, 1 image: 0 decoded, 0 cannot be decoded, 0 missing in the image store\n");
    // Without the image there is nothing to make them from.
    for file in &files {
        std::fs::remove_file(file).unwrap();
    }
    assert_eq!(site.served(&renditions[0]["url"]).await.0, 404);
    let said = site.server.command(&["images", "renditions"]).await;
    assert_eq!(said, "1 ad, 1 image: 0 decoded, 0 cannot be decoded, 1 missing in the image store\n");
}

/// Images of before the upgrade are examined by the command.
async fn backfill(database: &[&str]) {
    let mut site = Site::with(&[database, &["--workers", "8"]].concat()).await;
    let mut options = Options { args: database.iter().map(|arg| (*arg).to_owned()).collect(), ..Options::default() };
    options.args.push("--renditions=false".to_owned());
    site.server.stop().await;
    site.server.restart_with(options).await;
    for number in 1..=3 {
        site.publish(
            &"x".repeat(number),
            &[("1.jpg", jpeg(&photo(640, 480, 30))), ("2.jpg", jpeg(&photo(640, 480, 31)))],
        )
        .await;
    }
    let said = site.server.command(&[&["images", "renditions"], database].concat()).await;
    assert_eq!(said, "3 ads, 6 images: 2 decoded, 0 cannot be decoded, 0 missing in the image store\n");
    for number in 1..=3 {
        let photos = site.examined(&"x".repeat(number)).await;
        for photo in &photos {
            assert_eq!(site.served(&photo["renditions"][0]["url"]).await.0, 200);
        }
    }
}

#[tokio::test]
async fn images_of_before_are_examined_by_a_command() {
    backfill(&[]).await;
}

#[tokio::test]
async fn images_of_before_are_examined_by_a_command_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    backfill(&["--database-url", &postgres.database().await]).await;
}

#[tokio::test]
async fn a_killed_server_examines_what_it_left() {
    let mut site = Site::with(&[]).await;
    for number in 1..=6 {
        let files: Vec<_> = (1..=3)
            .map(|place| (format!("{number}-{place}.jpg"), jpeg(&photo(800, 600, 10 * number + place))))
            .collect();
        let files: Vec<_> = files.iter().map(|(name, file)| (name.as_str(), file.clone())).collect();
        site.publish(&"x".repeat(number as usize), &files).await;
        if number % 2 == 0 {
            site.server.kill().await;
            site.server.restart().await;
        }
    }
    for number in 1..=6 {
        for photo in site.examined(&"x".repeat(number)).await {
            let file = photo["renditions"].as_array().unwrap().last().unwrap()["url"]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned();
            let url = json!(format!("{}/media/{file}", site.server.client.base));
            assert_eq!(site.served(&url).await.0, 200);
        }
    }
}

/// Waits until the photos of these ads were examined, and returns the most memory that the server had meanwhile.
async fn memory_until_examined(site: &Site, ads: &[String]) -> u64 {
    let (mut most, begun) = (0, Instant::now());
    for source_id in ads {
        loop {
            assert!(begun.elapsed() < PATIENCE, "{source_id}");
            most = most.max(site.server.memory());
            let photos = site.server.client.ad(source_id).await["image_refs"].clone();
            let photos = photos.as_array().unwrap();
            if !photos.is_empty() && photos.iter().all(|photo| photo["renditions"].is_array()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    most
}

#[tokio::test]
async fn sixteen_hostile_images_at_once_need_little_memory() {
    let site = Site::with(&["--workers", "16"]).await;
    let hostile = broken_images::hostile();
    let of = |number: usize| &hostile[number % hostile.len()];
    for number in 0..16 {
        // Another byte behind the end, where decoders do not look: all are different images.
        let mut file = of(number).1.clone();
        file.push(u8::try_from(number).unwrap());
        let url = site.images.add(&format!("{number}.jpg"), file);
        let mut ad = plain_car(&format!("car-{number}"), &format!("HOS{number:03}"));
        ad["image_urls"] = json!([url]);
        site.server.client.post("/v4/car", &ad).await.expect(201);
    }
    let ads: Vec<_> = (0..16).map(|number| format!("car-{number}")).collect();
    let most = memory_until_examined(&site, &ads).await;
    for (number, source_id) in ads.iter().enumerate() {
        let (name, _, renditions) = of(number);
        let photo = site.server.client.ad(source_id).await["image_refs"][0].clone();
        assert_eq!(photo["renditions"].as_array().map(Vec::len), Some(*renditions), "{name}: {photo}");
        let expected = if *renditions == 0 { "photo_undecodable" } else { "photo_small" };
        let found = site.findings(source_id).await;
        assert!(*renditions == 3 || found.iter().any(|(code, _)| code == expected), "{name}: {found:?}");
    }
    assert!(most < 300_000_000, "{most}");
}

#[tokio::test]
async fn twenty_photos_of_15_megabytes_need_little_memory() {
    let site = Site::with(&[]).await;
    let photos = (1..=20).map(|seed| broken_images::padded(&jpeg(&photo(1200, 900, seed)), 14_900_000));
    let urls: Vec<_> = photos.zip(1..).map(|(file, number)| site.images.add(&format!("{number}.jpg"), file)).collect();
    let mut ad = plain_car("car", "STO001");
    ad["image_urls"] = json!(urls);
    site.server.client.post("/v4/car", &ad).await.expect(201);
    let most = memory_until_examined(&site, &["car".to_owned()]).await;
    let photos = site.server.client.published("car").await["image_refs"].clone();
    let renditions = photos.as_array().unwrap().iter().map(|photo| photo["renditions"].as_array().unwrap().len());
    assert_eq!(renditions.collect::<Vec<_>>(), [3; 20]);
    assert_eq!(site.findings("car").await, []);
    assert!(most < 300_000_000, "{most}");
}

/// A photo that was too large is tried again with more memory: by the command, and for another ad.
async fn more_memory(database: &[&str]) {
    let mut site = Site::with(&[database, &["--photo-memory", "2MiB"]].concat()).await;
    let file = jpeg(&photo(1200, 900, 1));
    site.publish("a", &[("1.jpg", file.clone())]).await;
    assert_eq!(site.examined("a").await[0]["renditions"], json!([]));
    assert_eq!(site.findings("a").await, [("photo_undecodable".to_owned(), "image_urls.0".to_owned())]);
    let said = site.server.command(&[&["images", "renditions", "--photo-memory", "2MiB"], database].concat()).await;
    assert_eq!(said, "1 ad, 1 image: 0 decoded, 1 cannot be decoded, 0 missing in the image store\n");

    let args = [database, &["--photo-memory", "64MiB", "--renditions=true"]].concat();
    site.server.stop().await;
    let args = args.into_iter().map(str::to_owned).collect();
    site.server.restart_with(Options { args, ..Options::default() }).await;
    site.publish("bb", &[("2.jpg", file)]).await;
    assert_eq!(site.examined("bb").await[0]["width"], 1200);
    let said = site.server.command(&[&["images", "renditions"], database].concat()).await;
    assert_eq!(said, "2 ads, 2 images: 1 decoded, 0 cannot be decoded, 0 missing in the image store\n");
    assert_eq!(site.examined("a").await[0]["width"], 1200);
}

#[tokio::test]
async fn a_photo_that_was_too_large_is_tried_again_with_more_memory() {
    more_memory(&[]).await;
}

#[tokio::test]
async fn a_photo_that_was_too_large_is_tried_again_with_more_memory_in_postgresql() {
    let Some(postgres) = Postgres::shared().await else { return };
    more_memory(&["--database-url", &postgres.database().await]).await;
}
