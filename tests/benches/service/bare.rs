//! What the service is held against: a bare handler that does as little as one can. A body in, one row, one commit; a row
//! out.

use std::{path::Path, time::Duration};

use bytes::Bytes;
use poem::{
    Endpoint, EndpointExt, Response, Route, Server, get, handler,
    listener::{Acceptor, Listener, TcpListener},
    post,
    web::{Data, Json, Path as UrlPath},
};
use reqwest::{Method, Request};
use serde_json::{Value, json};
use sqlx::{
    PgPool, SqlitePool,
    postgres::PgPoolOptions,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use super::{PER_ROUND, ROUNDS};
use crate::support::{CAR, with_body};

/// The bare handler on a port.
pub(super) struct Bare {
    base: String,
    body: String,
}

impl Bare {
    pub(super) async fn on_sqlite(folder: &Path) -> Self {
        let options = SqliteConnectOptions::new()
            .filename(folder.join("bare.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(30));
        // One connection that writes: several would only wait for each other's locks.
        let writer = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await.expect("it opens");
        sqlx::query("CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
            .execute(&writer)
            .await
            .expect("a table");
        let readers =
            SqlitePoolOptions::new().max_connections(4).connect_with(options.read_only(true)).await.expect("it opens");
        Self::serve(
            Route::new().at("/", post(store_in_sqlite.data(writer))).at("/:id", get(read_from_sqlite.data(readers))),
        )
        .await
    }

    /// With as many connections as the service has.
    pub(super) async fn on_postgres(url: &str) -> Self {
        let connections = ad_server::config::Settings::default().database_connections.get();
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .test_before_acquire(false)
            .connect(url)
            .await
            .expect("it answers");
        sqlx::query("CREATE TABLE bodies (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body TEXT NOT NULL)")
            .execute(&pool)
            .await
            .expect("a table");
        Self::serve(
            Route::new()
                .at("/", post(store_in_postgres.data(pool.clone())))
                .at("/:id", get(read_from_postgres.data(pool))),
        )
        .await
    }

    pub(super) async fn from_memory(bytes: Bytes) -> Self {
        Self::serve(Route::new().at("/", get(send.data(bytes)))).await
    }

    async fn serve(app: impl Endpoint<Output = Response> + 'static) -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port is free");
        let address = acceptor.local_addr()[0].as_socket_addr().copied().expect("it listens on TCP");
        tokio::spawn(Server::new_with_acceptor(acceptor).run(app));
        Self { base: format!("http://{address}"), body: CAR.to_owned() }
    }

    pub(super) fn post(&self) -> Request {
        with_body(Request::new(Method::POST, self.base.parse().expect("a URL")), self.body.clone())
    }

    pub(super) fn get_bytes(&self) -> Request {
        Request::new(Method::GET, self.base.parse().expect("a URL"))
    }

    pub(super) fn get(&self, number: usize) -> Request {
        let id = 1 + number % (ROUNDS * PER_ROUND);
        Request::new(Method::GET, format!("{}/{id}", self.base).parse().expect("a URL"))
    }
}

#[handler]
fn send(Data(bytes): Data<&Bytes>) -> Response {
    Response::builder().content_type("application/json").body(bytes.clone())
}

#[handler]
async fn store_in_sqlite(Data(pool): Data<&SqlitePool>, body: String) -> Json<Value> {
    let stored =
        sqlx::query("INSERT INTO bodies (body) VALUES ($1)").bind(body).execute(pool).await.expect("it is stored");
    Json(json!({"id": stored.last_insert_rowid()}))
}

#[handler]
async fn read_from_sqlite(Data(pool): Data<&SqlitePool>, UrlPath(id): UrlPath<i64>) -> String {
    sqlx::query_scalar("SELECT body FROM bodies WHERE id = $1").bind(id).fetch_one(pool).await.expect("it is there")
}

#[handler]
async fn store_in_postgres(Data(pool): Data<&PgPool>, body: String) -> Json<Value> {
    let id: i64 = sqlx::query_scalar("INSERT INTO bodies (body) VALUES ($1) RETURNING id")
        .bind(body)
        .fetch_one(pool)
        .await
        .expect("it is stored");
    Json(json!({"id": id}))
}

#[handler]
async fn read_from_postgres(Data(pool): Data<&PgPool>, UrlPath(id): UrlPath<i64>) -> String {
    sqlx::query_scalar("SELECT body FROM bodies WHERE id = $1").bind(id).fetch_one(pool).await.expect("it is there")
}
