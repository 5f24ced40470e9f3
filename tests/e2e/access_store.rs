//! What every database has to do with links that sign in to the console, and with its sessions: in SQLite, and in PostgreSQL.

use ad_core::model::Page;
use ad_server::store::{AccessScope, Database, NewConsoleSession, NewSignInLink};
use futures_util::future::join_all;
use uuid::Uuid;

use crate::store_contract::{at, id};

macro_rules! on_both {
    ($($case:ident),+ $(,)?) => {
        mod in_sqlite {
            $(#[tokio::test] async fn $case() {
                let folder = tempfile::tempdir().unwrap();
                let url = format!("sqlite://{}", folder.path().join("ads.db").display());
                super::$case(&super::Database::open(&url).await.unwrap()).await;
            })+
        }
        mod in_postgres {
            $(#[tokio::test] async fn $case() {
                if let Some(server) = ad_tests::Postgres::shared().await {
                    super::$case(&super::Database::open(&server.database().await).await.unwrap()).await;
                }
            })+
        }
    };
}

on_both!(
    a_link_is_used_once_by_however_many,
    a_link_that_is_late_or_withdrawn_is_of_no_use,
    a_scope_has_at_most_so_many_links,
    sessions_are_found_by_their_secret_and_end,
    the_sessions_that_were_used_least_recently_make_way,
    each_scope_sees_and_ends_its_own,
    what_has_expired_is_removed,
);

const NORTH: &str = "dealer_code north";
const ALL: Page = Page { limit: 100, offset: 0 };

async fn add_link(database: &Database, number: u128, scope: &str, hash: &str, at_most: u32) -> bool {
    let link = NewSignInLink {
        id: id(number),
        scope,
        permissions: &["read".to_owned(), "write".to_owned()],
        label: Some("Anna\0 å"),
        root: Some("token-1"),
        made_by: Some("Bo"),
        hash,
        now: at(1000),
        expires: at(5000),
    };
    database.add_sign_in_link(&link, at_most).await.unwrap()
}

async fn add_session(database: &Database, number: u128, scope: &str, hash: &str, now: i64) {
    let session = NewConsoleSession {
        id: id(number),
        scope,
        permissions: &["read".to_owned()],
        label: None,
        token: "token-1",
        hash,
        trusted: false,
        now: at(now),
        until: at(now + 100_000),
    };
    database.add_console_session(&session).await.unwrap();
}

async fn ids(database: &Database, scopes: &[&str], now: i64) -> Vec<Uuid> {
    let scopes: Vec<_> = scopes.iter().map(|&scope| scope.to_owned()).collect();
    let found = database.console_access(AccessScope::Of(&scopes), at(now), ALL).await.unwrap();
    assert_eq!(found.count, found.rows.len() as u64);
    found.rows.iter().map(|access| access.id).collect()
}

async fn a_link_is_used_once_by_however_many(database: &Database) {
    assert!(add_link(database, 1, NORTH, "link", 10).await);
    let link = database.sign_in_link("link", at(1500)).await.unwrap().unwrap();
    assert_eq!(
        (link.label.as_deref(), link.is_session, link.root.as_deref()),
        (Some("Anna\0 å"), false, Some("token-1"))
    );
    assert_eq!(database.console_session("link", at(1500)).await.unwrap(), None, "a link is no session");
    let hashes: Vec<_> = (0..16).map(|number| format!("session {number}")).collect();
    let attempts = hashes.iter().map(|hash| database.use_sign_in_link("link", hash, true, at(2000), at(90_000)));
    let used: Vec<_> = join_all(attempts).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(used.iter().flatten().count(), 1);
    let place = used.iter().position(Option::is_some).unwrap();
    let session = database.console_session(&hashes[place], at(80_000)).await.unwrap().unwrap();
    assert_eq!((session.id, session.is_session, session.trusted), (id(1), true, true));
    assert_eq!(
        (session.signed_in, session.expires, session.permissions),
        (Some(at(2000)), at(90_000), link.permissions)
    );
    for (other, hash) in hashes.iter().enumerate() {
        let found = database.console_session(hash, at(80_000)).await.unwrap();
        assert_eq!(found.is_some(), other == place);
    }
    assert_eq!(database.sign_in_link("link", at(2000)).await.unwrap(), None);
}

async fn a_link_that_is_late_or_withdrawn_is_of_no_use(database: &Database) {
    add_link(database, 1, NORTH, "late", 10).await;
    add_link(database, 2, NORTH, "withdrawn", 10).await;
    let own = [NORTH.to_owned()];
    let withdrawn = database.end_console_access(AccessScope::Of(&own), id(2), at(1100)).await.unwrap();
    assert_eq!(withdrawn.map(|it| it.id), Some(id(2)));
    assert_eq!(database.end_console_access(AccessScope::Of(&own), id(2), at(1100)).await.unwrap(), None);
    for (hash, now) in [("late", 5000), ("withdrawn", 1200), ("unknown", 1200)] {
        assert_eq!(database.sign_in_link(hash, at(now)).await.unwrap(), None, "{hash}");
        let used = database.use_sign_in_link(hash, "session", false, at(now), at(90_000)).await.unwrap();
        assert_eq!(used, None, "{hash}");
    }
}

async fn a_scope_has_at_most_so_many_links(database: &Database) {
    let hashes: Vec<_> = (0..8).map(|number| format!("link {number}")).collect();
    let adds = (1..).zip(&hashes).map(|(number, hash)| add_link(database, number, NORTH, hash, 3));
    assert_eq!(join_all(adds).await.into_iter().filter(|is_added| *is_added).count(), 3);
    assert!(add_link(database, 20, "dealer_code south", "south", 3).await, "another dealer has its own");
    let open = ids(database, &[NORTH], 1000).await;
    database.end_console_access(AccessScope::All, open[0], at(1000)).await.unwrap();
    assert!(add_link(database, 21, NORTH, "next", 3).await, "one that is withdrawn does not count");
}

async fn sessions_are_found_by_their_secret_and_end(database: &Database) {
    add_session(database, 1, NORTH, "one", 1000).await;
    let session = database.console_session("one", at(1500)).await.unwrap().unwrap();
    assert_eq!((session.token.as_deref(), session.last_used), (Some("token-1"), Some(at(1000))));
    database.touch_console_session(id(1), at(2000)).await.unwrap();
    database.touch_console_session(id(1), at(1900)).await.unwrap();
    let session = database.console_session("one", at(2000)).await.unwrap().unwrap();
    assert_eq!(session.last_used, Some(at(2000)));
    assert_eq!(database.console_session("one", at(101_000)).await.unwrap(), None, "it has expired");
    database.end_console_access(AccessScope::All, id(1), at(3000)).await.unwrap();
    assert_eq!(database.console_session("one", at(3000)).await.unwrap(), None);
}

async fn the_sessions_that_were_used_least_recently_make_way(database: &Database) {
    for (number, hash) in [(1, "one"), (2, "two"), (3, "three")] {
        add_session(database, number, NORTH, hash, 1000 + i64::try_from(number).unwrap()).await;
    }
    add_session(database, 9, "dealer_code south", "south", 1000).await;
    database.touch_console_session(id(1), at(2000)).await.unwrap();
    database.end_surplus_sessions(NORTH, at(2000), 2).await.unwrap();
    assert_eq!(ids(database, &[NORTH], 2000).await, [id(1), id(3)]);
    assert_eq!(ids(database, &["dealer_code south"], 2000).await, [id(9)]);
}

async fn each_scope_sees_and_ends_its_own(database: &Database) {
    add_link(database, 1, NORTH, "link", 10).await;
    add_session(database, 2, NORTH, "north", 1000).await;
    add_session(database, 3, "dealer_group north", "group", 1500).await;
    assert_eq!(ids(database, &[NORTH], 1600).await, [id(1), id(2)], "links first");
    assert_eq!(ids(database, &["dealer_group north", NORTH], 1600).await, [id(1), id(3), id(2)]);
    let all = database.console_access(AccessScope::All, at(1600), Page { limit: 2, offset: 1 }).await.unwrap();
    assert_eq!((all.count, all.rows.len()), (3, 2));
    let north = [NORTH.to_owned()];
    assert_eq!(database.end_console_access(AccessScope::Of(&north), id(3), at(1600)).await.unwrap(), None);
    assert!(database.console_session("group", at(1600)).await.unwrap().is_some());
}

async fn what_has_expired_is_removed(database: &Database) {
    add_link(database, 1, NORTH, "link", 10).await;
    add_session(database, 2, NORTH, "one", 1000).await;
    assert_eq!(database.remove_console_access(at(5000), 10).await.unwrap(), 0);
    assert_eq!(database.remove_console_access(at(5001), 10).await.unwrap(), 1);
    assert_eq!(database.remove_console_access(at(200_000), 10).await.unwrap(), 1);
}
