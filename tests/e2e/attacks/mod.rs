//! Attacks and failures that one dealer must not feel when another causes them (or nobody does), against running servers.

mod bodies;
mod connections;
mod further;
mod images;
mod reads;
mod terminal;
mod tokens;
mod writes;

use std::{net::SocketAddr, time::Duration};

use ad_tests::{Client, Options, Seen, Server};

fn options(args: &[&str]) -> Options {
    Options { args: args.iter().map(|arg| (*arg).to_owned()).collect(), ..Options::default() }
}

/// Another dealer at another address than everyone else.
async fn other_dealer(server: &Server) -> Client {
    server.client_of(&["--dealer-code", "south-cars"]).await.from_address([127, 0, 0, 2].into())
}

fn address(server: &Server) -> SocketAddr {
    server.client.base.split_once("://").unwrap().1.parse().unwrap()
}

/// The other dealer saw no failure, and waited for half of its answers less than this. The longest times are the machine's as
/// much as the server's, which share it with the attack and with other tests; a benchmark measures them.
fn assert_undisturbed(what: &str, seen: &Seen, half: Duration) {
    println!("{what}: {seen}");
    assert!(seen.failures.is_empty() && seen.posts.count() > 0 && seen.gets.count() > 0, "{seen}");
    assert!(seen.posts.quantile(0.5) < half && seen.gets.quantile(0.5) < half, "{seen}");
}
