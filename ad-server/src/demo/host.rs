//! The image host of the demo: a web server of its own on the loopback interface, as a dealer's image host would be, that
//! draws what it is asked for. A file whose name says `truncated` stops half way and claims to be whole.

use std::{collections::HashMap, io, sync::Arc};

use ad_core::ports::Format;
use poem::{
    Endpoint, Request, Response, Result, Route, Server,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
};
use tokio::{sync::oneshot, task::JoinHandle};

use super::{
    images::{Subject, View, draw},
    stock::DemoAd,
};

/// A running image host; it stops when it is dropped.
#[derive(Debug)]
pub struct ImageHost {
    base_url: String,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
}

impl ImageHost {
    /// Starts an image host with the pictures of a stock, on a free port.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(stock: &[DemoAd]) -> io::Result<Self> {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await?;
        let address = acceptor.local_addr().into_iter().find_map(|address| address.as_socket_addr().copied());
        let address = address.ok_or_else(|| io::Error::other("the image host has no address"))?;
        let subjects = stock.iter().map(|ad| (ad.folder(), ad.subject())).collect();
        let app = Route::new().at("/:folder/:file", Pictures(Arc::new(subjects)));
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

/// Draws pictures of these subjects, by folder.
struct Pictures(Arc<HashMap<String, Subject>>);

impl Endpoint for Pictures {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let subject = request.raw_path_param("folder").and_then(|folder| self.0.get(folder));
        let file = request.raw_path_param("file").and_then(File::parse);
        let (Some(subject), Some(file)) = (subject.cloned(), file) else {
            return Ok(StatusCode::NOT_FOUND.into());
        };
        let drawn = tokio::task::spawn_blocking(move || draw(&subject, file.view, file.format)).await;
        let Ok(Ok(mut bytes)) = drawn else { return Ok(StatusCode::INTERNAL_SERVER_ERROR.into()) };
        if file.truncated {
            bytes.truncate(bytes.len() / 2);
        }
        Ok(Response::builder().content_type(file.format.media_type()).body(bytes))
    }
}

/// What a file name says: `2.jpg`, `4.png`, `2-truncated.jpg`.
struct File {
    view: View,
    format: Format,
    truncated: bool,
}

impl File {
    fn parse(name: &str) -> Option<Self> {
        let (name, extension) = name.split_once('.')?;
        let format = [Format::Jpeg, Format::Png].into_iter().find(|format| format.extension() == extension)?;
        let (number, truncated) = name.strip_suffix("-truncated").map_or((name, false), |number| (number, true));
        Some(Self { view: View::nth(number.parse().ok()?), format, truncated })
    }
}

#[cfg(test)]
mod tests {
    use ad_core::{
        ports::{Clock, Fetched, ImageFetcher, ImageRequest},
        time::Timestamp,
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
        let host = ImageHost::start(&stock("")).await.unwrap();
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
