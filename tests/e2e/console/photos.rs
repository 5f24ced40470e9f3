//! Photos from the phone or computer, and what becomes of a form when the server, the session or the page is gone.

use std::path::PathBuf;

use ad_tests::{Browser, Client, Key, Options, Server, SilentProxy, eventually, photos};
use serde_json::{Value, json};

use super::{
    Visitor, ad_query,
    browser::{sign_in, tab_to},
    html,
};
use crate::payloads::plain_car;

/// Photos that differ, as files in a folder.
pub(super) fn files(folder: &std::path::Path, count: u32) -> Vec<PathBuf> {
    let file = |number: u32| {
        let path = folder.join(format!("{number}.jpg"));
        std::fs::write(&path, photos::jpeg(&photos::sound(number))).unwrap();
        path
    };
    (1..=count).map(file).collect()
}

pub(super) fn input(name: &str) -> String {
    format!("[id='input-{name}']")
}

#[tokio::test]
async fn a_photo_is_stored_and_taken_without_http() {
    let server = Server::start().await;
    let visitor = Visitor::signed_in(&server.client).await;
    let photo = photos::jpeg(&photos::sound(1));
    let stored = visitor.post_file("/console/photos", "image/jpeg", photo.clone()).await;
    let answer: Value = serde_json::from_slice(&stored.bytes).unwrap();
    assert_eq!(stored.status, 200, "{answer}");
    let address = answer["address"].as_str().unwrap();
    let shown = visitor.get(answer["shown"].as_str().unwrap()).await;
    assert_eq!(shown.bytes, photo, "{answer}");

    // The worker stores it under the same checksum, without a request to the address.
    let mut car = plain_car("own-1", "OWN001");
    car["image_urls"] = json!([address]);
    server.client.post("/v4/car", &car).await.expect(201);
    server.client.published("own-1").await;
    let ad = server.client.ad("own-1").await;
    assert_eq!(ad["image_refs"][0]["cdn_url"], address);
    assert!(server.said().iter().all(|line| !line.contains("/media/")), "{:?}", server.said());
    // One that is stored nowhere.
    let (base, name) = address.split_once("/media/").unwrap();
    let gone = format!("{base}/media/{}", name.replace(|letter: char| letter.is_ascii_digit(), "0"));
    let changed = server.client.patch("/v4/car/own-1", &json!({"image_urls": [gone]})).await;
    let request = changed.header("x-request-id").unwrap();
    let failed = server.client.ended("own-1", "handle_media", Some(request)).await;
    assert!(failed.to_string().contains("does not have the image any more"), "{failed}");

    // Without script: a form on the page of the ad.
    let part = |name: &str, bytes: &[u8]| {
        let head = format!(
            "--b\r\nContent-Disposition: form-data; name=\"photos\"; filename=\"{name}\"\r\nContent-Type: image/jpeg\r\n\r\n"
        );
        [head.as_bytes(), bytes, b"\r\n"].concat()
    };
    let path = format!("/console/ad/photos?{}", ad_query("own-1"));
    assert!(visitor.page(&format!("/console/ad?{}", ad_query("own-1"))).await.contains("multipart/form-data"));
    let form = [part("a.jpg", &photo), part("b.jpg", &photos::jpeg(&photos::sound(2))), b"--b--\r\n".to_vec()].concat();
    let added = visitor.post_file(&path, "multipart/form-data; boundary=b", form).await;
    assert_eq!(added.status, 303, "{}", html(&added));
    eventually("both photos are in the ad", async || {
        let ad = server.client.ad("own-1").await;
        (ad["image_refs"].as_array().map(Vec::len) == Some(2)).then_some(())
    })
    .await;
    let empty = [part("", b""), b"--b--\r\n".to_vec()].concat();
    let refused = visitor.post_file(&path, "multipart/form-data; boundary=b", empty).await;
    assert!(refused.status == 400 && html(&refused).contains("No photo was chosen"), "{}", html(&refused));
    let broken = visitor.post_file(&path, "multipart/form-data; boundary=b", b"--b\r\nnonsense".to_vec()).await;
    assert_eq!(broken.status, 400, "{}", html(&broken));
}

#[tokio::test]
async fn what_is_no_photo_or_too_much_is_refused() {
    let options =
        Options { args: ["--dealer-image-bytes", "500000"].map(str::to_owned).to_vec(), ..Options::default() };
    let server = Server::with(options).await;
    let visitor = Visitor::signed_in(&server.client).await;
    for (file, status, text) in [
        (b"GIF89a....".to_vec(), 415, "GIF"),
        (photos::flawed("truncated"), 415, "damaged"),
        (Vec::new(), 415, "neither"),
        (vec![0xff; 15_000_001], 413, "in MB: 15"),
    ] {
        let refused = visitor.post_file("/console/photos", "image/jpeg", file).await;
        assert_eq!(refused.status, status, "{}", html(&refused));
        assert!(html(&refused).contains(text), "{text}: {}", html(&refused));
    }
    let foreign =
        visitor.send(reqwest::Method::POST, "/console/photos", &[("origin", "https://evil.example")], None).await;
    assert_eq!(foreign.status, 403);
    let reader = Visitor::with_token(&server, &["--dealer-code", "north-cars", "--permissions", "read"]).await;
    assert_eq!(reader.post_file("/console/photos", "image/jpeg", Vec::new()).await.status, 403);
    let nobody = Visitor::of(&server.client);
    assert_eq!(nobody.post_file("/console/photos", "image/jpeg", Vec::new()).await.status, 401);
    let group = Visitor::with_token(&server, &["--dealer-group", "north"]).await;
    let elsewhere = group.post_file("/console/photos?dealer_code=south-cars", "image/jpeg", Vec::new()).await;
    assert_eq!(elsewhere.status, 404, "a dealer of another group");

    let mut refused = None;
    for number in 1..40 {
        let answer = visitor.post_file("/console/photos", "image/jpeg", photos::jpeg(&photos::sound(number))).await;
        if answer.status != 200 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("the quota of the dealer ends");
    assert_eq!(refused.status, 507);
    assert!(html(&refused).contains("space for your photos"), "{}", html(&refused));
}

#[tokio::test]
async fn photos_are_chosen_ordered_and_removed_while_the_form_is_filled() {
    let Some(browser) = Browser::start().await else { return };
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path(), 4);
    sign_in(&browser, &server.client).await;
    browser.open(&format!("{}/console/new?type=car", server.client.base)).await;
    browser.until("!!document.querySelector('#choose-photos')").await;
    browser.choose("#choose-photos", &files[..3]).await;
    browser.fill(&input("category_fields.registration_number"), "PHO001").await;
    browser.fill(&input("category_fields.model_year"), "2021").await;
    let all_sent = "document.querySelectorAll('.tiles img').length === 3 && !document.querySelector('.tiles progress')";
    browser.until(all_sent).await;
    let addresses = async || {
        let list = browser.eval("document.querySelector('[name=image_urls]').value").await;
        list.as_str().unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let first = addresses().await;
    assert_eq!(first.len(), 3, "{first:?}");

    // By buttons, with the keyboard alone.
    tab_to(&browser, ".tiles li:nth-child(3) [data-earlier]").await;
    browser.press(Key::Enter).await;
    assert_eq!(addresses().await, [&*first[0], &first[2], &first[1]]);
    browser.until("document.getElementById('announcements').innerText.includes('number 2')").await;
    browser.press(Key::Enter).await;
    assert_eq!(addresses().await, [&*first[2], &first[0], &first[1]], "the focus stays at the photo");
    // By dragging.
    browser
        .eval(
            "(() => { const [one, , three] = document.querySelectorAll('.tiles li'); const data = new DataTransfer();
              three.dispatchEvent(new DragEvent('dragstart', {dataTransfer: data, bubbles: true}));
              one.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); })()",
        )
        .await;
    assert_eq!(addresses().await, [&*first[1], &first[2], &first[0]]);
    browser.click(".tiles li:nth-child(2) button:last-child").await;
    assert_eq!(addresses().await, [&*first[1], &first[0]]);
    // What is no photo stays out.
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "no photo").unwrap();
    browser.choose("#choose-photos", &[text]).await;
    browser.until("document.querySelector('.tiles .field-error')?.innerText.includes('notes.txt')").await;
    // A photo that is still being sent when the form is saved is saved with it.
    browser.choose("#choose-photos", &files[3..]).await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("location.pathname === '/console/ad' && !!document.querySelector('#photos')").await;
    server.client.ended("PHO001", "handle_media", None).await;
    let ad = server.client.ad("PHO001").await;
    let stored: Vec<_> = ad["image_refs"].as_array().unwrap().iter().map(|image| image["url"].clone()).collect();
    assert_eq!(stored[..2], [json!(first[1]), json!(first[0])]);
    assert_eq!(stored.len(), 3);
    assert_eq!(browser.complaints().await, [] as [String; 0]);
}

#[tokio::test]
async fn nothing_that_was_written_is_lost() {
    let Some(browser) = Browser::start().await else { return };
    let mut server = Server::start().await;
    let address = |client: &Client| client.base.strip_prefix("http://").unwrap().parse().unwrap();
    let proxy = SilentProxy::start(address(&server.client)).await;
    let base = format!("http://{}", proxy.address);
    let mut through = server.client.clone();
    through.base.clone_from(&base);
    sign_in(&browser, &through).await;
    let form = format!("{base}/console/new?type=car");
    browser.open(&form).await;
    let plate = input("category_fields.registration_number");
    let value = format!("document.querySelector({})?.value", json!(plate));
    browser.until(&format!("{value} === ''")).await;
    browser.fill(&plate, "KEP001").await;
    browser.fill(&input("category_fields.model_year"), "2021").await;

    // The page is left and opened again, as with the Back button.
    browser.open(&format!("{base}/console/stock")).await;
    browser.open(&form).await;
    browser.until(&format!("{value} === 'KEP001'")).await;
    browser.until("document.querySelector('main > .notice')?.innerText.includes('is here again')").await;

    // The server is down: it is sent when it is back.
    server.stop().await;
    browser.click(".ad-form button[value=check]").await;
    browser.until("document.querySelector('main > .notice')?.innerText.includes('is sent again')").await;
    server.restart().await;
    proxy.lead_to(address(&server.client));
    browser.until("document.getElementById('assessment').innerText.includes('Can be saved')").await;

    // The session is over.
    browser.eval("fetch('/console/sign-out', {method: 'POST', body: new URLSearchParams()}).then(() => true)").await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("document.querySelector('main > .notice')?.innerText.includes('signed out')").await;
    let token = json!(server.client.token.as_deref().unwrap());
    browser
        .eval(&format!("fetch('/console/sign-in', {{method: 'POST', body: new URLSearchParams({{token: {token}}})}}).then(() => true)"))
        .await;
    browser.click(".ad-form button[value=save]").await;
    browser.until("location.pathname === '/console/ad'").await;
    assert_eq!(server.client.ad("KEP001").await["visible"], false);

    // What was saved is no draft any more.
    browser.open(&form).await;
    browser.until(&format!("{value} === ''")).await;
    browser.fill(&plate, "KEP002").await;
    browser.open(&form).await;
    browser.until(&format!("{value} === 'KEP002'")).await;
    browser.click("main > .notice button").await;
    browser.until(&format!("{value} === '' && !document.querySelector('main > .notice:not([hidden])')")).await;
}
