//! Processor time of reads of published ads in a server that is a process of its own, with that of its database: the rates of
//! the other rows include what the clients need, who share the cores.

use ad_tests::{Options, Postgres, Server};
use reqwest::{
    Method, Request, StatusCode,
    header::{HeaderValue, IF_NONE_MATCH},
};

use crate::{
    CONDITIONAL, PER_ROUND, ROUNDS,
    support::{client, median, rate},
    waiting::ServerCars,
};

/// Reads of one kind in one turn: processor time is known by hundredths of a second.
const READS: usize = 20_000;

/// Prints the processor time of a read with `If-None-Match` and of one without, in turns; returns how many bounds were missed.
pub(super) async fn compare(postgres: Option<&Postgres>) -> usize {
    let args = match postgres {
        Some(postgres) => vec!["--database-url".to_owned(), postgres.database().await],
        None => Vec::new(),
    };
    let server = Server::with(Options { args, ..Options::default() }).await;
    let cars = ServerCars::new(&server);
    let publish = |number| {
        let mut request = cars.post(number);
        request.headers_mut().insert("prefer", HeaderValue::from_static("wait=60"));
        request
    };
    rate((0..PER_ROUND).map(publish).collect()).await;
    let read = |number: usize| cars.request(Method::GET, &format!("/v4/ad/car-{}", number % PER_ROUND));
    let client = client();
    let mut tags = Vec::with_capacity(PER_ROUND);
    for number in 0..PER_ROUND {
        let ad = client.execute(read(number)).await.expect("the server answers");
        tags.push(ad.headers()["etag"].clone());
    }
    let read_unless = |number: usize| {
        let mut request = read(number);
        request.headers_mut().insert(IF_NONE_MATCH, tags[number % PER_ROUND].clone());
        request
    };
    for number in 0..PER_ROUND {
        let unchanged = client.execute(read_unless(number)).await.expect("the server answers");
        assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED, "all ads are published");
    }
    let processes: Vec<_> = [Some(server.pid()), postgres.map(Postgres::pid)].into_iter().flatten().collect();
    let mut turns = Vec::new();
    for _ in 0..ROUNDS {
        let unless = time_of(&processes, (0..READS).map(read_unless).collect()).await;
        turns.push((unless, time_of(&processes, (0..READS).map(read).collect()).await));
    }
    let (unless, plain) = (median(turns.iter().map(|turn| turn.0)), median(turns.iter().map(|turn| turn.1)));
    let ratio = median(turns.iter().map(|turn| turn.1 / turn.0));
    println!("{:<36}{:>12}{:>12}", "Processor time in the server", "with tag", "without");
    println!("{:<36}{unless:>12.1}{plain:>12.1}{ratio:>9.2}{CONDITIONAL:>9.2}", "GET with If-None-Match, µs");
    usize::from(ratio < CONDITIONAL)
}

/// Microseconds of processor time for each of these requests.
async fn time_of(processes: &[u32], requests: Vec<Request>) -> f64 {
    let count = f64::from(u32::try_from(requests.len()).unwrap_or(u32::MAX));
    let time = || processes.iter().map(|&pid| processor_time(pid)).sum::<f64>();
    let before = time();
    rate(requests).await;
    (time() - before) * 1000.0 / count
}

/// Milliseconds of processor time that a process and its children have needed so far (Linux).
pub(super) fn processor_time(pid: u32) -> f64 {
    let processes = std::fs::read_dir("/proc").expect("it runs on Linux");
    let times = processes.filter_map(|process| {
        let name = process.ok()?.file_name().into_string().ok()?;
        let (parent, time) = parent_and_time(&name)?;
        (name.parse() == Ok(pid) || parent == pid).then_some(time)
    });
    times.sum()
}

fn parent_and_time(pid: &str) -> Option<(u32, f64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind_name) = stat.rsplit_once(')')?;
    let fields: Vec<_> = behind_name.split_whitespace().collect();
    // Hundredths of a second for the program, for the system on its behalf, and the same of children that have ended.
    let ticks = fields.get(11..15)?.iter().filter_map(|ticks| ticks.parse::<f64>().ok());
    Some((fields[1].parse().ok()?, ticks.sum::<f64>() * 10.0))
}
