//! Kept answers of requests with an idempotency key.

use ad_core::{
    model::Timestamp,
    ports::{KeptAnswer, StoreError},
};
use uuid::Uuid;

use crate::{
    answer::AnswerColumns,
    statement::{statements, values},
};

values! {
    /// An answer to keep; nulls, if there is none.
    AnswerValues<'a> {
        holder: Option<&'a str>, digest: Option<&'a str>, fingerprint: Option<&'a str>, for_request: Uuid, kept: Timestamp,
        status: u16, headers: Option<&'a str>, answer: Option<&'a str>,
    }
}

statements! {
    /// Keeps the answer of a request that does nothing, unless one is kept under the same key or the ad is erased. Writes keep theirs
    /// in the commit of their request.
    KeepAnswer<'a> { ad: Uuid, ..keep: AnswerValues<'a> }
    both "
        INSERT INTO kept_answers (ad, holder, digest, fingerprint, request_id, accepted, status, headers, body)
        SELECT seq, :holder, :digest, :fingerprint, :for_request, :kept, :status, :headers, :answer
        FROM ads WHERE id = :ad AND erased IS NULL
        ON CONFLICT (holder, digest) DO NOTHING";

    /// The answer that is kept under a key.
    FindAnswer<'a> { holder: &'a str, digest: &'a str }
    both "
        SELECT fingerprint, request_id, accepted, status, headers, body FROM kept_answers
        WHERE holder = :holder AND digest = :digest";

    /// Removes the oldest answers, if they are older than a time. In PostgreSQL, their order is that of the ids of requests, which
    /// begin with the time. Those of a clock that was ahead keep the later ones for a while.
    RemoveAnswers { before: Timestamp, at_most: u32 }
    sqlite "
        DELETE FROM kept_answers WHERE seq IN (
            SELECT seq FROM (SELECT seq, accepted FROM kept_answers ORDER BY seq LIMIT :at_most) AS oldest
            WHERE accepted < :before
        )"
    postgres "
        DELETE FROM kept_answers WHERE request_id IN (
            SELECT request_id FROM (SELECT request_id, accepted FROM kept_answers ORDER BY request_id LIMIT :at_most) AS oldest
            WHERE accepted < :before
        )";

    /// The oldest answers of a holder of keys, without which the others have at most so many bytes.
    AnswersBeyond<'a> { holder: &'a str, bytes: u64, at_most: u32 }
    sqlite "
        SELECT digest FROM (
            SELECT seq, digest, sum(octet_length(headers) + octet_length(body)) OVER (
                ORDER BY seq DESC ROWS UNBOUNDED PRECEDING
            ) AS with_newer
            FROM kept_answers WHERE holder = :holder
        ) AS summed
        WHERE with_newer > :bytes ORDER BY seq LIMIT :at_most"
    postgres "
        SELECT digest FROM (
            -- As they are stored, and without reading the bodies.
            SELECT request_id, digest, sum(pg_column_size(headers) + pg_column_size(body)) OVER (
                ORDER BY request_id DESC ROWS UNBOUNDED PRECEDING
            ) AS with_newer
            FROM kept_answers WHERE holder = :holder
        ) AS summed
        WHERE with_newer > :bytes ORDER BY request_id LIMIT :at_most";

    /// Removes some answers of a holder of keys.
    RemoveAnswersOfHolder<'a> { holder: &'a str, digests: Vec<String> }
    sqlite "DELETE FROM kept_answers WHERE holder = :holder AND digest IN (SELECT value FROM json_each(:digests))"
    postgres "DELETE FROM kept_answers WHERE holder = :holder AND digest = ANY (CAST(:digests AS TEXT[]))";

    /// Bytes of the kept answers of a holder of keys, as they are stored.
    AnswerBytesOfHolder<'a> { holder: &'a str }
    sqlite "
        SELECT coalesce(sum(octet_length(headers) + octet_length(body)), 0) FROM kept_answers WHERE holder = :holder"
    postgres "
        SELECT coalesce(sum(pg_column_size(headers) + pg_column_size(body)), 0) FROM kept_answers WHERE holder = :holder";

    /// The kept answers of a holder of keys, counted up to a limit.
    AnswersOfHolder<'a> { holder: &'a str, at_most: u64 }
    both "
        SELECT count(*) FROM (
            SELECT 1 FROM kept_answers WHERE holder = :holder LIMIT :at_most
        ) AS counted";
}

impl<'a> AnswerValues<'a> {
    /// The values of an answer; of none, if the client sent no key.
    pub fn of(answer: Option<&'a KeptAnswer>) -> Result<Self, StoreError> {
        let Some(KeptAnswer { key, fingerprint, request_id, accepted, answer }) = answer else {
            return Ok(Self::default());
        };
        let columns = AnswerColumns::of(answer)?;
        Ok(Self {
            holder: Some(&key.holder),
            digest: Some(&key.digest),
            fingerprint: Some(fingerprint),
            for_request: *request_id,
            kept: *accepted,
            status: columns.status,
            headers: Some(columns.headers),
            answer: Some(columns.body),
        })
    }
}
