//! Lists of ads and logs, and lookups (interface, 'List parameters', 'Log parameters'; decisions 1, 2, 31).

use ad_core::{
    model::AdQuery,
    ports::{Scope, Store},
};
use ad_parameters::{AD_PARAMETERS, FromParameters};
use ad_server::store::{Database, DatabaseStore};
use ad_tests::{Postgres, Server, eventually};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};

use crate::{
    payloads::plain_car,
    store_contract::{ad, create},
};

async fn with_cars(count: usize) -> Server {
    let server = Server::start().await;
    for number in 0..count {
        server
            .client
            .post("/v4/car", &plain_car(&format!("car-{number}"), &format!("LST{number:03}")))
            .await
            .expect(201);
    }
    for number in 0..count {
        server.client.published(&format!("car-{number}")).await;
    }
    server
}

fn ids(page: &Value) -> Vec<&str> {
    page["results"].as_array().unwrap().iter().map(|ad| ad["source_id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn pages_follow_their_links_and_never_overlap() {
    let server = with_cars(7).await;
    let mut page = server.client.get("/v4/ad?limit=3&state=created&ordering=source_id").await.expect(200);
    let mut seen: Vec<String> = Vec::new();
    loop {
        assert_eq!(page["count"], 7);
        seen.extend(ids(&page).into_iter().map(str::to_owned));
        let Some(next) = page["next"].as_str().map(str::to_owned) else { break };
        let path = next.strip_prefix(&server.client.base).expect("links are absolute, on the request's host");
        page = server.client.get(path).await.expect(200);
        assert!(page["previous"].is_string());
    }
    assert_eq!(seen, (0..7).map(|number| format!("car-{number}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn filters_and_orderings_hold() {
    let server = with_cars(4).await;
    let first = server.client.ad("car-0").await;
    let text = |name: &str| first[name].as_str().unwrap().to_owned();
    for (query, expected) in [
        (String::new(), vec!["car-3", "car-2", "car-1", "car-0"]),
        ("ordering=created".to_owned(), vec!["car-0", "car-1", "car-2", "car-3"]),
        ("ordering=-source_id&limit=2".to_owned(), vec!["car-3", "car-2"]),
        ("offset=3".to_owned(), vec!["car-0"]),
        (format!("id={}", text("id")), vec!["car-0"]),
        ("source_id=car-1".to_owned(), vec!["car-1"]),
        ("source_id__in=car-1,car-3".to_owned(), vec!["car-3", "car-1"]),
        ("source_id__icontains=AR-2".to_owned(), vec!["car-2"]),
        ("registration_number=lst%20002".to_owned(), vec!["car-2"]),
        (format!("marketplace_ad_id={}", text("marketplace_ad_id")), vec!["car-0"]),
        ("category_id__in=1060,1020&dealer_code=north-cars&limit=1".to_owned(), vec!["car-3"]),
        ("category_id=1060".to_owned(), vec![]),
        ("state=deleted".to_owned(), vec![]),
        ("created__gt=2000-01-01 00:00:00&limit=1".to_owned(), vec!["car-3"]),
        ("updated__lt=2000-01-01T00:00:00Z".to_owned(), vec![]),
        (format!("created__lte={}", text("created")), vec!["car-0"]),
        ("search=2019&limit=1".to_owned(), vec!["car-3"]),
    ] {
        let page = server.client.get(&format!("/v4/car?{}", query.replace(' ', "%20"))).await.expect(200);
        assert_eq!(ids(&page), expected, "{query}");
    }
    assert_eq!(server.client.get("/v4/boat").await.expect(200)["count"], 0);
}

#[tokio::test]
async fn a_search_finds_the_text_of_the_last_update() {
    let server = with_cars(2).await;
    let search = async |term: &str| server.client.get(&format!("/v4/ad?search={term}")).await.expect(200);
    let update = json!({"body": "Äkta \"samlarobjekt\", 100% original"});
    server.client.patch("/v4/car/car-1", &update).await.expect(200);
    for term in ["%C3%84KTA%20%22SAMLAR", "100%25", "%25", "t%22,"] {
        assert_eq!(ids(&search(term).await), ["car-1"], "{term}");
    }
    server.client.patch("/v4/car/car-1", &json!({"body": "Renoveringsobjekt"})).await.expect(200);
    assert_eq!(search("samlarobjekt").await["count"], 0);
    assert_eq!(ids(&search("RENOVERINGSOBJEKT").await), ["car-1"]);
}

/// Texts that the index for searching does not know yet, as they are in the file.
async fn unindexed(server: &Server) -> i64 {
    let url = format!("sqlite://{}", server.dir().join("data/ads.db").display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    let count = sqlx::query_scalar("SELECT count(*) FROM unindexed").fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    count
}

#[tokio::test]
async fn after_a_kill_the_index_for_searching_catches_up() {
    let mut server = Server::start().await;
    let mut cars = 0;
    // Indexing begins a moment after a write, so a kill right behind one comes before it; on a slow day, not the first.
    while unindexed(&server).await == 0 {
        let car = plain_car(&format!("car-{cars}"), &format!("KIL{cars:03}"));
        server.client.post("/v4/car", &car).await.expect(201);
        server.kill().await;
        cars += 1;
        if unindexed(&server).await == 0 {
            server.restart().await;
        }
    }
    server.restart().await;
    let found = server.client.get("/v4/ad?source_id__icontains=CAR-").await.expect(200);
    assert_eq!(found["count"], cars, "nothing has to be waited for");
    eventually("every text is indexed", || async { (unindexed(&server).await == 0).then_some(()) }).await;
    let found = server.client.get("/v4/ad?source_id__icontains=CAR-").await.expect(200);
    assert_eq!(found["count"], cars);
}

#[tokio::test]
async fn fields_and_include_choose_what_comes_back() {
    let server = with_cars(1).await;
    let plain = server.client.get("/v4/ad").await.expect(200);
    assert_eq!(plain["results"][0].get("log"), None, "the log is left out unless asked for");
    let with_log = server.client.get("/v4/ad?include=log&fields=source_id,state").await.expect(200);
    let ad = with_log["results"][0].as_object().unwrap();
    assert_eq!(ad.keys().collect::<Vec<_>>(), ["log", "source_id", "state"]);
    assert_eq!(ad["log"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn the_whole_log_is_read_page_by_page() {
    let server = with_cars(1).await;
    for number in 0..30 {
        server.client.patch("/v4/car/car-0", &json!({"body": number.to_string()})).await.expect(200);
    }
    let last = server.client.patch("/v4/car/car-0", &json!({"body": "last"})).await;
    let last_id = last.header("x-request-id").unwrap().to_owned();
    server.client.ended("car-0", "publish", Some(&last_id)).await;
    let whole = server.client.get("/v4/ad/car-0/log?limit=500").await.expect(200);
    assert_eq!(whole["count"], 4 + 31 * 4);
    assert_eq!(whole["results"][0]["action"], "create", "oldest first");
    assert_eq!(server.client.log("car-0").await.len(), 100, "an ad comes with its latest 100");
    assert_eq!(server.client.log("car-0").await.last(), whole["results"].as_array().unwrap().last());
    let of_last =
        server.client.get(&format!("/v4/car/car-0/log?request_id={last_id}&ordering=-created")).await.expect(200);
    assert_eq!(of_last["count"], 4);
    assert_eq!(of_last["results"][0]["action"], "publish");
    let done = server.client.get("/v4/ad/car-0/log?action=publish&state=done&limit=1").await.expect(200);
    assert_eq!(done["count"], 32);
    assert!(done["next"].is_string());
}

#[tokio::test]
async fn lookups_give_ids_with_names() {
    let server = Server::start().await;
    let attributes = server.client.get("/v4/vehicles/car/attributes").await.expect(200);
    assert!(
        attributes.as_array().unwrap().contains(&json!({"id": "powertrain.fuels", "name": "Fuels"})),
        "{attributes}"
    );
    for (path, entry) in [
        ("/v4/vehicles/car/powertrain.fuels", json!({"id": "natural_gas", "name": "Natural gas"})),
        ("/v4/vehicles/car/brand", json!({"id": "volvo", "name": "Volvo"})),
        ("/v4/vehicles/car/models?brand=volvo", json!({"id": "xc60", "name": "XC60"})),
        ("/v4/vehicles/boat/brand", json!({"id": "nimbus", "name": "Nimbus"})),
    ] {
        let values = server.client.get(path).await.expect(200);
        assert!(values.as_array().unwrap().contains(&entry), "{path}");
    }
    for path in ["/v4/vehicles/plane/attributes", "/v4/vehicles/car/colour", "/v4/vehicles/boat/models"] {
        assert!(server.client.get(path).await.expect(404)["detail"].is_string(), "{path}");
    }
}

#[tokio::test]
async fn lists_of_values_take_commas_and_repeated_parameters() {
    let server = with_cars(3).await;
    let by_commas = "/v4/car?ordering=source_id&source_id__in=car-0,car-1,car-2&fields=source_id,state&limit=2";
    let repeated = "/v4/car?ordering=source_id&source_id__in=car-0&source_id__in=car-1,car-2&fields=source_id&fields=state&limit=2";
    let [by_commas, repeated] = [server.client.get(by_commas).await, server.client.get(repeated).await];
    let (by_commas, repeated) = (by_commas.expect(200), repeated.expect(200));
    assert_eq!(repeated["results"], by_commas["results"]);
    assert_eq!(repeated["results"][1], json!({"source_id": "car-1", "state": "created"}));
    let next = repeated["next"].as_str().unwrap().strip_prefix(&server.client.base).unwrap().to_owned();
    assert_eq!(
        server.client.get(&next).await.expect(200)["results"],
        json!([{"source_id": "car-2", "state": "created"}])
    );
    let once = server.client.get("/v4/car?state=created&state=deleted").await.expect(400);
    assert_eq!(once, json!({"state": ["Given more than once."]}));
}

#[tokio::test]
async fn an_unknown_parameter_names_what_others_call_so() {
    let server = Server::start().await;
    for (path, name, meant) in [
        ("/v4/car/1/bump?exclude_site=1", "exclude_site", "Did you mean \"exclude_primary\" or \"exclude_secondary\"?"),
        ("/v4/car?per_page=10", "per_page", "Did you mean \"limit\"?"),
        ("/v4/car?regnr=ABC123", "regnr", "Did you mean \"registration_number\"?"),
    ] {
        let errors = server.client.get(path).await.expect(400);
        assert_eq!(errors, json!({name: ["Unknown parameter.", meant]}));
    }
}

#[tokio::test]
async fn a_page_of_a_common_search_is_that_of_the_list() {
    let folder = tempfile::tempdir().unwrap();
    common_searches(&format!("sqlite://{}", folder.path().join("ads.db").display())).await;
    let Some(postgres) = Postgres::shared().await else { return };
    common_searches(&postgres.database().await).await;
}

async fn common_searches(url: &str) {
    let database = Database::open(url).await.unwrap();
    let store = DatabaseStore::new(database.clone());
    for number in 1..=20 {
        let dealer = if number % 4 == 0 { "south" } else { "north" };
        create(&store, &ad(number, dealer, &format!("t-{number}"))).await.unwrap();
    }
    let scope = Scope::Dealer("north");
    for ordering in ["created", "-created", "-updated", "source_id", "-source_id"] {
        for (term, offset) in [("volvo v60", 0), ("BIL", 3), ("v6", 6), ("v60 1", 0), ("volvo v60", 60)] {
            let parameters =
                [("search", term), ("ordering", ordering), ("limit", "4"), ("offset", &offset.to_string())];
            let parameters = parameters.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let query = AdQuery::parse(AD_PARAMETERS, &parameters).unwrap();
            let listed = store.list(scope, &query).await.unwrap();
            let page = database.common_search("north", &query, 3).await.unwrap().expect("the term is common");
            assert_eq!(page.rows, listed.rows, "{parameters:?}");
            assert_eq!(page.count, listed.count.min(offset + 5), "{parameters:?}");
            let most = u32::try_from(listed.count).unwrap();
            assert!(database.common_search("north", &query, most).await.unwrap().is_none(), "{parameters:?}");
        }
    }
    let all = AdQuery::default();
    assert!(database.common_search("north", &all, 0).await.unwrap().is_none(), "it searches nothing");
    let filtered = [("search", "volvo"), ("source_id", "t-3"), ("limit", "4")];
    let filtered =
        AdQuery::parse(AD_PARAMETERS, &filtered.map(|(name, value)| (name.to_owned(), value.to_owned()))).unwrap();
    let page = database.common_search("north", &filtered, 3).await.unwrap().unwrap();
    assert_eq!((page.count, page.rows[0].ad.source_id.as_str()), (1, "t-3"));
}
