//! Documents that do not change while the server runs: pages, their scripts and styles, and OpenAPI documents.
//!
//! A document is built at its first request, and compressed at the first request for each content coding (extensions E3.7), on
//! threads for blocking work. So starting the server does not wait for documents that nobody may request. The entity tag (E3.1)
//! is the same for every coding.

use std::sync::Arc;

use bytes::Bytes;
use poem::{
    Endpoint, Request, Response, Result,
    http::{HeaderName, HeaderValue, header},
};
use tokio::sync::OnceCell;

use super::{
    ApiError,
    compression::{self, Coding, Effort},
    conditional::{self, IfNoneMatch},
    headers,
};

/// Caches ask each time whether the document has changed.
pub const CHECKED: HeaderValue = HeaderValue::from_static("no-cache");

/// For a document whose address changes with its content.
pub const IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// What a document contains, and the headers that depend on it.
#[derive(Debug, Clone, Default)]
pub struct Content {
    pub bytes: Bytes,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl<B: Into<Bytes>> From<B> for Content {
    fn from(bytes: B) -> Self {
        Self { bytes: bytes.into(), headers: Vec::new() }
    }
}

#[derive(Clone)]
pub struct StaticDocument(Arc<DocumentInner>);

ad_server_base::debug_by_name!(StaticDocument);

struct DocumentInner {
    content_type: &'static str,
    cache: HeaderValue,
    build: Box<dyn Fn() -> Content + Send + Sync>,
    built: OnceCell<BuiltDocument>,
    coded: [OnceCell<Bytes>; Coding::ALL.len()],
}

struct BuiltDocument {
    content: Content,
    tag: HeaderValue,
}

impl StaticDocument {
    /// A document of this content type, which `build` returns whenever it is called.
    pub fn new(
        content_type: &'static str,
        cache: HeaderValue,
        build: impl Fn() -> Content + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(DocumentInner {
            content_type,
            cache,
            build: Box::new(build),
            built: OnceCell::new(),
            coded: Default::default(),
        }))
    }

    /// A page of a service at this address.
    pub fn page(public_url: Option<String>, html: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self::new("text/html; charset=utf-8", CHECKED, move || {
            let html = html();
            let headers = headers::of_page(&html, public_url.as_deref());
            Content { bytes: html.into(), headers }
        })
    }

    async fn built(&self) -> Result<&BuiltDocument, ApiError> {
        let inner = Arc::clone(&self.0);
        let build = move || {
            let content = (inner.build)();
            BuiltDocument { tag: conditional::etag_of(&content.bytes), content }
        };
        self.0.built.get_or_try_init(|| on_a_blocking_thread(build)).await
    }

    async fn compressed(&self, coding: Coding, bytes: &Bytes) -> Result<Bytes, ApiError> {
        let bytes = bytes.clone();
        let compress = move || coding.compress(&bytes, Effort::Document);
        let compressed = self.0.coded[coding as usize].get_or_try_init(|| async {
            let compressed = on_a_blocking_thread(compress).await?;
            compressed.map(Bytes::from).map_err(|error| compression::failed(&error))
        });
        compressed.await.cloned()
    }

    pub(super) async fn answer(&self, coding: Option<Coding>) -> Result<Response, ApiError> {
        let BuiltDocument { content, tag } = self.built().await?;
        let mut response = Response::default();
        let headers = response.headers_mut();
        headers.extend(content.headers.iter().cloned());
        headers.insert(header::ETAG, tag.clone());
        headers.insert(header::CACHE_CONTROL, self.0.cache.clone());
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.0.content_type));
        match coding.filter(|_| content.bytes.len() >= compression::SMALLEST) {
            Some(coding) => {
                headers.insert(header::CONTENT_ENCODING, coding.name());
                response.set_body(self.compressed(coding, &content.bytes).await?);
            }
            None => response.set_body(content.bytes.clone()),
        }
        Ok(response)
    }
}

impl Endpoint for StaticDocument {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let coding = Coding::accepted(request.headers());
        let mut response = self.answer(coding).await.unwrap_or_else(ApiError::response);
        response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        Ok(IfNoneMatch::of(&request).answer(response))
    }
}

async fn on_a_blocking_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        tracing::error!(%error, "cannot build a document");
        ApiError::Internal
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use poem::http::StatusCode;

    use super::*;

    #[tokio::test]
    async fn a_document_is_built_once_and_has_one_tag_for_every_coding() {
        let times = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&times);
        let document = StaticDocument::new("text/plain", CHECKED, move || {
            counted.fetch_add(1, Ordering::Relaxed);
            "text ".repeat(1000).into()
        });
        let mut tags = Vec::new();
        for coding in ["identity", "gzip", "br", "zstd", "zstd"] {
            let request = Request::builder().header("accept-encoding", coding).finish();
            let mut answer = document.get_response(request).await;
            assert_eq!(answer.header("content-encoding"), Some(coding).filter(|coding| *coding != "identity"));
            tags.push(answer.header("etag").unwrap().to_owned());
            let bytes = answer.take_body().into_bytes().await.unwrap();
            assert_eq!(bytes.len() < 100, coding != "identity", "{coding}: {}", bytes.len());
        }
        tags.dedup();
        let [tag] = &tags[..] else { panic!("{tags:?}") };
        for known in [tag.clone(), format!("\"other\", W/{tag}"), "*".to_owned()] {
            let answer = document.get_response(Request::builder().header("if-none-match", known).finish()).await;
            assert_eq!((answer.status(), answer.header("etag")), (StatusCode::NOT_MODIFIED, Some(tag.as_str())));
        }
        assert_eq!(times.load(Ordering::Relaxed), 1);
    }
}
