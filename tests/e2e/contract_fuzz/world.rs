//! A server with ads of every category, version and state, and the tokens of different callers.

use ad_core::{
    categories::{self, TRAILER},
    model::ApiVersion,
};
use ad_tests::{Answer, Client, ImageHost, Server, run};
use fastrand::Rng;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{
    mutate::pick,
    requests::{Caller, Request},
};
use crate::openapi::Contract;

/// Trailers of each version: nobody can create them, so they are there from the beginning.
const TRAILERS: usize = 40;

/// An ad that the server has.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) source_id: String,
    pub(super) category_id: u64,
    pub(super) version: String,
}

pub(super) struct World {
    pub(super) contract: Contract,
    /// The contract of answers with some fields.
    of_some_fields: Contract,
    pub(super) rng: Rng,
    pub(super) ads: Vec<Known>,
    /// Imported ads that nobody has touched.
    pub(super) trailers: Vec<Known>,
    /// The ad that the next request is about.
    pub(super) ready: Option<Known>,
    pub(super) ids: Vec<String>,
    /// The last request that created an ad.
    pub(super) request_id: String,
    /// Id of an existing webhook.
    pub(super) webhook_id: String,
    pub(super) plan_id: String,
    pub(super) promotion_id: String,
    /// An event that the webhook has a delivery of.
    pub(super) event_id: String,
    images: ImageHost,
    clients: Vec<(Caller, Client)>,
    count: usize,
    server: Server,
}

impl World {
    pub(super) async fn start(seed: u64) -> Self {
        let (server, images) = (Server::start().await, ImageHost::start().await);
        let contract = Contract::with_examples(&server).await;
        let mut clients = vec![(Caller::Dealer, server.client.clone())];
        for (caller, args) in [
            (Caller::Reader, &["--dealer-code", "north-cars", "--permissions", "read"][..]),
            (Caller::Writer, &["--dealer-code", "north-cars", "--permissions", "write"]),
            (Caller::Group, &["--dealer-group", "north"]),
        ] {
            clients.push((caller, server.client_of(args).await));
        }
        clients.push((Caller::Nobody, server.client.with_token(None)));
        clients.push((Caller::Stranger, server.client.with_token(Some("not.a.token".to_owned()))));
        let rng = Rng::with_seed(seed);
        let mut world = Self {
            of_some_fields: contract.of_some_fields(),
            contract,
            rng,
            ads: Vec::new(),
            trailers: Vec::new(),
            ready: None,
            ids: Vec::new(),
            request_id: String::new(),
            webhook_id: String::new(),
            plan_id: String::new(),
            promotion_id: String::new(),
            event_id: String::new(),
            images,
            clients,
            count: 0,
            server,
        };
        world.import_trailers().await;
        for version in [ApiVersion::V3, ApiVersion::V4] {
            for category in categories::all().filter(|it| it.is_in(version) && it.id != TRAILER) {
                for _ in 0..3 {
                    world.create_one(category.id, version.name()).await;
                }
            }
        }
        world
    }

    async fn import_trailers(&mut self) {
        let mut lines = String::new();
        for version in ["v3", "v4"] {
            for _ in 0..TRAILERS {
                let source_id = self.fresh_source_id();
                // With the plate of the examples, for it is fixed, and listed, so that it can be bumped.
                let trailer = json!({"source_id": source_id, "dealer_code": "north-cars", "category_id": TRAILER, "api_version": version,
                    "marketplace_ad_id": format!("listing-of-{source_id}"),
                    "category_fields": {"brand": "brenderup", "model_year": 2015, "registration_number": "TRL21A"}});
                lines.extend([trailer.to_string(), "\n".to_owned()]);
                let known = Known { source_id, category_id: u64::from(TRAILER), version: version.to_owned() };
                self.ads.push(known.clone());
                self.trailers.push(known);
            }
        }
        let dir = self.server.dir();
        std::fs::write(dir.join("trailers.ndjson"), lines).unwrap();
        let output = run(dir, &["ads", "import", "trailers.ndjson"]).await;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// What describes the answer to a request.
    pub(super) fn contract_of(&self, request: &Request) -> &Contract {
        if request.path.contains("fields=") { &self.of_some_fields } else { &self.contract }
    }

    /// Creates an ad of a category from its example.
    pub(super) async fn create_one(&mut self, category_id: u16, version: &str) -> Option<Known> {
        let category = categories::by_id(category_id).unwrap();
        let creates = self.contract.examples("Create").into_iter();
        let mut of_version = creates.filter(|(of, _)| of.starts_with("V3") == (version == "v3"));
        let (_, example) = of_version.find(|(_, payload)| payload["category_id"] == category_id).unwrap();
        let mut payload = example.clone();
        payload["source_id"] = json!(self.fresh_source_id());
        payload["image_urls"] = json!([self.images.url("1.jpg")]);
        let path =
            if version == "v3" { "/v3/ad".to_owned() } else { format!("/v4/{}", category.vehicle_type.unwrap()) };
        let answer = self.clients[0].1.post(&path, &payload).await;
        answer.expect(201);
        self.knows(&answer);
        answer.header("x-request-id").unwrap_or_default().clone_into(&mut self.request_id);
        self.ads.last().cloned()
    }

    /// The id of a webhook: one that is there, or else a new one.
    pub(super) async fn webhook(&self) -> String {
        let client = &self.clients[0].1;
        let list = client.get("/v4/webhooks?limit=1").await.expect(200);
        let id = |webhook: &serde_json::Value| webhook["id"].as_str().map(str::to_owned);
        match id(&list["results"][0]) {
            Some(id) => id,
            None => {
                id(&client.post("/v4/webhooks", &json!({"url": "https://example.com/hook"})).await.expect(201)).unwrap()
            }
        }
    }

    /// The id of a promotion schedule. Those that were made before are deleted when there are many.
    pub(super) async fn promotion(&self) -> String {
        let (client, path) = (&self.clients[0].1, "/v4/promotions");
        let list = client.get(&format!("{path}?limit=500")).await.expect(200);
        let ids: Vec<_> = list["results"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        if ids.len() > 80 {
            for id in &ids {
                client.delete(&format!("{path}/{id}")).await.expect(200);
            }
        } else if let Some(id) = ids.first() {
            return (*id).to_owned();
        }
        let made = client.post(path, self.contract.example("PromotionInput")).await.expect(201);
        made["id"].as_str().unwrap().to_owned()
    }

    /// The id of a stock plan that is ready. Those that were made before end, because a dealer has a few of them only.
    pub(super) async fn plan(&self) -> String {
        let (client, path) = (&self.clients[0].1, "/v4/stock/plans");
        let list = client.get(path).await.expect(200);
        for plan in list["results"].as_array().unwrap() {
            client.delete(&format!("{path}/{}", plan["id"].as_str().unwrap())).await.expect(200);
        }
        let stock = self.contract.example("Stock").to_string().into_bytes();
        let wait = [("prefer", "wait=30".to_owned())];
        let plan = client.send_with(Method::POST, path, &wait, Some(stock)).await.expect(200);
        plan["id"].as_str().unwrap().to_owned()
    }

    /// The id of an event that the webhook has a delivery of.
    pub(super) async fn delivered_event(&self) -> String {
        let (client, path) = (&self.clients[0].1, format!("/v4/webhooks/{}", self.webhook_id));
        client.patch(&path, &json!({"enabled": true})).await.expect(200);
        let delivery = client.post(&format!("{path}/test"), &json!({})).await.expect(200);
        delivery["event_id"].as_str().unwrap().to_owned()
    }

    pub(super) fn fresh_source_id(&mut self) -> String {
        self.count += 1;
        format!("{:05}-fuzz", self.count)
    }

    pub(super) async fn send(&self, request: &Request) -> Answer {
        let (_, client) = self.clients.iter().find(|(caller, _)| *caller == request.caller).unwrap();
        let body = request.body.clone();
        let wait = [("prefer", "wait=30".to_owned())];
        let headers = if request.waits { &wait[..] } else { &[] };
        client.send_with(request.method.clone(), &request.path, headers, body).await
    }

    /// What an answer tells about the ads that there are.
    pub(super) fn learn(&mut self, request: &Request, answer: &Answer) {
        if answer.status == StatusCode::CREATED || (answer.status == StatusCode::OK && request.method != Method::GET) {
            self.knows(answer);
        }
    }

    fn knows(&mut self, answer: &Answer) {
        let ad = answer.json();
        let (Some(source_id), Some(version)) = (ad["source_id"].as_str(), ad["api_version"].as_str()) else { return };
        let known = Known {
            source_id: source_id.to_owned(),
            category_id: ad["category_id"].as_u64().unwrap(),
            version: version.to_owned(),
        };
        self.ids.extend(ad["id"].as_str().map(str::to_owned));
        match self.ads.iter_mut().find(|ad| ad.source_id == source_id) {
            Some(ad) => *ad = known,
            None => self.ads.push(known),
        }
    }

    /// One of the latest ads for which this holds; the older are used up.
    pub(super) fn known(&mut self, holds: impl Fn(&Known) -> bool) -> Option<Known> {
        let fitting: Vec<_> = self.ads.iter().rev().filter(|ad| holds(ad)).take(6).cloned().collect();
        (!fitting.is_empty()).then(|| pick(&mut self.rng, &fitting).clone())
    }
}
