//! The quality scores of ads that were stored before there was a score. Every write since then stores the score with the ad.

use ad_core::{model::Publication, ports::StoreError, quality};

use super::{Columns, Database, Row, rows::json, sql::ads as sql};

impl Database {
    /// Sets the scores of some ads that have none, and returns how many it read.
    pub async fn score_ads(&self, at_most: u32) -> Result<usize, StoreError> {
        let rows = self.read(sql::AdsWithoutScore { limit: at_most }).await?;
        let scores = rows.iter().map(scored).collect::<Result<Vec<_>, _>>()?;
        if !scores.is_empty() {
            self.run(sql::SetScores { scores: json(&scores)? }).await?;
        }
        Ok(scores.len())
    }
}

/// The number of an ad in the database and its score.
fn scored(row: &Row) -> Result<(i64, u8), StoreError> {
    let (seq, ad, publication): (_, _, Publication) = Columns::of(row).read()?;
    Ok((seq, quality::score(&ad, &publication.failed_images)))
}
