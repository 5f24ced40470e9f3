//! Serves the stored images. A name is a checksum, so what it stands for never changes and may be cached for ever. Needs
//! no token: the images of an ad are public (decision 29).

use std::io;

use poem::{
    Body, Endpoint, Request, Response, Result,
    http::{Method, StatusCode, header},
};
use tokio::io::BufReader;

use super::folder::{FileName, Folder};

/// How much of a file is read at once.
const CHUNK: usize = 64 * 1024;

/// The endpoint of `/media/:file`; mount it at a path with that parameter.
#[derive(Debug, Clone)]
pub struct ServeMedia(Folder);

impl ServeMedia {
    /// Serves a folder.
    pub fn new(folder: Folder) -> Self {
        Self(folder)
    }

    async fn file(&self, name: FileName<'_>, request: &Request) -> io::Result<Response> {
        let (file, size) = self.0.open(name).await?;
        let tag = format!("\"{}\"", name.checksum);
        let response = Response::builder()
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, "public, max-age=31536000, immutable")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        if is_known(request, &tag) {
            return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
        }
        let response =
            response.header(header::CONTENT_TYPE, name.format.media_type()).header(header::CONTENT_LENGTH, size);
        Ok(if request.method() == Method::HEAD {
            response.finish()
        } else {
            response.body(Body::from_async_read(BufReader::with_capacity(CHUNK, file)))
        })
    }
}

impl Endpoint for ServeMedia {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let detail = format!("Method \"{}\" not allowed.", request.method());
            let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, &detail);
            response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
            return Ok(response);
        }
        let not_found = || refusal(StatusCode::NOT_FOUND, "Not found.");
        let Some(name) = request.raw_path_param("file").and_then(FileName::parse) else { return Ok(not_found()) };
        Ok(match self.file(name, &request).await {
            Ok(response) => response,
            Err(error) if error.kind() == io::ErrorKind::NotFound => not_found(),
            Err(error) => {
                tracing::error!(%error, checksum = name.checksum, "an image could not be read");
                refusal(StatusCode::SERVICE_UNAVAILABLE, "The image cannot be read now.")
            }
        })
    }
}

fn refusal(status: StatusCode, detail: &str) -> Response {
    let body = serde_json::json!({ "detail": detail });
    Response::builder().status(status).content_type("application/json").body(body.to_string())
}

/// Whether the client has it already (`If-None-Match`, RFC 9110, 13.1.2).
fn is_known(request: &Request, tag: &str) -> bool {
    let lists = request.headers().get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use ad_core::ports::{Checksum, Format, Image, MediaStore};
    use poem::{
        Route, Server,
        listener::{Acceptor, Listener, TcpListener},
    };
    use reqwest::Client;

    use super::*;

    async fn serve(folder: Folder) -> (String, tokio::task::JoinHandle<io::Result<()>>) {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let app = Route::new().at("/media/:file", ServeMedia::new(folder));
        (base, tokio::spawn(Server::new_with_acceptor(acceptor).run(app)))
    }

    #[tokio::test]
    async fn stored_bytes_are_served_to_be_kept_for_ever() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::new(directory.path(), "").unwrap();
        let bytes = bytes::Bytes::from(vec![7; 3 * CHUNK + 1]);
        let image = Image { format: Format::Jpeg, checksum: Checksum::of(&bytes), bytes };
        let path = folder.put(&image).await.unwrap();
        let (base, server) = serve(folder).await;
        let (client, url) = (Client::new(), format!("{base}{path}"));
        let tag = format!("\"{}\"", image.checksum);

        let got = client.get(&url).send().await.unwrap();
        let head = client.head(&url).send().await.unwrap();
        for response in [&got, &head] {
            assert_eq!(response.status(), 200);
            let header = |name| response.headers()[name].to_str().unwrap();
            assert_eq!(header("content-type"), "image/jpeg");
            assert_eq!(header("content-length"), image.bytes.len().to_string());
            assert_eq!(header("etag"), tag);
            assert_eq!(header("cache-control"), "public, max-age=31536000, immutable");
            assert_eq!(header("x-content-type-options"), "nosniff");
        }
        assert_eq!(got.bytes().await.unwrap(), image.bytes);

        for known in [tag.clone(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let response = client.get(&url).header("if-none-match", &known).send().await.unwrap();
            assert_eq!(response.status(), 304, "{known}");
            assert_eq!(response.headers()["etag"].to_str().unwrap(), tag);
        }
        let response = client.get(&url).header("if-none-match", "\"x\"").send().await.unwrap();
        assert_eq!(response.status(), 200);

        let response = client.post(&url).send().await.unwrap();
        assert_eq!((response.status().as_u16(), response.headers()["allow"].to_str().unwrap()), (405, "GET, HEAD"));
        for other in [
            path.replace(".jpg", ".png"),
            path.to_uppercase().replace("/MEDIA", "/media"),
            "/media/..%2f..%2fetc%2fpasswd".to_owned(),
        ] {
            let response = client.get(format!("{base}{other}")).send().await.unwrap();
            assert_eq!(response.status(), 404, "{other}");
            assert_eq!(response.text().await.unwrap(), r#"{"detail":"Not found."}"#);
        }
        server.abort();
    }
}
