//! Serves the stored images and their renditions. A name contains the checksum of the image, so its content never changes and may be
//! cached without limit. No token is needed: images of ads are public (decision 29).

use std::io;

use poem::{
    Endpoint, Error, Request, Response, Result,
    error::{MethodNotAllowedError, NotFoundError},
    http::{Method, StatusCode, header},
};

use super::{
    name::{FOREVER, Name},
    renditions::Renditions,
    store::Media,
};

/// The endpoint of `/media/*name`; mount it at a path with that parameter. The name is `abcd….jpg` (or `abcd…-800.jpg`), or as images are
/// kept, `ab/cd/abcd….jpg`, for a CDN that fetches from here.
#[derive(Debug, Clone)]
pub struct ServeMedia {
    media: Media,
    renditions: Option<Renditions>,
}

impl ServeMedia {
    /// Serves these images, without renditions.
    pub fn new(media: Media) -> Self {
        Self { media, renditions: None }
    }

    /// The same, making renditions again that are missing.
    #[must_use]
    pub fn with_renditions(self, renditions: Option<Renditions>) -> Self {
        Self { renditions, ..self }
    }

    async fn image(&self, name: &Name, request: &Request) -> io::Result<Response> {
        let tag = format!("\"{}\"", name.stem());
        let known = is_known(request, &tag);
        let wanted = request.method() == Method::GET && !known;
        let stored = match (self.media.read(name, wanted).await, &self.renditions) {
            (Err(error), Some(renditions)) if error.kind() == io::ErrorKind::NotFound && name.width.is_some() => {
                renditions.remake(name, wanted).await?
            }
            (read, _) => read?,
        };
        let response = Response::builder()
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, FOREVER)
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        if known {
            return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
        }
        let response =
            response.header(header::CONTENT_TYPE, name.format.media_type()).header(header::CONTENT_LENGTH, stored.size);
        Ok(response.body(stored.body))
    }
}

impl Endpoint for ServeMedia {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(MethodNotAllowedError.into());
        }
        let Some(name) = request.raw_path_param("name").and_then(Name::parse) else { return Err(NotFoundError.into()) };
        self.image(&name, &request).await.map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                return NotFoundError.into();
            }
            tracing::error!(%error, checksum = name.checksum, "cannot read stored image");
            Error::from_string("The image cannot be read now.", StatusCode::SERVICE_UNAVAILABLE)
        })
    }
}

/// Whether the client has it already (`If-None-Match`, RFC 9110, 13.1.2).
fn is_known(request: &Request, tag: &str) -> bool {
    let lists = request.headers().get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}
