//! Searching for parts of texts: the condition of a list, and the task that keeps the index of trigrams behind it.
//!
//! Texts lie in `texts`, those of a dealer side by side. The index proposes the texts of the dealer in which each
//! trigram of a term occurs somewhere, and the text itself decides; so a list is exact whatever the index makes of a
//! character. Indexing a text costs more than storing it and is done a moment later, many together. Until then the text
//! is proposed to every search of its dealer: lists are exact at once, also where the index lags far behind or nothing
//! fills it.

use std::time::Duration;

use ad_core::ports::{Scope, StoreError};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, timeout},
};

use super::{
    Columns, Database, Statement,
    lists::{Builder, push_dealers},
    rows::folded,
    sql,
    writer::WeakWriter,
};

/// A text that is searched.
#[derive(Debug, Clone, Copy)]
pub(super) enum Text {
    /// Title and body.
    Search,
    /// The client's reference.
    SourceId,
}

/// The part of a place that is the ad's number.
const SEQ: i64 = (1 << 40) - 1;

/// Adds the condition that a text contains a part, in any case. The database folds only ASCII by itself, so both sides
/// are folded before they get there.
pub(super) fn push_contains(sql: &mut Builder, scope: Scope<'_>, text: Text, part: &str) -> Result<(), StoreError> {
    let part = folded(part);
    // The sign keeps the database from reading ads one by one: it walks the index that has the order of the list.
    sql.push("+seq IN (");
    if let Some(trigrams) = trigrams(&part) {
        push_proposed(sql, "trigrams.rowid", "trigrams");
        sql.push(concat!("trigrams MATCH '\"' || ", sql::mark!(), " || '\" ' || ")).push_bind(trigrams).push(" AND ");
        push_decided(sql, scope, text, &part)?;
        sql.push(" UNION ALL ");
        push_proposed(sql, "unindexed.place", "unindexed");
    } else {
        push_proposed(sql, "texts.place", "");
    }
    push_decided(sql, scope, text, &part)?;
    sql.push(")");
    Ok(())
}

/// Begins a select of the places of a dealer that something proposes; the joins are made in this order.
fn push_proposed(sql: &mut Builder, place: &str, by: &str) {
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
fn push_decided(sql: &mut Builder, scope: Scope<'_>, text: Text, part: &str) -> Result<(), StoreError> {
    push_dealers(sql, "dealer.dealer_code", scope)?;
    let column = match text {
        Text::Search => "search",
        Text::SourceId => "source_id",
    };
    sql.push(format_args!(" AND instr(texts.{column}, ")).push_bind(part.to_owned()).push(") > 0");
    Ok(())
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

/// Texts that are brought into the index in one go. Bounds how long writes wait for it.
const BATCH: i64 = 256;
/// Between a write and indexing it, so that what is written meanwhile shares a batch.
const GATHER: Duration = Duration::from_millis(200);
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
        let start = Instant::now();
        let indexed = writer.run(Statement::new(sql::INDEX_TEXTS).bind(BATCH)).await;
        let is_busy = written.try_recv().is_ok();
        pause = match indexed {
            Ok(_) if is_busy => Some(GATHER.max(start.elapsed() * (SHARE - 1))),
            Ok(ran) => (ran.changed > 0).then_some(Duration::ZERO),
            Err(error) => {
                tracing::warn!(%error, "texts cannot be indexed; searching is slower until they are");
                Some(AGAIN)
            }
        };
    }
    Some(())
}

impl Database {
    /// Texts that are not in the index for searching yet. Lists find them all the same.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] when it cannot be read.
    pub async fn unindexed(&self) -> Result<u64, StoreError> {
        let rows = self.read(Statement::new(sql::UNINDEXED)).await?;
        let texts: i64 = rows.first().map_or(Ok(0), |row| Columns::of(row).value())?;
        Ok(u64::try_from(texts).unwrap_or_default())
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
