//! The table, and what is out of bounds.

use std::time::Duration;

use ad_tests::{Latencies, Seen};

use crate::measure::Row;

/// Time from one request of a kind to the next, when they are answered at once.
const PACE: Duration = Duration::from_millis(20);
/// Most that a p99 may be.
const MOST: Duration = Duration::from_millis(50);
/// Most bytes of the server in memory.
const MEMORY: u64 = 400_000_000;

const HEADER: [&str; 12] =
    ["attack", "POST p50", "p99", "× quiet", "max", "GET p50", "p99", "× quiet", "max", "failed", "peak MB", "bounds"];

/// Prints the rows below the quiet latencies, then what the attackers were answered; returns how many are out of bounds.
pub(crate) fn print(database: &str, rows: &[Row]) -> usize {
    let mut quiet = Seen::default();
    for row in rows {
        quiet.posts.extend(&row.quiet.posts);
        quiet.gets.extend(&row.quiet.gets);
        quiet.failures.extend_from_slice(&row.quiet.failures);
    }
    let quiet = (Figures::of(&quiet.posts), Figures::of(&quiet.gets), quiet.failures.len());
    let mut lines = vec![HEADER.map(str::to_owned)];
    lines.push(line("none", &quiet, [1.0, 1.0], String::new(), String::new()));
    let mut over = 0;
    for row in rows {
        let seen = (Figures::of(&row.seen.posts), Figures::of(&row.seen.gets), row.seen.failures.len());
        let times = [seen.0.p99.div_duration_f64(quiet.0.p99), seen.1.p99.div_duration_f64(quiet.1.p99)];
        let beyond = beyond(row, &seen);
        over += usize::from(!beyond.is_empty());
        let verdict = if beyond.is_empty() { "ok".to_owned() } else { format!("**{}**", beyond.join(", ")) };
        lines.push(line(row.attack.name, &seen, times, (row.peak / 1_000_000).to_string(), verdict));
    }
    println!("\n{database}; times in ms\n");
    aligned(&lines);
    println!();
    for row in rows {
        let answers: Vec<_> = row.answers.iter().map(|(answer, count)| format!("{answer} × {count}")).collect();
        println!("- {}: {}; answers to the attacker: {}", row.attack.name, row.attack.about, answers.join(", "));
        if let Some(first) = row.seen.failures.first() {
            println!("  first failure of the bystander: {first}");
        }
    }
    over
}

/// Latencies of one kind of request.
struct Figures {
    p50: Duration,
    p99: Duration,
    max: Duration,
    count: usize,
}

impl Figures {
    fn of(latencies: &Latencies) -> Self {
        let steady = latencies.at_pace(PACE);
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|part| steady.quantile(part));
        Self { p50, p99, max, count: latencies.count() }
    }
}

/// What is out of bounds.
fn beyond(row: &Row, (posts, gets, failures): &(Figures, Figures, usize)) -> Vec<&'static str> {
    let slow = |figures: &Figures| figures.count == 0 || figures.p99 >= MOST;
    let all = [
        (!row.prepared, "not prepared"),
        (!row.survived, "server gone"),
        (slow(posts), "POST"),
        (slow(gets), "GET"),
        (*failures > 0, "failed"),
        (row.peak >= MEMORY, "memory"),
    ];
    all.into_iter().filter_map(|(is_beyond, name)| is_beyond.then_some(name)).collect()
}

fn line(
    name: &str,
    (posts, gets, failures): &(Figures, Figures, usize),
    times: [f64; 2],
    peak: String,
    verdict: String,
) -> [String; 12] {
    let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
    let [post, get] = [(posts, times[0]), (gets, times[1])].map(|(figures, times)| {
        if figures.count == 0 {
            return ["–"; 4].map(str::to_owned);
        }
        [ms(figures.p50), ms(figures.p99), format!("{times:.1}"), ms(figures.max)]
    });
    let [post_p50, post_p99, post_times, post_max] = post;
    let [get_p50, get_p99, get_times, get_max] = get;
    let failures = format!("{failures} of {}", posts.count + gets.count + failures);
    [
        name.to_owned(),
        post_p50,
        post_p99,
        post_times,
        post_max,
        get_p50,
        get_p99,
        get_times,
        get_max,
        failures,
        peak,
        verdict,
    ]
}

/// Prints a table of Markdown whose columns are aligned.
fn aligned(lines: &[[String; 12]]) {
    let widths: Vec<_> =
        (0..12).map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)).collect();
    for (number, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 || column == 11 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        println!("| {} |", cells.collect::<Vec<_>>().join(" | "));
        if number == 0 {
            let rules = widths.iter().map(|width| "-".repeat(*width));
            println!("|-{}-|", rules.collect::<Vec<_>>().join("-|-"));
        }
    }
}
