//! A TCP proxy whose connections can fall silent, as those do behind which a host or a firewall has vanished.

use std::net::SocketAddr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

/// Forwards to an address. It ends with the value.
#[derive(Debug)]
pub struct SilentProxy {
    pub address: SocketAddr,
    to: watch::Sender<SocketAddr>,
    /// How often connections have fallen silent, and whether new ones do so too.
    silence: watch::Sender<(u64, bool)>,
    _tasks: JoinSet<()>,
}

impl SilentProxy {
    /// A proxy on a free port.
    ///
    /// # Panics
    /// When no port is free.
    pub async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let (to, target) = watch::channel(to);
        let (silence, silenced) = watch::channel((0, false));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let to = *target.borrow();
                connections.spawn(forward(client, to, silenced.clone()));
            }
        });
        Self { address, to, silence, _tasks: tasks }
    }

    /// New connections lead to another address.
    pub fn lead_to(&self, to: SocketAddr) {
        self.to.send_replace(to);
    }

    /// From now on nothing is forwarded on the present connections, which stay open.
    pub fn silence(&self) {
        self.silence.send_modify(|(times, _)| *times += 1);
    }

    /// The same, also for new connections, until [`Self::recover`].
    pub fn silence_all(&self) {
        self.silence.send_modify(|(times, all)| (*times, *all) = (*times + 1, true));
    }

    /// New connections work again.
    pub fn recover(&self) {
        self.silence.send_modify(|(_, all)| *all = false);
    }
}

async fn forward(mut client: TcpStream, to: SocketAddr, mut silenced: watch::Receiver<(u64, bool)>) {
    let (times, all) = *silenced.borrow();
    if !all {
        let Ok(mut server) = TcpStream::connect(to).await else { return };
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => return,
            _ = silenced.wait_for(|(now, _)| *now > times) => {}
        }
        std::future::pending::<()>().await;
        drop(server);
    }
    std::future::pending::<()>().await;
}
