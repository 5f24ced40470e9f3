//! The image host of the demo: a web server on the loopback interface, as a dealer's image host would be. One of its files is
//! truncated.

use std::io;

use poem::{
    Request, Response, Route, Server,
    endpoint::make_sync,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use tokio::{sync::oneshot, task::JoinHandle};

macro_rules! pictures {
    ($($folder:literal / $($file:literal)+;)+) => {
        &[$($((concat!($folder, "/", $file), include_bytes!(concat!("pictures/", $folder, "/", $file)))),+),+]
    };
}

/// The pictures of the stock, by folder and file.
static PICTURES: &[(&str, &[u8])] = pictures! {
    "nc-1001" / "1.jpg" "2.jpg" "3.jpg" "4.jpg";
    "nc-1002" / "1.jpg" "2.jpg" "4.jpg";
    "nc-1003" / "1.jpg" "2.jpg";
    "nc-1004" / "1.jpg" "3.png";
    "nc-1005" / "1.jpg" "2.jpg" "3.jpg";
    "nc-1006" / "1.jpg" "2.jpg" "4.jpg";
    "nc-1007" / "1.jpg" "2.jpg";
    "nc-1008" / "1.jpg" "2.jpg" "3.jpg";
    "nc-1009-sommar" / "1.jpg" "4.jpg";
    "nc-1010" / "1.jpg";
    "cb-2001" / "1.jpg" "2.jpg" "3.jpg";
    "cb-2002" / "1.jpg" "2.jpg" "4.jpg";
    "cb-3001" / "1.jpg" "2.jpg" "3.jpg";
    "cb-3002" / "1.jpg" "2.jpg" "4.jpg";
    "cb-3003" / "1.jpg" "2-truncated.jpg" "4.jpg";
    "cb-3004" / "1.jpg" "3.jpg";
    "cb-3005" / "1.jpg" "2.jpg";
    "cb-3006" / "1.jpg" "4.png";
};

/// A running image host; it stops when it is dropped.
#[derive(Debug)]
pub struct ImageHost {
    base_url: String,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
}

impl ImageHost {
    /// Starts an image host with the pictures of the stock, on a free port.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start() -> io::Result<Self> {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await?;
        let address = acceptor.local_addr().into_iter().find_map(|address| address.as_socket_addr().copied());
        let address = address.ok_or_else(|| io::Error::other("the image host has no address"))?;
        let app = Route::new().at("/*path", make_sync(|request: Request| picture(request.uri().path())));
        let (stop, stopped) = oneshot::channel();
        let server = Server::new_with_acceptor(acceptor).run_with_graceful_shutdown(
            app,
            // Also when the sender is dropped.
            async { drop(stopped.await) },
            None,
        );
        Ok(Self { base_url: format!("http://{address}"), stop, server: tokio::spawn(server) })
    }

    /// Its address, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Stops it and waits until the requests under way are answered.
    pub async fn stop(self) {
        drop(self.stop);
        // Nobody needs the reason for which a host that is to end has ended.
        drop(self.server.await);
    }
}

/// The picture at a path.
fn picture(path: &str) -> Response {
    let path = path.trim_start_matches('/');
    match PICTURES.iter().find(|(known, _)| *known == path) {
        Some((path, bytes)) => {
            let content_type = if path.rsplit('.').next() == Some("png") { "image/png" } else { "image/jpeg" };
            Response::builder().content_type(content_type).body(*bytes)
        }
        None => StatusCode::NOT_FOUND.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ad_core::{
        model::Timestamp,
        ports::{Clock, Fetched, ImageFetcher, ImageRequest},
    };
    use futures_util::future::join_all;

    use super::*;
    use crate::{
        demo::stock::{Expected, stock},
        media::{FetchOptions, HttpFetcher},
    };

    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            Timestamp::default()
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn every_picture_of_the_stock_is_served_and_one_is_broken() {
        let host = ImageHost::start().await.unwrap();
        let options = FetchOptions { allow_private: true, ..FetchOptions::default() };
        let fetcher = HttpFetcher::new(options, Arc::new(Stopped)).unwrap();
        let stock = stock(host.base_url());
        let urls = stock.iter().flat_map(|ad| {
            ad.payload["image_urls"].as_array().into_iter().flatten().map(|url| url.as_str().unwrap_or_default())
        });
        let fetch = async |url: &str| {
            let request = ImageRequest { url, dealer_code: "north-cars", known: None };
            fetcher.fetch(request).await.map(|fetched| match fetched {
                Fetched::Image(image, _) => image,
                Fetched::Unchanged => panic!("nothing was known of {url}"),
            })
        };
        let answers = join_all(urls.map(async |url| (url, fetch(url).await))).await;

        let broken: Vec<_> = answers.iter().filter(|(_, image)| image.is_err()).collect();
        let [(url, Err(error))] = broken[..] else { panic!("{broken:?}") };
        assert!(url.ends_with("/2-truncated.jpg"), "{url}");
        assert_eq!(error.to_string(), "a damaged image: it stops before its end");
        assert_eq!(stock.iter().filter(|ad| ad.expects == Expected::PublishedWithoutOneImage).count(), 1);

        let mut checksums: Vec<_> =
            answers.iter().filter_map(|(_, image)| Some(image.as_ref().ok()?.checksum.to_string())).collect();
        checksums.sort();
        checksums.dedup();
        assert_eq!(checksums.len(), answers.len() - 1, "every picture is its own");
        for (url, image) in &answers {
            if let Ok(image) = image {
                assert!(url.ends_with(image.format.extension()), "{url}");
            }
        }

        let base = host.base_url().to_owned();
        host.stop().await;
        assert!(fetch(&format!("{base}/nc-1001/1.jpg")).await.is_err());
    }
}
