//! Fetches an image as the service would, with the default limits of the service.

use std::{net::IpAddr, time::Duration};

use ad_client::provide_tls;
use ad_core::{
    network::{AddressClass, classify},
    ports::{Image, ImageError},
};
use bytes::BytesMut;
use reqwest::{
    Client, Response, StatusCode,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{ACCEPT, HeaderMap, HeaderValue},
    redirect::{Attempt, Policy},
};
use serde::Serialize;
use url::{Host, Url};

use crate::terminal::Context;

/// Largest accepted file, in bytes.
pub const MOST_BYTES: usize = 15_000_000;
/// Most redirects that are followed.
pub const MOST_REDIRECTS: usize = 5;
const CONNECT: Duration = Duration::from_secs(5);
/// Timeout of the whole fetch.
const TOTAL: Duration = Duration::from_secs(20);
/// Why an address that is not public is not fetched.
const PRIVATE: &str = "the address leads to a private network, which the service cannot reach";

/// Time for the answer of the service.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the service accepts images over http, as a sandbox does: then every command has to. The service is asked if the command line, the
/// environment or a profile names one; without an answer it does not.
pub(crate) async fn service_accepts_http(context: &Context) -> bool {
    let Ok(client) = context.client() else { return false };
    let me = tokio::time::timeout(PATIENCE, client.me()).await;
    me.is_ok_and(|me| me.is_ok_and(|me| me.body.http_images))
}

#[derive(Debug)]
pub(crate) struct ImageChecker {
    client: Client,
    /// Permits http and private addresses, for services that permit them.
    permits_all: bool,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct FetchedImage {
    media_type: Option<&'static str>,
    bytes: Option<usize>,
    redirected_to: Option<String>,
}

impl ImageChecker {
    /// Images at public https addresses, or at any.
    pub(crate) fn new(permits_all: bool) -> Result<Self, reqwest::Error> {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("image/jpeg, image/png"))]);
        let redirects = move |attempt: Attempt<'_>| match check_redirect(&attempt, permits_all) {
            Ok(()) => attempt.follow(),
            Err(reason) => attempt.error(reason),
        };
        provide_tls();
        let client = Client::builder()
            .user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .redirect(Policy::custom(redirects))
            .no_proxy()
            .dns_resolver(PublicNames { permits_local: permits_all })
            .referer(false)
            .connect_timeout(CONNECT)
            .timeout(TOTAL)
            .build()?;
        Ok(Self { client, permits_all })
    }

    /// Fetches an image without keeping it.
    ///
    /// # Errors
    /// Why the service could not show it.
    pub(crate) async fn fetch(&self, address: &str) -> Result<FetchedImage, String> {
        let url = Url::parse(address).map_err(|error| format!("not an address: {error}"))?;
        permitted(&url, self.permits_all)?;
        let mut response = self.client.get(url.clone()).send().await.map_err(|error| failed(&error))?;
        if response.status() != StatusCode::OK {
            return Err(format!("the host answered {}", response.status()));
        }
        let redirected_to = (*response.url() != url).then(|| response.url().to_string());
        let bytes = body(&mut response).await?;
        let length = Some(bytes.len());
        let image = Image::new(bytes.freeze()).map_err(|error| match error {
            ImageError::Unusable(_, reason) => reason,
            error => error.to_string(),
        })?;
        Ok(FetchedImage { media_type: Some(image.format.media_type()), bytes: length, redirected_to })
    }
}

async fn body(response: &mut Response) -> Result<BytesMut, String> {
    let too_large = || format!("larger than {} MB", MOST_BYTES / 1_000_000);
    if response.content_length().is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let mut bytes = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Whether the service would follow a redirect.
fn check_redirect(attempt: &Attempt<'_>, permits_all: bool) -> Result<(), String> {
    if attempt.previous().len() > MOST_REDIRECTS {
        return Err(format!("more than {MOST_REDIRECTS} redirects"));
    }
    permitted(attempt.url(), permits_all).map_err(|reason| format!("redirected to {}: {reason}", attempt.url()))
}

fn permitted(url: &Url, permits_all: bool) -> Result<(), String> {
    match url.scheme() {
        "https" => {}
        "http" if permits_all => {}
        "http" => return Err("the address begins with http://; it must begin with https://".to_owned()),
        _ => return Err("the service fetches images from https addresses only".to_owned()),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address contains a user name or password".to_owned());
    }
    let is_permitted = match url.host() {
        Some(Host::Ipv4(address)) => permits(address.into(), permits_all),
        Some(Host::Ipv6(address)) => permits(address.into(), permits_all),
        _ => true,
    };
    if is_permitted { Ok(()) } else { Err(PRIVATE.to_owned()) }
}

fn permits(address: IpAddr, permits_local: bool) -> bool {
    match classify(address) {
        AddressClass::Public => true,
        AddressClass::Local => permits_local,
        AddressClass::Never => false,
    }
}

/// Resolves names to addresses that the service may connect to. As part of the client, it also checks the names in redirects.
struct PublicNames {
    permits_local: bool,
}

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        let permits_local = self.permits_local;
        Box::pin(async move {
            // Port 0 stands for the port of the URL.
            let mut found = tokio::net::lookup_host((name.as_str(), 0)).await?.peekable();
            let is_known = found.peek().is_some();
            let permitted: Vec<_> = found.filter(|address| permits(address.ip(), permits_local)).collect();
            if permitted.is_empty() && is_known {
                return Err(Private.into());
            }
            Ok(Box::new(permitted.into_iter()) as Addrs)
        })
    }
}

/// A name leads to no address that the service may connect to.
#[derive(Debug, thiserror::Error)]
#[error("{PRIVATE}")]
struct Private;

/// The reason for a missing answer.
fn failed(error: &reqwest::Error) -> String {
    let causes = || std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let cause = causes().last().map(ToString::to_string).unwrap_or_default();
    // Without the number that the operating system adds.
    let cause = cause.split(" (os error ").next().unwrap_or_default().to_owned();
    if error.is_timeout() {
        let most = if error.is_connect() { CONNECT } else { TOTAL };
        return format!("no answer within {} s", most.as_secs());
    }
    if error.is_redirect() || causes().any(<dyn std::error::Error>::is::<Private>) {
        return cause;
    }
    if error.is_connect() { format!("no connection: {cause}") } else { format!("the connection broke off: {cause}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn names_of_private_networks_are_refused() {
        let refused = ImageChecker::new(false).unwrap().fetch("https://localhost/1.jpg").await.unwrap_err();
        assert_eq!(refused, PRIVATE);
    }

    #[test]
    fn addresses_that_the_service_does_not_fetch_are_refused() {
        for (address, reason) in [
            ("http://cdn.example/1.jpg", "must begin with https://"),
            ("ftp://cdn.example/1.jpg", "https addresses only"),
            ("https://me:pass@cdn.example/1.jpg", "user name"),
            ("https://192.168.1.4/1.jpg", "private network"),
            ("https://[::1]/1.jpg", "private network"),
            ("https://[::ffff:10.0.0.1]/1.jpg", "private network"),
            ("https://100.64.0.1/1.jpg", "private network"),
            ("https://169.254.169.254/1.jpg", "private network"),
        ] {
            let refused = permitted(&Url::parse(address).unwrap(), false).unwrap_err();
            assert!(refused.contains(reason), "{address}: {refused}");
        }
        assert_eq!(permitted(&Url::parse("https://cdn.example/1.jpg").unwrap(), false), Ok(()));
        assert_eq!(permitted(&Url::parse("http://127.0.0.1/1.jpg").unwrap(), true), Ok(()));
    }
}
