//! `PgBouncer` before a PostgreSQL server, with the configuration of the documentation.

use std::{fs, process::Stdio};

use tempfile::TempDir;
use tokio::{net::TcpStream, process::Child};

use crate::{
    Postgres, eventually, ports,
    postgres::{as_owner, own},
    tools::{self, Tool},
};

/// The configuration for operators.
const CONFIGURATION: &str = include_str!("../../docs/operations/pgbouncer.ini");

/// It ends with the value.
#[derive(Debug)]
pub struct Pooler {
    port: u16,
    _folder: TempDir,
    _process: Child,
}

impl Pooler {
    /// One with this mode and so many connections to the server for each database. `None` when it is not installed; that was said.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(postgres: &Postgres, mode: &str, connections: usize) -> Option<Self> {
        let program = tools::find(Tool::Program("pgbouncer"))?;
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        own(folder.path());
        let port = ports::lasting();
        let mut configuration = CONFIGURATION.to_owned();
        for (documented, tested) in [
            ("host=10.0.0.5 port=5432", format!("host=127.0.0.1 port={} user=ads", postgres.port())),
            ("listen_addr = 10.0.0.6", "listen_addr = 127.0.0.1".to_owned()),
            ("listen_port = 6432", format!("listen_port = {port}")),
            ("auth_type = scram-sha-256\nauth_file = /etc/pgbouncer/userlist.txt", "auth_type = any".to_owned()),
            ("pool_mode = session", format!("pool_mode = {mode}")),
            ("default_pool_size = 80", format!("default_pool_size = {connections}\nquery_wait_timeout = 3")),
        ] {
            assert!(configuration.contains(documented), "{documented}");
            configuration = configuration.replace(documented, &tested);
        }
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, configuration).expect("a temporary folder can be written");
        let mut command = tokio::process::Command::from(as_owner(&program));
        command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let process = command.spawn().expect("it can be started");
        eventually("PgBouncer listens", || async { TcpStream::connect(("127.0.0.1", port)).await.ok() }).await;
        Some(Self { port, _folder: folder, _process: process })
    }

    /// The address of a database of its server, through it.
    ///
    /// # Panics
    /// When this is not the address of a database.
    pub fn url(&self, direct: &str) -> String {
        let database = direct.rsplit('/').next().expect("the address of a database ends with its name");
        format!("postgres://ads@127.0.0.1:{}/{database}", self.port)
    }
}
