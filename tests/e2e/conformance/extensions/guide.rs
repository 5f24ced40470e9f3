//! `docs/http.md`: each of its examples is sent as it stands, and answered as it stands.

use ad_tests::{Options, Server, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::conformance::{
    pattern::{Extent, difference},
    trial::headers_of,
};

const GUIDE: &str = include_str!("../../../../docs/http.md");

/// A request or an answer, as HTTP/1.1 writes it.
struct Message<'a> {
    first: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a str,
}

impl<'a> Message<'a> {
    fn new(text: &'a str) -> Self {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = head.trim().lines();
        let first = lines.next().expect("a message has a first line");
        let headers = lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("{line} is no header")));
        Self { first, headers: headers.collect(), body: body.trim() }
    }

    /// The word of the first line in this place.
    fn word(&self, place: usize) -> &'a str {
        self.first.split(' ').nth(place).expect("the first line has three words")
    }
}

/// The requests of the page with their answers.
fn examples() -> impl Iterator<Item = (Message<'static>, Message<'static>)> {
    let blocks = GUIDE.split("```http\n").skip(1).map(|block| block.split("```").next().unwrap_or_default());
    blocks.map(|block| {
        let answer = block.find("\nHTTP/1.1 ").unwrap_or_else(|| panic!("{block} has no answer"));
        (Message::new(&block[..answer]), Message::new(&block[answer..]))
    })
}

#[tokio::test]
async fn every_example_of_the_guide_to_http_is_answered_as_it_says() {
    let args = [
        "--public-url=https://ads.example.com",
        "--rate-limit=6000/m burst 1000",
        "--cors-origins=https://shop.example.com",
    ];
    let server = Server::with(Options { args: args.map(str::to_owned).to_vec(), ..Options::default() }).await;
    let client =
        server.client_of(&["--dealer-code", "north-cars", "--label", "Stock system", "--expires", "never"]).await;
    // `{request_id}` in a path is that of the latest accepted update.
    let mut updated = String::new();
    for (request, answer) in examples() {
        let path = request.word(1).replace("{request_id}", &updated);
        let method: Method = request.word(0).parse().unwrap();
        let headers: Vec<_> = request.headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let body = (!request.body.is_empty()).then(|| request.body.as_bytes().to_vec());
        let send = || client.send_with(method.clone(), &path, &headers, body.clone());
        let answered = if path == request.word(1) {
            send().await
        } else {
            eventually("the request is finished", || async {
                Some(send().await).filter(|answered| !answered.json()["finished"].is_null())
            })
            .await
        };
        if method == Method::PATCH && answered.status == 200 {
            answered.header("x-request-id").unwrap().clone_into(&mut updated);
        }
        let told = format!("{}: {:?} {}", request.first, answered, String::from_utf8_lossy(&answered.bytes));
        assert_eq!(answered.status.as_str(), answer.word(1), "{told}");
        let headers: Value = answer.headers.iter().map(|(name, value)| (name.to_lowercase(), json!(value))).collect();
        assert_eq!(difference(Extent::Named, &headers, &headers_of(&answered)), None, "{told}");
        if answer.body.is_empty() {
            continue;
        }
        let body: Value = serde_json::from_str(answer.body).unwrap_or_else(|error| panic!("{error}: {}", answer.body));
        assert_eq!(difference(Extent::Named, &body, &answered.json()), None, "{told}");
    }
}
