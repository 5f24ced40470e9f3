//! Content codings of answers (extensions E3.7).
//!
//! An answer is compressed as a whole before it is sent. An encoder that waited for its client to read would hold its tables
//! meanwhile, and these are larger than most answers.

use std::io::{self, Write};

use brotli::enc::BrotliEncoderParams;
use flate2::{Compression, write::GzEncoder};
use poem::{
    Body, Response,
    http::{HeaderMap, HeaderValue, header},
};

use super::{ApiError, accept::weighted};
use ad_server_base::processor::Processor;

/// Answers from this size on are compressed: smaller ones fit into one packet anyway.
pub(super) const SMALLEST: usize = 1024;

/// From this size on, compression takes about a millisecond and runs where long computations do.
const LARGE: usize = 128 * 1024;

/// Bytes that the Brotli encoder writes at once.
const BROTLI_BUFFER: usize = 64 * 1024;

/// `Vary` of answers that may be compressed.
const VARY: HeaderValue = HeaderValue::from_static("Accept-Encoding");

/// A content coding, the fastest first. The one that a client accepts is stored in the data of its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Zstd,
    Brotli,
    Gzip,
}

/// What a compression may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// For an answer that is compressed once for one client: fast.
    Answer,
    /// For a document that is compressed once for all clients: small.
    Document,
}

impl Coding {
    /// All of them; of those that a client likes equally, the first is used.
    pub(super) const ALL: [Self; 3] = [Self::Zstd, Self::Brotli, Self::Gzip];

    /// The coding for a client; `None` when it accepts none, or prefers no coding. What cannot be read is ignored.
    pub(super) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let (mut weights, mut others, mut identity) = ([None; Self::ALL.len()], 0, 0);
        for (name, weight) in weighted(headers, header::ACCEPT_ENCODING) {
            match Self::from_name(name) {
                Some(coding) => weights[coding as usize] = Some(weight),
                None if name == "*" => others = weight,
                None if name.eq_ignore_ascii_case("identity") => identity = weight,
                None => {}
            }
        }
        let weighted = Self::ALL.map(|coding| (coding, weights[coding as usize].unwrap_or(others)));
        let (best, weight) = weighted.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        (weight > 0 && weight >= identity).then_some(best)
    }

    fn from_name(name: &str) -> Option<Self> {
        let names = [("zstd", Self::Zstd), ("br", Self::Brotli), ("gzip", Self::Gzip), ("x-gzip", Self::Gzip)];
        names.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, coding)| coding)
    }

    pub(super) const fn name(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Zstd => "zstd",
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        })
    }

    /// Bytes in this coding.
    ///
    /// # Errors
    /// When the encoder has no memory.
    pub(super) fn compress(self, bytes: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
        let is_document = effort == Effort::Document;
        let mut compressed = match self {
            Self::Zstd => zstd::bulk::compress(bytes, if is_document { 12 } else { 1 })?,
            Self::Brotli => {
                let (quality, lgwin) = if is_document { (9, 22) } else { (1, 18) };
                let parameters = BrotliEncoderParams { quality, lgwin, size_hint: bytes.len(), ..Default::default() };
                // The encoder gets all of it at once. With a few kilobytes at a time it is several times slower, and finds fewer
                // repetitions.
                let mut encoder = brotli::CompressorWriter::with_params(Vec::new(), BROTLI_BUFFER, &parameters);
                encoder.write_all(bytes)?;
                encoder.into_inner()
            }
            Self::Gzip => {
                let level = if is_document { Compression::best() } else { Compression::fast() };
                let mut encoder = GzEncoder::new(Vec::new(), level);
                encoder.write_all(bytes)?;
                encoder.finish()?
            }
        };
        // The limits of memory count an answer by its length.
        compressed.shrink_to_fit();
        Ok(compressed)
    }
}

/// The bytes of an answer, and their coding if they have one.
pub(super) struct CodedBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) coding: Option<Coding>,
}

impl CodedBytes {
    /// The bytes in this coding, or as they are if they are few.
    pub(super) async fn of(
        bytes: Vec<u8>,
        coding: Option<Coding>,
        processor: &Processor,
        dealer: &str,
    ) -> Result<Self, ApiError> {
        let Some(coding) = coding.filter(|_| bytes.len() >= SMALLEST) else {
            return Ok(Self { bytes, coding: None });
        };
        let compressed = if bytes.len() >= LARGE {
            processor.run(dealer, async { coding.compress(&bytes, Effort::Answer) }).await
        } else {
            coding.compress(&bytes, Effort::Answer)
        };
        Ok(Self { bytes: compressed.map_err(|error| failed(&error))?, coding: Some(coding) })
    }
}

/// Compresses an answer that is in memory, has a type that compresses well, and has no coding yet.
pub(super) async fn coded(mut response: Response, coding: Option<Coding>) -> Response {
    if !is_compressible(response.headers()) {
        return response;
    }
    response.headers_mut().append(header::VARY, VARY);
    let headers = response.headers();
    // One that states its length has been coded already, or is large and counted with its bytes.
    let is_done = headers.contains_key(header::CONTENT_ENCODING) || headers.contains_key(header::CONTENT_LENGTH);
    let Some(coding) = coding.filter(|_| !is_done) else { return response };
    let Ok(bytes) = response.take_body().into_bytes().await else { return ApiError::Internal.response() };
    if bytes.len() < SMALLEST {
        response.set_body(bytes);
        return response;
    }
    match coding.compress(&bytes, Effort::Answer) {
        Ok(compressed) => {
            response.headers_mut().insert(header::CONTENT_ENCODING, coding.name());
            response.set_body(compressed);
            response
        }
        Err(error) => failed(&error).response(),
    }
}

/// The answer to a HEAD: the headers of the answer to a GET, with its length.
pub(super) async fn without_body(mut response: Response) -> Response {
    let body = response.take_body();
    if is_compressible(response.headers())
        && !response.headers().contains_key(header::CONTENT_LENGTH)
        && let Ok(bytes) = body.into_bytes().await
    {
        response.headers_mut().insert(header::CONTENT_LENGTH, bytes.len().into());
    }
    response.set_body(Body::empty());
    response
}

/// Whether it has a body of text that ends. An event stream does not.
fn is_compressible(headers: &HeaderMap) -> bool {
    let Some(media_type) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let compressible = ["application/json", "application/problem+json", "application/openmetrics-text", "text/html"];
    compressible.iter().any(|known| media_type.starts_with(known))
}

pub(super) fn failed(error: &io::Error) -> ApiError {
    tracing::error!(%error, "cannot compress an answer");
    ApiError::Internal
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use poem::Request;

    use super::*;

    #[test]
    fn a_client_gets_the_coding_that_it_prefers() {
        for (accepted, coding) in [
            ("gzip", Some(Coding::Gzip)),
            ("X-GZIP", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("gzip, deflate, br", Some(Coding::Brotli)),
            ("br;q=0.5, gzip", Some(Coding::Gzip)),
            ("zstd;q=0, *", Some(Coding::Brotli)),
            ("*;q=0.1", Some(Coding::Zstd)),
            ("gzip;q=0.5, identity", None),
            ("identity;q=0.5, gzip", Some(Coding::Gzip)),
            ("deflate", None),
            ("gzip;q=0", None),
            ("gzip;q=x", None),
            (";;,=\"", None),
            ("", None),
        ] {
            let request = Request::builder().header("accept-encoding", accepted).finish();
            assert_eq!(Coding::accepted(request.headers()), coding, "{accepted}");
        }
        assert_eq!(Coding::accepted(Request::default().headers()), None);
    }

    #[test]
    fn what_is_compressed_is_smaller_and_the_same() {
        let bytes = br#"{"source_id": "1", "category_id": 1020}"#.repeat(1000);
        for (coding, effort) in
            Coding::ALL.into_iter().flat_map(|coding| [(coding, Effort::Answer), (coding, Effort::Document)])
        {
            let compressed = coding.compress(&bytes, effort).unwrap();
            assert!(compressed.len() < bytes.len() / 10, "{coding:?} {effort:?}: {}", compressed.len());
            let mut read = Vec::new();
            match coding {
                Coding::Zstd => read = zstd::bulk::decompress(&compressed, bytes.len()).unwrap(),
                Coding::Brotli => brotli::BrotliDecompress(&mut &*compressed, &mut read).unwrap(),
                Coding::Gzip => drop(GzDecoder::new(&*compressed).read_to_end(&mut read).unwrap()),
            }
            assert_eq!(read, bytes, "{coding:?}");
        }
    }
}
