//! `serve --sandbox`: sample images, and failures that source ids and image names select, for tests of integrators.
//!
//! The failures are real: calls to the local marketplaces go over HTTP to [a server](ad_server_outside::marketplace) that injects them, and
//! the sample images come over HTTP from this process. [`failures`] lists them; [`page`] is the guide, `docs/sandbox.md`.

#[cfg(test)]
mod tests;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use ad_core::{
    categories::{RuleSettings, by_vehicle_type},
    model::ApiVersion,
    ports::{Clock, Ids},
    rulebook::Rulebook,
};
use poem::{Endpoint, Response};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use url::Url;

pub use ad_server_http::sandbox::{GUIDE, failures, page};
use ad_server_http::sandbox::{SampleFetcher, images};

use ad_server_base::{
    http_server::{HttpServer, ServerError},
    secret::{Secret, TokenSource},
};
use ad_server_outside::{
    marketplace::{MarketplaceAddress, MarketplaceSetting, MarketplaceSettings},
    media::{ClientError, HttpFetcher},
};
use ad_server_store::Database;

use crate::receiver;

/// The example of a car, with sample images below this address, such as `http://127.0.0.1:8080/sandbox/images`: `docs/car.json`.
pub fn first_ad(images: &str) -> Map<String, Value> {
    let settings = RuleSettings { sample_images: Some(images.to_owned()), ..RuleSettings::default() };
    let car = by_vehicle_type("car").expect("there are cars");
    car.example(ApiVersion::V4, &Rulebook { settings, ..Rulebook::default() })
}

/// What a process with a sandbox runs besides the service; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Sandbox {
    marketplaces: Loopback,
    token: Secret,
    images: Loopback,
    /// Apart from the others: an image host that is silent is not asked for a while.
    slow_image: Loopback,
    /// What the addresses of sample images begin with.
    own: Vec<String>,
}

impl Sandbox {
    /// Starts it over the database of the service, which clients reach at one of these addresses.
    pub(crate) async fn start(
        database: &Database,
        clock: &Arc<dyn Clock>,
        ids: &Arc<dyn Ids>,
        addresses: &[&str],
    ) -> Result<Self, ServerError> {
        let token = Secret::from(ids.next().to_string());
        Ok(Self {
            marketplaces: Loopback::start(receiver::sandbox(database, clock, token.clone())).await?,
            token,
            images: Loopback::start(images::host()).await?,
            slow_image: Loopback::start(images::host()).await?,
            own: addresses
                .iter()
                .flat_map(|address| loopback_addresses(address))
                .map(|own| own + images::PATH)
                .collect(),
        })
    }

    /// These settings, with the marketplaces of the sandbox in place of local ones.
    pub(crate) fn marketplaces(&self, settings: MarketplaceSettings) -> MarketplaceSettings {
        let failing = |setting: MarketplaceSetting, name: &str| match setting.address {
            MarketplaceAddress::Http(_) => setting,
            MarketplaceAddress::Local => MarketplaceSetting {
                address: format!("{}/{name}", self.marketplaces.address)
                    .parse()
                    .expect("the address of a server is one of a marketplace"),
                token: Some(TokenSource::Text(self.token.clone())),
            },
        };
        MarketplaceSettings {
            primary: failing(settings.primary, "primary"),
            secondary: failing(settings.secondary, "secondary"),
            ..settings
        }
    }

    /// A fetcher of sample images, and by another of all others.
    pub(crate) fn fetcher(&self, elsewhere: HttpFetcher, clock: Arc<dyn Clock>) -> Result<SampleFetcher, ClientError> {
        let (images, slow_image) = (self.images.address.clone(), self.slow_image.address.clone());
        SampleFetcher::new(self.own.clone(), [images, slow_image], elsewhere, clock)
    }
}

/// An address of the service, and others that lead to the same port of this machine.
fn loopback_addresses(address: &str) -> Vec<String> {
    let url = Url::parse(address).ok();
    let local = url.as_ref().and_then(Url::port_or_known_default).map(|port| {
        let scheme = url.as_ref().map_or("http", Url::scheme);
        ["127.0.0.1", "localhost"].map(|host| format!("{scheme}://{host}:{port}"))
    });
    local.into_iter().flatten().chain([address.to_owned()]).collect()
}

/// A server on a free port of the loopback interface, which stops when it is dropped.
#[derive(Debug)]
pub(crate) struct Loopback {
    /// Without a slash at the end.
    address: String,
    _stop: oneshot::Sender<()>,
}

impl Loopback {
    pub(crate) async fn start(endpoint: impl Endpoint<Output = Response> + 'static) -> Result<Self, ServerError> {
        let options = receiver::server_options(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let server = HttpServer::bind(&options, "listen").await?;
        let address = server.base_url();
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(server.run(endpoint, async { drop(stopped.await) }));
        Ok(Self { address, _stop: stop })
    }

    /// Its address, without a slash at the end.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}
