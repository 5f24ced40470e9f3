//! A small country: PostgreSQL, both marketplaces over HTTP, API processes and worker processes.

use ad_tests::{Client, Marketplace, Postgres};

use super::fleet::Fleet;

/// Everything; it ends with the value.
pub(super) struct Country {
    pub(super) postgres: Postgres,
    pub(super) marketplace: Marketplace,
    pub(super) fleet: Fleet,
    token: String,
}

impl Country {
    /// So many processes of each kind. None when PostgreSQL is not installed.
    pub(super) async fn start(apis: usize, workers: usize) -> Option<Self> {
        Self::start_with(apis, workers, Vec::new()).await
    }

    /// The same in an environment.
    pub(super) async fn start_with(apis: usize, workers: usize, env: Vec<(String, String)>) -> Option<Self> {
        let postgres = Postgres::start(&[]).await?;
        let url = postgres.database().await;
        let marketplace = Marketplace::start(&[]).await;
        let options = marketplace.options(&[
            // Patient enough for what is tried here.
            "--marketplace-within",
            "10m",
            "--marketplace-tries",
            "12",
            "--marketplace-timeout",
            "2s",
            "--marketplace-pause",
            "1s",
        ]);
        let api: &[&str] = &["serve", "--workers", "0"];
        let commands = [vec![api; apis], vec![&["worker"]; workers]].concat();
        let fleet = Fleet::start(&commands, &url, options.args, [options.env, env].concat()).await;
        let token = fleet.token(&["--dealer-code", "north-cars"]).await;
        Some(Self { postgres, marketplace, fleet, token })
    }

    /// A client of each API process.
    pub(super) fn clients(&self) -> Vec<Client> {
        self.fleet.clients(&self.token)
    }
}
