//! The attacker's side: its connections, its clock, and a tally of the answers.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use tokio::{
    net::{TcpSocket, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use crate::{
    connection::{Connection, Request},
    process::{Arguments, READY},
};

/// Number of connections of an attack.
pub(crate) const CONNECTIONS: usize = 64;
/// The attacker's address. The bystander has another, as another dealer has.
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
/// Pause before connecting again, so that a server that refuses is not replaced by a test of the loopback device.
const PAUSE: Duration = Duration::from_millis(10);

/// Whoever attacks. Clones share the tally.
#[derive(Clone)]
pub(crate) struct Attacker {
    server: SocketAddr,
    token: Arc<str>,
    time: Duration,
    released: watch::Receiver<bool>,
    end: Arc<OnceLock<Instant>>,
    tally: Arc<Mutex<BTreeMap<String, u64>>>,
}

/// Attacks as the arguments say, and prints the tally.
pub(crate) async fn run(arguments: &Arguments) {
    let attacker = Attacker {
        server: arguments.server,
        token: arguments.token.as_str().into(),
        time: arguments.time,
        released: released(),
        end: Arc::default(),
        tally: Arc::default(),
    };
    (arguments.attack.run)(attacker.clone()).await;
    for (answer, count) in attacker.tally.lock().expect("no attack panics").iter() {
        println!("{count} {answer}");
    }
    // The thread that reads stdin is not waited for.
    std::process::exit(0);
}

/// True once a line came on stdin. The process exits when it closes.
fn released() -> watch::Receiver<bool> {
    let (release, released) = watch::channel(false);
    std::thread::spawn(move || {
        for _ in io::stdin().lock().lines() {
            release.send_replace(true);
        }
        std::process::exit(1);
    });
    released
}

impl Attacker {
    /// Says that everything is prepared, and waits until the attack may begin.
    pub(crate) async fn begin(&self) {
        println!("{READY}");
        let mut released = self.released.clone();
        // The sender lives as long as the process.
        drop(released.wait_for(|released| *released).await);
        self.end.get_or_init(|| Instant::now() + self.time);
    }

    /// Does the same on so many connections at once until the time is over.
    pub(crate) async fn at_once<F>(&self, count: usize, work: impl Fn(Self, usize) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let end = *self.end.get().expect("an attack begins first");
        let mut tasks = JoinSet::new();
        for index in 0..count {
            let work = work(self.clone(), index);
            tasks.spawn(async move { drop(timeout_at(end, work).await) });
        }
        tasks.join_all().await;
    }

    /// On each of the connections sends one request after the other, the next as soon as there is an answer.
    pub(crate) async fn flood<R>(&self, request: R)
    where
        R: Fn(usize, usize) -> Request + Clone + Send + 'static,
    {
        self.flood_with_pauses(Duration::ZERO, request).await;
    }

    /// The same with a pause after each answer.
    pub(crate) async fn flood_with_pauses<R>(&self, pause: Duration, request: R)
    where
        R: Fn(usize, usize) -> Request + Clone + Send + 'static,
    {
        self.at_once(CONNECTIONS, |attacker, index| {
            let request = request.clone();
            async move {
                let mut connection = None;
                for number in 0.. {
                    attacker.send(&mut connection, &request(index, number)).await;
                    if !pause.is_zero() {
                        sleep(pause).await;
                    }
                }
            }
        })
        .await;
    }

    /// Sends a request on a connection, which is opened when there is none, and counts the answer.
    async fn send(&self, connection: &mut Option<Connection>, request: &Request) -> Option<u16> {
        let mut open = match connection.take() {
            Some(open) => open,
            None => self.open().await,
        };
        let Ok(answer) = open.ask(&request.bytes(&self.token)).await else {
            self.count("closed");
            sleep(PAUSE).await;
            return None;
        };
        self.count(&answer.status.to_string());
        if answer.keeps_open {
            *connection = Some(open);
        }
        Some(answer.status)
    }

    /// A connection; tries until there is one.
    pub(crate) async fn open(&self) -> Connection {
        Connection::new(self.connect(None).await)
    }

    /// A socket, with a receive buffer of a size; tries until there is one.
    pub(crate) async fn connect(&self, receive_buffer: Option<u32>) -> TcpStream {
        loop {
            match self.try_connect(receive_buffer).await {
                Ok(stream) => return stream,
                Err(_) => self.count("refused"),
            }
            sleep(PAUSE).await;
        }
    }

    async fn try_connect(&self, receive_buffer: Option<u32>) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        if let Some(size) = receive_buffer {
            socket.set_recv_buffer_size(size)?;
        }
        socket.set_nodelay(true)?;
        socket.bind((ADDRESS, 0).into())?;
        socket.connect(self.server).await
    }

    /// A request as it is sent.
    pub(crate) fn bytes(&self, request: &Request) -> Vec<u8> {
        request.bytes(&self.token)
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Counts an answer, or what happened instead.
    pub(crate) fn count(&self, answer: &str) {
        let mut tally = self.tally.lock().expect("no attack panics");
        match tally.get_mut(answer) {
            Some(count) => *count += 1,
            None => drop(tally.insert(answer.to_owned(), 1)),
        }
    }

    /// Before the attack: creates so many ads. What is refused for now is sent again.
    pub(crate) async fn prepare(&self, count: usize, request: impl Fn(usize) -> Request) {
        let mut connection = None;
        for number in 0..count {
            let request = request(number);
            loop {
                match self.send(&mut connection, &request).await {
                    Some(201) => break,
                    Some(status) if status < 500 && status != 429 => {
                        eprintln!("{} {}: {status}", request.method, request.path);
                        std::process::exit(1);
                    }
                    _ => sleep(PAUSE).await,
                }
            }
        }
        // The table shows the attack alone.
        self.tally.lock().expect("no attack panics").clear();
    }
}
