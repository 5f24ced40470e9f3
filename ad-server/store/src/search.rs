//! The conditions of a list that searches texts for a part, in any case, or ads for words.
//!
//! Words are found by an index of them ([`words`](super::words)). As to parts:
//!
//! In SQLite an index of trigrams ([`text`](super::sqlite::text)) proposes texts of the dealer, and the text itself decides: so
//! a list is exact, whatever the index makes of a character. Texts that are not indexed yet are always proposed. PostgreSQL reads
//! the texts of the dealer.

use ad_core::{
    model::{AdFilter, AdQuery},
    ports::Scope,
};

use super::{
    rows::folded,
    statement::{Dialect, Values},
    words::Words,
};

/// A condition that is decided by a table of its own.
#[derive(Debug, Clone)]
pub(super) enum Search {
    Text(TextSearch),
    Words(Words),
}

impl Search {
    /// All searches of a query. The words of several filters are one search.
    pub(super) fn all(query: &AdQuery) -> Vec<Self> {
        let texts = query.filters.iter().filter_map(TextSearch::of).map(Self::Text);
        texts.chain(Words::of(query).map(Self::Words)).collect()
    }

    pub(super) fn is_one(filter: &AdFilter) -> bool {
        matches!(filter, AdFilter::Words(_)) || TextSearch::of(filter).is_some()
    }

    /// The condition on an ad. In SQLite, the sign before `seq` keeps the database from reading ads one by one: it walks the index that
    /// has the order of the list.
    pub(super) fn condition(&self, values: &mut Values, scope: Scope<'_>) -> String {
        match values.dialect {
            Dialect::Sqlite => format!("+seq IN (\n    {}\n)", self.found(values, scope)),
            Dialect::Postgres => format!("seq IN (SELECT ad FROM {})", self.table()),
        }
    }

    /// The table of what was found, for PostgreSQL: it might otherwise search each text once for each ad. Texts of ads that fail the other
    /// conditions need not be read.
    pub(super) fn found_table(&self, values: &mut Values, scope: Scope<'_>, others: Option<&str>) -> String {
        let (table, found) = (self.table(), self.found(values, scope));
        let others = others.filter(|_| matches!(self, Self::Text(_)));
        let passing =
            others.map_or_else(String::new, |it| format!(" AND texts.ad IN (SELECT seq FROM ads WHERE {it})"));
        format!("{table} AS MATERIALIZED ({found}{passing}), ")
    }

    /// The condition on an ad of a dealer, decided by its own text. It suits what many texts contain: then few ads have to be looked at
    /// for a page.
    pub(super) fn condition_on_each(&self, values: &mut Values, dealer_code: &str) -> String {
        match self {
            Self::Text(search) => search.condition_on_each(values, dealer_code),
            Self::Words(words) => words.condition_on_each(values, dealer_code),
        }
    }

    /// The query of the ads that are found, by their numbers.
    pub(super) fn found(&self, values: &mut Values, scope: Scope<'_>) -> String {
        match self {
            Self::Text(search) => search.found(values, scope),
            Self::Words(words) => words.found(values, scope),
        }
    }

    /// In PostgreSQL, the name of the table of what was found.
    fn table(&self) -> &'static str {
        match self {
            Self::Text(search) => search.found,
            Self::Words(_) => "found_words",
        }
    }
}

/// A text that can be searched, and a part that it contains.
#[derive(Debug, Clone)]
pub(super) struct TextSearch {
    column: &'static str,
    /// In PostgreSQL, the name of the table of what was found.
    found: &'static str,
    /// In lower case, like the stored texts. The databases would fold only some letters.
    part: String,
}

impl TextSearch {
    /// A search for a part of title or body.
    fn in_content(part: &str) -> Self {
        Self { column: "texts.search", found: "found_search", part: folded(part) }
    }

    fn in_source_id(part: &str) -> Self {
        Self { column: "texts.source_id", found: "found_source_id", part: folded(part) }
    }

    fn of(filter: &AdFilter) -> Option<Self> {
        match filter {
            AdFilter::Search(part) => Some(Self::in_content(part)),
            AdFilter::SourceIdContains(part) => Some(Self::in_source_id(part)),
            _ => None,
        }
    }

    fn condition_on_each(&self, values: &mut Values, dealer_code: &str) -> String {
        let (dealer_code, contains) = (values.add(dealer_code), self.contains(values));
        let place = match values.dialect {
            Dialect::Sqlite => {
                format!(
                    "texts.place = ((SELECT number FROM dealer_numbers WHERE dealer_code = {dealer_code}) << 40) + ads.seq"
                )
            }
            Dialect::Postgres => format!("texts.dealer_code = {dealer_code} AND texts.ad = ads.seq"),
        };
        format!("EXISTS (SELECT 1 FROM texts WHERE {place} AND {contains})")
    }

    /// The query of the ads that have the part, by their numbers. In SQLite, joins are made in the order of `CROSS JOIN`.
    fn found(&self, values: &mut Values, scope: Scope<'_>) -> String {
        let contains = self.contains(values);
        if values.dialect == Dialect::Postgres {
            let dealers = values.within(scope, "texts.dealer_code");
            return format!("SELECT texts.ad FROM texts WHERE {dealers} AND {contains}");
        }
        let dealers = values.within(scope, "dealer.dealer_code");
        let Some(trigrams) = trigrams(&self.part) else {
            return format!(
                "SELECT texts.place & {SEQ} FROM dealer_numbers AS dealer CROSS JOIN texts
    WHERE texts.place BETWEEN dealer.number << 40 AND (dealer.number << 40) + {SEQ} AND {dealers} AND {contains}"
            );
        };
        let trigrams = values.add(trigrams);
        format!(
            "SELECT texts.place & {SEQ} FROM dealer_numbers AS dealer CROSS JOIN trigrams CROSS JOIN texts
    WHERE texts.place = trigrams.rowid
        AND trigrams.rowid BETWEEN dealer.number << 40 AND (dealer.number << 40) + {SEQ}
        AND trigrams MATCH '\"' || {DEALER_MARK} || '\" ' || {trigrams} AND {dealers} AND {contains}
    UNION ALL
    SELECT texts.place & {SEQ} FROM dealer_numbers AS dealer CROSS JOIN unindexed CROSS JOIN texts
    WHERE texts.place = unindexed.place
        AND unindexed.place BETWEEN dealer.number << 40 AND (dealer.number << 40) + {SEQ} AND {dealers} AND {contains}"
        )
    }

    /// Whether a text has the part.
    fn contains(&self, values: &mut Values) -> String {
        let Self { column, part, .. } = self;
        values.is_search = true;
        if values.dialect == Dialect::Sqlite {
            // Not `instr`, whose time grows with the product of both lengths. A pattern without special characters is searched for
            // in linear time.
            return format!("{column} REGEXP {}", values.add(regex::escape(part)));
        }
        let start: String = part.chars().take(SHORT).collect();
        let contains_start = format!("strpos({column}, {}) > 0", values.add(start.as_str()));
        if start == *part {
            return contains_start;
        }
        // A regular expression that is plain text is searched for in linear time, but costs more than its start, which nearly
        // always decides. With AND the database could choose which is evaluated first.
        let whole = values.add(format!("***={part}"));
        format!("CASE WHEN {contains_start} THEN {column} ~ {whole} ELSE false END")
    }
}

/// Most characters that PostgreSQL searches for by `strpos`, whose time grows with the product of both lengths.
const SHORT: usize = 16;

/// The part of a place that is the number of the ad: 2^40 − 1.
const SEQ: u64 = (1 << 40) - 1;

/// Three characters of a private-use plane for the number of a dealer; the index has them before every text.
const DEALER_MARK: &str =
    "char(1048576 + (dealer.number >> 20), 1048576 + (dealer.number >> 10 & 1023), 1048576 + (dealer.number & 1023))";

/// Most trigrams of a part that the index is asked for; more would cost more than they exclude.
const MOST_TRIGRAMS: usize = 6;

/// The query to the index for a part: trigrams from all over it. None if it is shorter than one.
fn trigrams(part: &str) -> Option<String> {
    // As the tokenizer has it, which skips NUL.
    let characters: Vec<char> = part.chars().filter(|character| *character != '\0').collect();
    let last = characters.len().checked_sub(3)?;
    let asked = MOST_TRIGRAMS.min(last + 1);
    let quoted = (0..asked).map(|number| {
        let start = if asked > 1 { number * last / (asked - 1) } else { 0 };
        let trigram: String = characters[start..start + 3].iter().collect();
        format!("\"{}\"", trigram.replace('"', "\"\""))
    });
    Some(quoted.collect::<Vec<_>>().join(" "))
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
