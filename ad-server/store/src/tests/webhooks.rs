//! Webhooks cost the same however many endpoints and deliveries there are: every statement goes by an index. And they have one owner.

use ad_core::{
    model::{DeliveryState, Event, EventPage, EventPosition, EventQuery},
    ports::Scope,
    service::Access,
};
use ad_tests::eventually;
use sqlx::Executor;

use super::{plans::explained_in_postgresql, *};
use crate::{
    sql::webhooks as sql,
    webhooks::{
        Attempt, DeliveryUpdate, DueDelivery, EndpointHealth, NewWebhook, Ownership, StoredSecret, Webhook,
        WebhookChange,
    },
};

/// Tables whose rows the tests add to.
const TABLES: [&str; 4] = ["webhooks", "deliveries", "log", "ads"];

/// Indexes of the few rows that are read as a whole.
const OF_FEW: [&str; 3] = ["deliveries_pending", "webhooks_deleted", "webhooks_changed"];

#[tokio::test]
async fn every_statement_goes_by_an_index() {
    let temporary = TestDatabase::open().await;
    let mut wrong = Vec::new();
    for (name, all) in sql::all() {
        for part in all.text(Dialect::Sqlite).as_str().split(';') {
            for step in explained(&temporary.database, &statement(part)).await {
                let scans = TABLES.iter().any(|table| step.starts_with(&format!("SCAN {table}")));
                // The newest ones, in the order of the index.
                let scans = scans && name != "NewestSecrets";
                if scans && !OF_FEW.iter().any(|index| step.contains(index)) {
                    wrong.push(format!("{name}: {step}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Endpoints of a few processes, most of them with deliveries that have ended.
const MANY: &str = "\
INSERT INTO webhook_owners SELECT CAST(lpad(to_hex(n), 32, '0') AS UUID), 4102444800000 FROM generate_series(1, 4) AS n; \
INSERT INTO webhooks (id, scope_type, scope, url, types, secrets, created, updated, disabled, transaction_id, ad, n, moves, owner) \
SELECT CAST(lpad(to_hex(n), 32, '0') AS UUID), 'dealer_code', 'd' || n % 2000, 'https://example.com/', '[]', '[]', n, n, \
    CASE WHEN n % 50 = 0 THEN 'gone' END, 0, 0, 0, 0, CAST(lpad(to_hex(n % 4 + 1), 32, '0') AS UUID) \
FROM generate_series(1, 5000) AS n; \
INSERT INTO deliveries (webhook, event_id, type, ad, n, state, created, next_attempt, tries, attempts) \
SELECT CAST(lpad(to_hex(n % 5000 + 1), 32, '0') AS UUID), 'evt_' || n, 'ad.publish.done', n % 5000 + 1, n / 5000 + 1, \
    CASE WHEN n % 100 = 0 THEN 'pending' ELSE 'delivered' END, n, n, 1, repeat('[]', 50) \
FROM generate_series(1, 100000) AS n; \
INSERT INTO ads (id, source_id, dealer_code, category_id, state, api_version, revision, intent, created, updated, image_refs, content) \
SELECT CAST(lpad(to_hex(n), 32, '0') AS UUID), 'car-' || n, 'd' || n % 2000, 1020, 'created', 'v4', 0, 'created', n, n, '[]', '{}' \
FROM generate_series(1, 5000) AS n; \
INSERT INTO log (ad, n, request_id, created, action, state, message, dealer_code) \
SELECT seq, n, id, created, 'publish', 'done', '\"Done\"', dealer_code FROM ads, generate_series(1, 21) AS n";

#[tokio::test]
async fn every_statement_goes_by_an_index_in_postgresql() {
    let Some(mut connection) = postgres_connection().await else { return };
    connection.execute(MANY).await.unwrap();
    connection.execute("VACUUM ANALYZE").await.unwrap();
    let mut wrong = Vec::new();
    for (name, statement) in sql::all() {
        for step in explained_in_postgresql(&mut connection, name, &statement).await {
            let scans = TABLES.iter().any(|table| step.contains(&format!("Seq Scan on {table} ")));
            // A process may own most of them.
            if scans && name != "TouchOwned" {
                wrong.push(format!("{name}: {step}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn new_webhook(number: u128) -> NewWebhook {
    NewWebhook {
        id: Uuid::from_u128(number),
        access: Access::Dealer("d1".to_owned()),
        url: "https://example.com/".to_owned(),
        types: Vec::new(),
        dealer_code: None,
        description: None,
        secret: StoredSecret { sealed: String::new(), until: None },
        created: at(0),
        position: EventPosition::default(),
    }
}

/// The endpoints that have changed for an owner, by their numbers; they are read then.
async fn changed(database: &Database, owner: Uuid) -> Vec<u128> {
    let changed = database.changed_webhooks(owner).await.unwrap();
    let read: Vec<_> = changed.iter().map(|changed| (changed.webhook.id, changed.changes)).collect();
    database.changes_read(owner, &read).await.unwrap();
    let mut ids: Vec<_> = changed.iter().map(|changed| changed.webhook.id.as_u128()).collect();
    ids.sort_unstable();
    ids
}

async fn owned_by_one_process(database: &Database) {
    let claim = async |owner: Uuid, now: i64, except: &[Uuid]| {
        let ownership = Ownership { owner, now: at(now), latest: at(now + 10) };
        database.renew_owner(owner, at(now + 10)).await.unwrap();
        database.claim_webhooks(ownership, except.iter(), 100).await.unwrap();
        changed(database, owner).await
    };
    let (one, other) = (Uuid::from_u128(1 << 64), Uuid::from_u128(2 << 64));
    for number in 1..=3 {
        assert!(database.add_webhook(&new_webhook(number), 10).await.unwrap());
    }
    assert_eq!(claim(one, 100, &[Uuid::from_u128(3)]).await, [1, 2]);
    assert_eq!(claim(other, 105, &[]).await, [3], "the others have an owner");
    assert_eq!(claim(one, 106, &[]).await, [0; 0], "nothing is read twice");

    // What clients change is read by its owner, and what changes meanwhile is read again.
    let change = async |number| {
        let change = WebhookChange { enabled: Some(false), ..WebhookChange::default() };
        database.change_webhook(Uuid::from_u128(number), &change, at(107)).await.unwrap();
    };
    change(1).await;
    let read = database.changed_webhooks(one).await.unwrap();
    change(1).await;
    database.changes_read(one, &[(read[0].webhook.id, read[0].changes)]).await.unwrap();
    assert_eq!((changed(database, one).await, changed(database, other).await), (vec![1], vec![]));
    let id = Uuid::from_u128(2);
    assert!(database.add_test(id, "evt_test_1", "webhook.test", at(107), 1).await.unwrap());
    assert_eq!(changed(database, one).await, [2]);
    assert!(!database.add_test(id, "evt_test_2", "webhook.test", at(107), 1).await.unwrap(), "one is pending");
    assert!(database.resend(id, "evt_test_1", at(107)).await.unwrap());
    assert!(!database.resend(id, "evt_test_2", at(107)).await.unwrap());
    assert_eq!(changed(database, one).await, [2]);
    database.delete_webhook(Uuid::from_u128(1), at(107)).await.unwrap();
    let deleted = database.changed_webhooks(one).await.unwrap();
    assert!(deleted[0].is_deleted && deleted.len() == 1, "{deleted:?}");
    assert_eq!(changed(database, one).await, [1]);

    // The time of the first is over, then that of the second, whose clock was ahead.
    assert_eq!(claim(other, 117, &[]).await, [2]);
    assert_eq!(claim(one, 50, &[]).await, [2, 3]);
    database.release_webhook(id, one).await.unwrap();
    assert_eq!(claim(other, 55, &[]).await, [2]);
    database.touch_owned(other).await.unwrap();
    assert_eq!(changed(database, other).await, [2]);
}

#[tokio::test]
async fn an_endpoint_has_one_owner_who_reads_what_changes() {
    owned_by_one_process(&TestDatabase::open().await.database).await;
}

#[tokio::test]
async fn an_endpoint_has_one_owner_who_reads_what_changes_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    owned_by_one_process(&Database::open(&server.database().await).await.unwrap()).await;
}

async fn added_deliveries_are_due_with_earlier_attempts(database: &Database) {
    let owner = Uuid::from_u128(1 << 64);
    let new = new_webhook(1);
    assert!(database.add_webhook(&new, 10).await.unwrap());
    database.renew_owner(owner, at(10)).await.unwrap();
    database.claim_webhooks(Ownership { owner, now: at(0), latest: at(10) }, [].iter(), 10).await.unwrap();
    let webhook = database.changed_webhooks(owner).await.unwrap().remove(0).webhook;
    let shown = |due: &DueDelivery| {
        let DueDelivery { seq, event_id, created, tries, attempts, event } = due;
        (*seq, event_id.clone(), *created, *tries, attempts.clone(), event.clone())
    };
    let check = async |added: &[DueDelivery]| {
        let read = database.due_deliveries(new.id, at(5), Vec::new(), 10).await.unwrap();
        let added: Vec<_> = added.iter().map(shown).collect();
        assert_eq!(added, read.iter().map(shown).collect::<Vec<_>>());
    };

    let store = DatabaseStore::new(database.clone());
    for number in [1, 2] {
        create(&store, number, &ad(number, 1)).await.unwrap();
    }
    let query = EventQuery { after: EventPosition::default(), types: Vec::new(), source_id: None, limit: 10 };
    // Events of PostgreSQL wait for transactions that began earlier, also those of other tests.
    let EventPage { events, position, .. } = eventually("both ads have an event", || async {
        Some(store.events(Scope::Dealer("d1"), &query).await.unwrap()).filter(|page| page.events.len() == 2)
    })
    .await;
    let add = async |webhook: &Webhook, owner, events: &[Event]| {
        database.add_deliveries(webhook, owner, events.to_vec(), position, at(3)).await.unwrap()
    };
    let added = add(&webhook, owner, &events).await.unwrap();
    assert_eq!(added.iter().map(|due| due.event.clone().unwrap()).collect::<Vec<_>>(), events);
    check(&added).await;
    assert!(add(&webhook, owner, &[]).await.unwrap().is_empty(), "the position alone is moved");

    let attempt = Attempt::unsent(at(4), "no answer");
    let attempts = vec![attempt.clone()];
    let attempted =
        DeliveryUpdate { seq: added[0].seq, state: DeliveryState::Delivered, next_attempt: at(4), attempts };
    assert!(database.record_attempts(new.id, owner, &[attempted], &EndpointHealth::default()).await.unwrap());
    database.replay_webhook(new.id, EventPosition::default()).await.unwrap();
    assert!(add(&webhook, owner, &events).await.is_none(), "a client has moved the position");
    let webhook = database.changed_webhooks(owner).await.unwrap().remove(0).webhook;
    assert!(add(&webhook, Uuid::from_u128(9), &events).await.is_none(), "another process owns the endpoint");
    let again = add(&webhook, owner, &events).await.unwrap();
    assert_eq!((again[0].seq, &again[0].attempts), (added[0].seq, &vec![attempt]), "it is the same delivery");
    check(&again).await;
}

#[tokio::test]
async fn added_deliveries_are_due_with_the_attempts_before_them() {
    added_deliveries_are_due_with_earlier_attempts(&TestDatabase::open().await.database).await;
}

#[tokio::test]
async fn added_deliveries_are_due_with_the_attempts_before_them_in_postgresql() {
    let Some(server) = ad_tests::Postgres::shared().await else { return };
    let database = Database::open(&server.database().await).await.unwrap();
    added_deliveries_are_due_with_earlier_attempts(&database).await;
}
