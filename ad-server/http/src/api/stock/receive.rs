//! The body of a stock as it comes: bounded in rate, time and size, and unpacked.

use std::{io::Write as _, time::Duration};

use ad_core::{model::PlanError, violation::Code};
use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use futures_util::{StreamExt, stream::BoxStream};
use poem::{Body, Request, http::StatusCode};
use tokio::time::{Instant, timeout_at};

use crate::api::{
    ApiError,
    body::{Read, is_gzip},
};
use ad_server_base::{
    http_server::{LongBodies, LongBody},
    limits::{
        MinimumRate,
        table::{BODY_BEHIND, BODY_RATE, STOCK_WITHIN},
    },
};

/// Bytes that are unpacked at once. They become at most a thousand times as many.
const PACKED: usize = 1024;

/// Why a body is no stock, and the status that says so.
pub(super) type Broken = (StatusCode, PlanError);

/// The body of a stock.
pub(super) struct StockBody {
    chunks: BoxStream<'static, std::io::Result<Bytes>>,
    /// What has come and is not unpacked.
    packed: Bytes,
    gunzip: Option<MultiGzDecoder<Vec<u8>>>,
    rate: MinimumRate,
    until: Instant,
    received: usize,
    most: u64,
    /// Bytes that may still come, unpacked.
    left: u64,
    read: Read,
    _long: Option<LongBody>,
}

impl StockBody {
    pub(super) fn new(request: &Request, body: Body, most: u64) -> Result<Self, ApiError> {
        let Some(read) = request.data::<Read>().cloned() else { return Err(ApiError::Internal) };
        let gunzip = is_gzip(request)?.then(|| MultiGzDecoder::new(Vec::new()));
        Ok(Self {
            chunks: body.into_bytes_stream().boxed(),
            packed: Bytes::new(),
            gunzip,
            rate: MinimumRate::new(BODY_RATE, BODY_BEHIND, Duration::MAX),
            until: Instant::now() + STOCK_WITHIN,
            received: 0,
            most,
            left: most,
            read,
            _long: request.data::<LongBodies>().map(LongBodies::begin),
        })
    }

    /// The next piece, unpacked; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        loop {
            if self.packed.is_empty() {
                match self.chunk().await? {
                    Some(chunk) => self.packed = chunk,
                    None => return self.end(),
                }
            }
            let piece = self.unpack()?;
            if !piece.is_empty() {
                return self.counted(piece).map(Some);
            }
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Broken> {
        let until = self.rate.wait().min(self.until);
        let Ok(chunk) = timeout_at(until, self.chunks.next()).await else {
            let slow = if until == self.until {
                ApiError::Slow(STOCK_WITHIN)
            } else {
                ApiError::Trickle { bytes: self.received, rate: BODY_RATE, grace: BODY_BEHIND }
            };
            return Err(broken(StatusCode::REQUEST_TIMEOUT, Code::RequestTimeout, &slow.to_string()));
        };
        match chunk {
            None => Ok(None),
            Some(Ok(chunk)) => {
                self.rate.passed(chunk.len());
                self.received += chunk.len();
                Ok(Some(chunk))
            }
            Some(Err(_)) => {
                let text = format!(
                    "The connection ended, or the body has another length than stated: {} bytes came.",
                    self.received
                );
                Err(broken(StatusCode::BAD_REQUEST, Code::IncompleteBody, &text))
            }
        }
    }

    fn unpack(&mut self) -> Result<Vec<u8>, Broken> {
        let Some(gunzip) = &mut self.gunzip else { return Ok(std::mem::take(&mut self.packed).into()) };
        let packed = self.packed.split_to(self.packed.len().min(PACKED));
        gunzip.write_all(&packed).map_err(|error| not_gzip(&error))?;
        Ok(std::mem::take(gunzip.get_mut()))
    }

    /// The rest, at the end of the body.
    fn end(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        let mut rest = Vec::new();
        if let Some(mut gunzip) = self.gunzip.take().filter(|_| self.received > 0) {
            gunzip.try_finish().map_err(|error| not_gzip(&error))?;
            rest = std::mem::take(gunzip.get_mut());
        }
        self.read.is_whole();
        if rest.is_empty() { Ok(None) } else { self.counted(rest).map(Some) }
    }

    fn counted(&mut self, piece: Vec<u8>) -> Result<Vec<u8>, Broken> {
        let Some(left) = self.left.checked_sub(piece.len() as u64) else {
            let text = format!("The stock is too large: at most {} bytes, unpacked.", self.most);
            return Err(broken(StatusCode::PAYLOAD_TOO_LARGE, Code::TooLarge, &text));
        };
        self.left = left;
        Ok(piece)
    }
}

fn broken(status: StatusCode, code: Code, text: &str) -> Broken {
    (status, PlanError::of_body(code, None, text))
}

fn not_gzip(error: &std::io::Error) -> Broken {
    let text = format!("The body is not whole and valid gzip, which Content-Encoding says that it is: {error}.");
    broken(StatusCode::BAD_REQUEST, Code::IncompleteBody, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    async fn received(body: Vec<u8>, is_gzip: bool, most: u64) -> Result<Vec<u8>, Code> {
        let mut request = Request::builder();
        if is_gzip {
            request = request.header("content-encoding", "gzip");
        }
        let mut request = request.finish();
        request.set_data(Read::unknown());
        let mut body = StockBody::new(&request, Body::from(body), most).unwrap();
        let mut all = Vec::new();
        loop {
            match body.next().await {
                Ok(Some(piece)) => {
                    assert!(piece.len() < 2 << 20, "{} bytes at once", piece.len());
                    all.extend(piece);
                }
                Ok(None) => return Ok(all),
                Err((_, error)) => return Err(error.code),
            }
        }
    }

    #[tokio::test]
    async fn a_stock_is_unpacked_in_small_pieces_up_to_its_most_bytes() {
        let stock = b"{\"source_id\": \"a\"}\n".repeat(100_000);
        let most = stock.len() as u64;
        for (body, is_gzip) in [
            (stock.clone(), false),
            (gzip(&stock), true),
            ([gzip(&stock[..1000]), gzip(&stock[1000..])].concat(), true),
        ] {
            assert_eq!(received(body.clone(), is_gzip, most).await.as_ref(), Ok(&stock));
            assert_eq!(received(body, is_gzip, most - 1).await, Err(Code::TooLarge));
        }
        assert_eq!(received(gzip(&vec![b' '; 64 << 20]), true, 1 << 20).await, Err(Code::TooLarge));
        assert_eq!(received(Vec::new(), true, 1).await, Ok(Vec::new()));
    }

    #[tokio::test]
    async fn gzip_that_ends_early_or_is_none_is_refused() {
        let whole = gzip(&b"{\"source_id\": \"a\"}\n".repeat(1000));
        for length in [1, 9, 30, whole.len() - 8, whole.len() - 1] {
            assert_eq!(received(whole[..length].to_vec(), true, 1 << 20).await, Err(Code::IncompleteBody), "{length}");
        }
        for body in [b"{}".to_vec(), [&whole[..], b"{}"].concat()] {
            assert_eq!(received(body, true, 1 << 20).await, Err(Code::IncompleteBody));
        }
    }
}
