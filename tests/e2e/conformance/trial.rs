//! One rule on trial: sends its requests, compares the answers, and keeps what was found.

use std::sync::{Arc, Mutex};

use ad_tests::Answer;
use serde_json::{Value, json};

use super::{
    pattern::{Extent, difference, laid_over},
    request::{Request, Who, ad, post},
    rule::{Case, Rule},
    world::World,
};

/// What a trial came to.
#[derive(Debug, Default, Clone)]
pub(super) struct Findings {
    /// Cases in which something is accepted.
    pub(super) accepting: usize,
    /// Cases in which something is refused.
    pub(super) refusing: usize,
    /// What is not as the rule says.
    pub(super) failures: Vec<String>,
}

/// The trial of one rule.
pub(super) struct Trial {
    pub(super) world: Arc<World>,
    findings: Mutex<Findings>,
}

#[derive(Debug, Clone)]
pub(super) struct Accepted {
    pub(super) body: Value,
    /// The id that the log has for it.
    pub(super) request_id: String,
}

impl Trial {
    /// Holds a rule against the server.
    pub(super) async fn run(world: Arc<World>, rule: Rule) -> Findings {
        let trial = Arc::new(Self { world, findings: Mutex::default() });
        for Case { request, status, expected } in rule.accepting {
            trial.accepts(request, status, expected).await;
        }
        for Case { request, status, expected } in rule.refusing {
            trial.refuses(request, status, expected).await;
        }
        for Case { request, status, expected } in rule.headers {
            trial.answers(&request, status, &expected).await;
        }
        for scenario in rule.scenarios {
            let on_trial = Arc::clone(&trial);
            if let Err(error) = tokio::spawn(async move { scenario(&on_trial).await }).await {
                let said = error.into_panic();
                let said = said.downcast_ref::<String>().map_or("a scenario gave up", String::as_str);
                trial.fails(said.to_owned());
            }
        }
        trial.findings().clone()
    }

    fn findings(&self) -> std::sync::MutexGuard<'_, Findings> {
        self.findings.lock().expect("nothing panics while it holds the findings")
    }

    fn fails(&self, failure: String) {
        self.findings().failures.push(failure);
    }

    /// Sends a request and says nothing about the answer. `{trailer v4}` in its path is a trailer of its own.
    pub(super) async fn send(&self, request: &Request) -> Answer {
        let mut path = request.path.clone();
        for (mark, version) in [("{trailer v3}", "v3"), ("{trailer v4}", "v4")] {
            if path.contains(mark) {
                path = path.replace(mark, &self.world.trailer(version));
            }
        }
        let client = self.world.client(request.who);
        client.send_with(request.method.clone(), &path, &request.headers, request.body.clone()).await
    }

    async fn answer(&self, request: &Request, status: u16, extent: Extent, expected: &Value) -> Answer {
        let answer = self.send(request).await;
        let body: Value = serde_json::from_slice(&answer.bytes).unwrap_or_default();
        let compared = if request.validates() && status == 200 { &body["ad"] } else { &body };
        if answer.status == status {
            if let Some(difference) = difference(extent, expected, compared) {
                self.fails(format!("{}\n    answered {status} {body}\n    {difference}", request.told()));
            }
        } else {
            let answered = format!("expected {status} {expected}\n    answered {} {body}", answer.status);
            self.fails(format!("{}\n    {answered}", request.told()));
        }
        answer
    }

    /// An accepting case: this status, and what is named of the answer (for validate: of its `ad`).
    pub(super) async fn accepts(&self, request: Request, status: u16, expected: Value) -> Accepted {
        self.findings().accepting += 1;
        self.also_accepts(request, status, expected).await
    }

    /// More of the same accepting case.
    pub(super) async fn also_accepts(&self, request: Request, status: u16, expected: Value) -> Accepted {
        let answer = self.answer(&request, status, Extent::Named, &expected).await;
        let request_id = answer.header("x-request-id").unwrap_or_default().to_owned();
        Accepted { body: serde_json::from_slice(&answer.bytes).unwrap_or_default(), request_id }
    }

    /// A refusing case: this status and exactly this body.
    pub(super) async fn refuses(&self, request: Request, status: u16, expected: Value) {
        self.findings().refusing += 1;
        self.answer(&request, status, Extent::Whole, &expected).await;
    }

    /// A case of headers, accepting or refusing by its status; of the headers, what is named is compared.
    pub(super) async fn answers(&self, request: &Request, status: u16, headers: &Value) -> Answer {
        let answer = self.send(request).await;
        {
            let mut findings = self.findings();
            *if status < 400 { &mut findings.accepting } else { &mut findings.refusing } += 1;
        }
        let differs = difference(Extent::Named, headers, &headers_of(&answer));
        if answer.status != status || differs.is_some() {
            let body = String::from_utf8_lossy(&answer.bytes);
            let answered = format!("answered {} {:?} {body}", answer.status, answer.headers);
            self.fails(format!("{}\n    expected {status} {headers}\n    {answered}\n    {differs:?}", request.told()));
        }
        answer
    }

    /// What was seen on the way of a case; of objects, what is named is compared.
    pub(super) fn sees(&self, what: &str, expected: &Value, actual: &Value) {
        if let Some(difference) = difference(Extent::Named, expected, actual) {
            self.fails(format!("{what}: {actual}\n    {difference}"));
        }
    }

    /// A source id that nobody else uses.
    pub(super) fn id(&self) -> String {
        format!("case-{}", self.world.number())
    }

    /// A licence plate that nobody else uses.
    pub(super) fn plate(&self) -> String {
        format!("C{:05}", self.world.number())
    }

    /// Creates an ad of a type and returns its source id and the answer. It stands for no case of its own.
    pub(super) async fn created(&self, vehicle_type: &str, over: &Value) -> (String, Accepted) {
        self.created_by(Who::North, vehicle_type, over).await
    }

    /// The same by somebody else.
    pub(super) async fn created_by(&self, who: Who, vehicle_type: &str, over: &Value) -> (String, Accepted) {
        let id = self.id();
        let body = self.new_ad(&id, &ad(vehicle_type, &json!({})), over);
        (id, self.sent(post(format!("/v4/{vehicle_type}"), &body).by(who)).await)
    }

    /// Creates an ad of V3.
    pub(super) async fn created_v3(&self, category: u16, over: &Value) -> String {
        let id = self.id();
        let body = self.new_ad(&id, &super::request::ad_of(category, &json!({})), over);
        self.sent(post("/v3/ad", &body)).await;
        id
    }

    fn new_ad(&self, id: &str, ad: &Value, over: &Value) -> Value {
        let plate = ad["category_fields"].get("registration_number").map(|_| self.plate());
        let mut body = laid_over(ad.clone(), &json!({"source_id": id}));
        if let Some(plate) = plate {
            body["category_fields"]["registration_number"] = json!(plate);
        }
        laid_over(body, over)
    }

    /// Sends what must be accepted for a case to begin.
    pub(super) async fn sent(&self, request: Request) -> Accepted {
        let answer = self.send(&request).await;
        assert!(answer.status.is_success(), "{}: {} {}", request.told(), answer.status, answer.json());
        let request_id = answer.header("x-request-id").unwrap_or_default().to_owned();
        Accepted { body: answer.json(), request_id }
    }

    /// Waits until an action of a request has ended, and returns its entry.
    pub(super) async fn ended(&self, id: &str, action: &str, accepted: &Accepted) -> Value {
        self.ended_for(Who::North, id, action, accepted).await
    }

    /// The same for somebody else's ad.
    pub(super) async fn ended_for(&self, who: Who, id: &str, action: &str, accepted: &Accepted) -> Value {
        self.world.client(who).ended(id, action, Some(&accepted.request_id)).await
    }

    /// A published ad of a type.
    pub(super) async fn published(&self, vehicle_type: &str, over: &Value) -> String {
        let (id, created) = self.created(vehicle_type, over).await;
        let entry = self.ended(&id, "publish", &created).await;
        assert_eq!(entry["state"], "done", "{entry}");
        id
    }

    /// A deleted ad of a type.
    pub(super) async fn deleted(&self, vehicle_type: &str) -> String {
        let (id, _) = self.created(vehicle_type, &json!({"visible": false})).await;
        let deletion = self.sent(super::request::delete(format!("/v4/ad/{id}"))).await;
        self.ended(&id, "delete", &deletion).await;
        id
    }

    /// An ad as it is now.
    pub(super) async fn read(&self, id: &str) -> Value {
        self.world.client(Who::North).ad(id).await
    }

    /// `action state` of the log entries of a request.
    pub(super) async fn steps(&self, id: &str, accepted: &Accepted) -> Value {
        let log = self.world.client(Who::North).log(id).await;
        let own: Vec<_> = log.into_iter().filter(|entry| entry["request_id"] == accepted.request_id).collect();
        json!(crate::payloads::steps(&own))
    }

    /// Whether one ad stands before another on a marketplace. Others come and go, the two stay as they are to each other.
    pub(super) async fn comes_first(&self, market: &str, one: &str, other: &str) -> bool {
        let listings = self.world.server.listings().await;
        let place = |id: &str| {
            let listing = listings.iter().find(|it| it["source_id"] == id && it["marketplace"] == market);
            listing.and_then(|listing| listing["position"].as_u64())
        };
        place(one).is_some() && place(one) < place(other)
    }

    /// The listings of an ad on the marketplaces.
    pub(super) async fn listings(&self, id: &str) -> Vec<Value> {
        self.world.server.listings().await.into_iter().filter(|listing| listing["source_id"] == id).collect()
    }
}

/// The headers of an answer; those of one name as one text.
pub(super) fn headers_of(answer: &Answer) -> Value {
    let text = |name| {
        let values = answer.headers.get_all(name).iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect::<Vec<_>>().join(", ")
    };
    answer.headers.keys().map(|name| (name.as_str().to_owned(), Value::String(text(name)))).collect()
}
