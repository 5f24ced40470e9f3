//! Searching for parts of texts: the condition of a list, and the task that keeps the index of trigrams behind it.
//!
//! Texts lie in `texts`, those of a dealer side by side. The index proposes the texts of the dealer in which each
//! trigram of a term occurs somewhere, and the text itself decides; so a list is exact whatever the index makes of a
//! character. Indexing a text costs more than storing it and is done a moment later, many together. Until then the text
//! is proposed to every search of its dealer: lists are exact at once, also where the index lags far behind or nothing
//! fills it.

use std::time::Duration;

use ad_core::ports::Scope;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use super::writer::WeakWriter;
use crate::store::{
    Link, Sql, Statement, Work,
    lists::{Text, push_dealers},
};

/// Three characters of a private-use plane, before every text of a dealer: what numbers them is in `dealer`.
macro_rules! mark {
    () => {
        "char(1048576 + (dealer.number >> 20), 1048576 + (dealer.number >> 10 & 1023), 1048576 + (dealer.number & 1023))"
    };
}

/// The next texts of the queue: at most $1, and none after those that together have $2 bytes.
macro_rules! next {
    () => {
        "SELECT place FROM ( \
             SELECT place, sum(bytes) OVER (ORDER BY place ROWS UNBOUNDED PRECEDING) - bytes AS bytes_before \
             FROM (SELECT place, coalesce(octet_length(search), 0) AS bytes \
                   FROM unindexed LEFT JOIN texts USING (place) ORDER BY place LIMIT $1) \
         ) WHERE bytes_before < $2"
    };
}

/// 1 how many, 2 bytes. Brings texts into the index, those of a dealer together.
///
/// The savepoint has the index write to its tables now. Otherwise it does so at the beginning of a later statement of the same
/// commit, somebody else's, whose `changes()` then counts what the index wrote: a write on an old revision would be accepted.
pub(in crate::store) const INDEX_TEXTS: Sql = Sql::plain(concat!(
    "INSERT OR REPLACE INTO trigrams (rowid, text) \
     SELECT place, ",
    mark!(),
    " || search || char(10) || texts.source_id \
     FROM (",
    next!(),
    ") JOIN texts USING (place) JOIN dealer_numbers AS dealer ON dealer.number = place >> 40 ORDER BY place; \
     SAVEPOINT indexed; RELEASE indexed; \
     DELETE FROM unindexed WHERE place IN (",
    next!(),
    ")"
));

/// Texts that the index does not know as they are.
pub(in crate::store) const UNINDEXED: Sql = Sql::plain("SELECT count(*) FROM unindexed");

/// The part of a place that is the ad's number.
const SEQ: i64 = (1 << 40) - 1;

/// Adds the condition that a text contains a part; both are in lower case.
pub(in crate::store) fn push_contains(sql: &mut Statement, scope: Scope<'_>, text: Text, part: &str) {
    // The sign keeps the database from reading ads one by one: it walks the index that has the order of the list.
    sql.push("+seq IN (");
    if let Some(trigrams) = trigrams(part) {
        push_proposed(sql, "trigrams.rowid", "trigrams");
        sql.push(concat!("trigrams MATCH '\"' || ", mark!(), " || '\" ' || ")).push_bind(trigrams).push(" AND ");
        push_decided(sql, scope, text, part);
        sql.push(" UNION ALL ");
        push_proposed(sql, "unindexed.place", "unindexed");
    } else {
        push_proposed(sql, "texts.place", "");
    }
    push_decided(sql, scope, text, part);
    sql.push(")");
}

/// Begins a select of the places of a dealer that something proposes; the joins are made in this order.
fn push_proposed(sql: &mut Statement, place: &str, by: &str) {
    sql.push(format_args!("SELECT texts.place & {SEQ} FROM dealer_numbers AS dealer CROSS JOIN "));
    if !by.is_empty() {
        sql.push(format_args!("{by} CROSS JOIN "));
    }
    sql.push(format_args!(
        "texts WHERE texts.place = {place} \
         AND {place} BETWEEN dealer.number << 40 AND (dealer.number << 40) + {SEQ} AND "
    ));
}

/// Ends it with whose texts they are, and whether they contain the part.
fn push_decided(sql: &mut Statement, scope: Scope<'_>, text: Text, part: &str) {
    push_dealers(sql, "dealer.dealer_code", scope);
    // Not `instr`, whose time grows with the product of both lengths. A pattern without special characters is searched for
    // in linear time.
    sql.push(" AND ").push(text.column()).push(" REGEXP ").push_bind(regex::escape(part));
}

/// Most trigrams of a term that the index is asked for; more would cost more than they rule out.
const MOST_TRIGRAMS: usize = 6;

/// A term as a question to the index: trigrams from all over the term. None if it has not even one.
fn trigrams(term: &str) -> Option<String> {
    // As the tokenizer has it, which skips NUL.
    let characters: Vec<char> = term.chars().filter(|character| *character != '\0').collect();
    let last = characters.len().checked_sub(3)?;
    let asked = MOST_TRIGRAMS.min(last + 1);
    let quoted = (0..asked).map(|number| {
        let start = if asked > 1 { number * last / (asked - 1) } else { 0 };
        let trigram: String = characters[start..start + 3].iter().collect();
        format!("\"{}\"", trigram.replace('"', "\"\""))
    });
    Some(quoted.collect::<Vec<_>>().join(" "))
}

/// Most texts that are brought into the index in one go, and their bytes. They bound how long writes wait for it: a few
/// milliseconds, and about 15 ms for the longest text.
const BATCH: (i64, i64) = (64, 32 * 1024);
/// Between a write and indexing it, so that what is written meanwhile shares a batch.
const GATHER: Duration = Duration::from_millis(50);
/// While others write, indexing takes one in so many parts of the time.
const SHARE: u32 = 16;
/// Before indexing is tried again when it failed.
const AGAIN: Duration = Duration::from_secs(1);

/// How often it is looked for texts that another process has written.
const POLL: Duration = Duration::from_secs(5);

/// Brings new texts into the index, from the first time that it is told that there are some until the database is closed.
pub(super) async fn keep_indexed(writer: WeakWriter, mut written: mpsc::Receiver<()>) {
    let mut told = written.recv().await;
    while told.is_some() && index_all(&writer, &mut written).await.is_some() {
        told = timeout(POLL, written.recv()).await.unwrap_or(Some(()));
    }
}

/// Brings what there is into the index. None when the database is closed.
async fn index_all(writer: &WeakWriter, written: &mut mpsc::Receiver<()>) -> Option<()> {
    let mut pause = Some(GATHER);
    while let Some(time) = pause {
        sleep(time).await;
        let writer = writer.upgrade()?;
        let indexed = writer.run(IndexBatch).await;
        let is_busy = written.try_recv().is_ok();
        pause = match indexed {
            Ok((_, took)) if is_busy => Some(GATHER.max(took * (SHARE - 1))),
            Ok((texts, _)) => (texts > 0).then_some(Duration::ZERO),
            Err(error) => {
                tracing::warn!(%error, "texts cannot be indexed; searching is slower until they are");
                Some(AGAIN)
            }
        };
    }
    Some(())
}

/// Brings one batch into the index; returns how many texts, and how long it kept the writer.
struct IndexBatch;

impl Work for IndexBatch {
    type Answer = (u64, Duration);

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<(u64, Duration)> {
        let start = Instant::now();
        let indexed = link.run(&Statement::new(INDEX_TEXTS).bind(BATCH.0).bind(BATCH.1)).await?;
        Ok((indexed.changed, start.elapsed()))
    }
}

#[cfg(test)]
mod tests {
    use super::trigrams;

    #[test]
    fn a_term_is_asked_for_by_trigrams_from_all_over_it() {
        assert_eq!(trigrams("ab"), None);
        assert_eq!(trigrams("a\0b"), None);
        assert_eq!(trigrams("åäö").unwrap(), "\"åäö\"");
        assert_eq!(trigrams("a\"b*").unwrap(), "\"a\"\"b\" \"\"\"b*\"");
        assert_eq!(trigrams("0123456789").unwrap(), "\"012\" \"123\" \"234\" \"456\" \"567\" \"789\"");
    }
}
