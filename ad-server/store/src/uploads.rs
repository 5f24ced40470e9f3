//! Photos that somebody has sent to the console, which are removed after a day if no ad refers to them.

use ad_core::{model::Timestamp, ports::StoreError};
use uuid::Uuid;

use super::{
    Columns, Database, Link, Work,
    erase::BATCH,
    rows::unreadable,
    sql::{
        erase::{AddErasedImages, HoldImage},
        uploads as sql,
    },
};

/// What a dealer may have of photos that no ad refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MostUploads {
    pub photos: u32,
    pub bytes: u64,
}

/// What became of a photo that somebody has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upload {
    /// It is noted, and can be stored.
    Noted,
    /// The dealer has too many that no ad refers to.
    TooMany,
    /// The same photo is being removed; it can be stored in a moment.
    BeingRemoved,
}

/// Forgets photos that were sent before a time, and notes that those to which no ad refers are to be removed.
struct ForgetUploads {
    before: Timestamp,
}

impl Work for ForgetUploads {
    /// Number of photos, or `None` if none is left.
    type Answer = Option<u64>;

    async fn run(&self, link: &mut Link<'_>) -> sqlx::Result<Option<u64>> {
        let rows = link.run(&sql::UploadsBefore { before: self.before, limit: BATCH }.into()).await?.rows;
        let names: Vec<String> = Columns::all(&rows).map_err(unreadable)?;
        if names.is_empty() {
            return Ok(None);
        }
        link.run(&AddErasedImages { names: names.clone() }.into()).await?;
        Ok(Some(link.run(&sql::ForgetUploads { names, before: self.before }.into()).await?.changed))
    }
}

impl Database {
    /// Notes a photo that is about to be stored for a dealer, and keeps it from being removed until `until`.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; nothing is noted.
    pub async fn add_upload(
        &self,
        dealer_code: &str,
        name: &str,
        bytes: u64,
        most: MostUploads,
        (at, until): (Timestamp, Timestamp),
    ) -> Result<Upload, StoreError> {
        let MostUploads { photos, bytes: most_bytes } = most;
        let add = sql::AddUpload { dealer_code, name, bytes, at, most: photos, most_bytes };
        if self.run(add).await?.changed == 0 {
            return Ok(Upload::TooMany);
        }
        let checksum = name.get(..64).unwrap_or(name);
        // No request stores it.
        let hold = HoldImage { checksum, request: Uuid::nil(), now: at, until };
        Ok(if self.run(hold).await?.changed > 0 { Upload::Noted } else { Upload::BeingRemoved })
    }

    /// Forgets some photos that were sent before a time, so that those to which no ad refers are removed; `None` when none is left.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]; those forgotten before stay forgotten.
    pub async fn forget_uploads_before(&self, before: Timestamp) -> Result<Option<u64>, StoreError> {
        self.write(ForgetUploads { before }).await
    }
}
