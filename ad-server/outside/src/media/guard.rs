//! Restricts what the fetcher of images and the sender of webhooks may connect to. Checks the requested address, every
//! redirect, and every IP address that a name resolves to. The last check is part of the resolver of the HTTP client, so that no second
//! lookup can return another address.

use std::net::{IpAddr, SocketAddr};

use ad_core::{
    model::ImageFlaw,
    network::{AddressClass, classify},
    ports::ImageError,
};
use reqwest::{
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::{Action, Attempt, Policy},
};
use url::{Host, Url};

use crate::outbound::causes;

/// Why an address is not fetched; shown to integrators, so it names no internal address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("not a valid address")]
    Invalid,
    #[error("only https addresses are fetched")]
    NotHttps,
    #[error("the address holds a user name or password; images are fetched from public addresses only")]
    Credentials,
    #[error("the address resolves to a private network")]
    Private,
    #[error("a redirect leads from https to http")]
    Downgrade,
    #[error("more than {0} redirects")]
    TooManyRedirects(usize),
}

impl From<Refused> for ImageError {
    fn from(refused: Refused) -> Self {
        let flaw = match refused {
            Refused::Downgrade | Refused::TooManyRedirects(_) => ImageFlaw::Redirect,
            Refused::Invalid | Refused::NotHttps | Refused::Credentials | Refused::Private => ImageFlaw::Address,
        };
        Self::Unusable(flaw, refused.to_string())
    }
}

/// Decides which addresses images may be fetched from.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// Permits http, and addresses of this machine and the networks behind it.
    pub allow_private: bool,
    pub redirects: usize,
}

impl Guard {
    /// An address as a URL that may be asked for.
    pub fn parse(self, address: &str) -> Result<Url, Refused> {
        let url = Url::parse(address).map_err(|_| Refused::Invalid)?;
        self.url(&url)?;
        Ok(url)
    }

    /// The client does not resolve literal IP addresses, so they are checked here.
    fn url(self, url: &Url) -> Result<(), Refused> {
        match url.scheme() {
            "https" => {}
            "http" if self.allow_private => {}
            _ => return Err(Refused::NotHttps),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::Credentials);
        }
        match url.host() {
            Some(Host::Ipv4(address)) if !self.permits(address.into()) => Err(Refused::Private),
            Some(Host::Ipv6(address)) if !self.permits(address.into()) => Err(Refused::Private),
            Some(_) => Ok(()),
            None => Err(Refused::Invalid),
        }
    }

    /// One redirect, the `nth` from 1.
    fn hop(self, from: &Url, to: &Url, nth: usize) -> Result<(), Refused> {
        if nth > self.redirects {
            return Err(Refused::TooManyRedirects(self.redirects));
        }
        if from.scheme() == "https" && to.scheme() == "http" {
            return Err(Refused::Downgrade);
        }
        self.url(to)
    }

    fn permits(self, address: IpAddr) -> bool {
        match classify(address) {
            AddressClass::Public => true,
            AddressClass::Local => self.allow_private,
            AddressClass::Never => false,
        }
    }

    /// The rules for redirects as the HTTP client takes them.
    pub fn redirects(self) -> Policy {
        Policy::custom(move |attempt: Attempt<'_>| -> Action {
            let Some(from) = attempt.previous().last() else { return attempt.stop() };
            match self.hop(from, attempt.url(), attempt.previous().len()) {
                Ok(()) => attempt.follow(),
                Err(refused) => attempt.error(refused),
            }
        })
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = *self;
        Box::pin(async move {
            // Port 0 stands for the port of the URL.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let permitted: Vec<_> = found.iter().copied().filter(|address| guard.permits(address.ip())).collect();
            if permitted.is_empty() && !found.is_empty() {
                return Err(Refused::Private.into());
            }
            Ok(Box::new(permitted.into_iter()) as Addrs)
        })
    }
}

/// The guard's verdict among the causes of an error of the HTTP client.
pub fn refusal(error: &reqwest::Error) -> Option<Refused> {
    causes(error).find_map(|cause| cause.downcast_ref::<Refused>().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Guard = Guard { allow_private: false, redirects: 5 };
    const DEVELOPMENT: Guard = Guard { allow_private: true, redirects: 5 };

    #[test]
    fn only_public_https_addresses_without_credentials_are_asked_for() {
        for (address, strict, development) in [
            ("https://images.example/1.jpg", None, None),
            ("https://1.1.1.1/1.jpg", None, None),
            ("http://images.example/1.jpg", Some(Refused::NotHttps), None),
            ("ftp://images.example/1.jpg", Some(Refused::NotHttps), Some(Refused::NotHttps)),
            ("file:///etc/passwd", Some(Refused::NotHttps), Some(Refused::NotHttps)),
            ("1.jpg", Some(Refused::Invalid), Some(Refused::Invalid)),
            ("https://anna@images.example/1.jpg", Some(Refused::Credentials), Some(Refused::Credentials)),
            ("https://:secret@images.example/1.jpg", Some(Refused::Credentials), Some(Refused::Credentials)),
            ("https://127.0.0.1/1.jpg", Some(Refused::Private), None),
            ("https://2130706433/1.jpg", Some(Refused::Private), None),
            ("https://0x7f.1/1.jpg", Some(Refused::Private), None),
            ("https://[::1]/1.jpg", Some(Refused::Private), None),
            ("https://[::ffff:10.0.0.1]/1.jpg", Some(Refused::Private), None),
            ("https://169.254.169.254/latest/", Some(Refused::Private), Some(Refused::Private)),
            ("https://[fe80::1]/1.jpg", Some(Refused::Private), Some(Refused::Private)),
        ] {
            assert_eq!(STRICT.parse(address).err(), strict, "{address}");
            assert_eq!(DEVELOPMENT.parse(address).err(), development, "{address}");
        }
    }

    #[test]
    fn a_redirect_stays_on_https_and_out_of_private_networks() {
        let hop = |guard: Guard, from: &str, to: &str, nth| {
            guard.hop(&Url::parse(from).unwrap(), &Url::parse(to).unwrap(), nth).err()
        };
        let from = "https://images.example/1.jpg";
        assert_eq!(hop(STRICT, from, "https://cdn.example/1.jpg", 5), None);
        assert_eq!(hop(STRICT, from, "https://cdn.example/1.jpg", 6), Some(Refused::TooManyRedirects(5)));
        assert_eq!(hop(STRICT, from, "http://cdn.example/1.jpg", 1), Some(Refused::Downgrade));
        assert_eq!(hop(STRICT, from, "https://192.168.1.1/1.jpg", 1), Some(Refused::Private));
        assert_eq!(hop(STRICT, from, "https://a:b@cdn.example/1.jpg", 1), Some(Refused::Credentials));
        assert_eq!(hop(DEVELOPMENT, from, "http://cdn.example/1.jpg", 1), Some(Refused::Downgrade));
        assert_eq!(hop(DEVELOPMENT, "http://cdn.example/", "http://127.0.0.1/", 1), None);
    }

    #[tokio::test]
    async fn a_name_is_resolved_to_permitted_addresses_only() {
        let resolve = |guard: Guard| guard.resolve("localhost".parse().unwrap());
        let Err(refused) = resolve(STRICT).await else { panic!("localhost is private") };
        assert_eq!(refused.downcast_ref(), Some(&Refused::Private));
        assert!(resolve(DEVELOPMENT).await.unwrap().all(|address| address.ip().is_loopback()));
    }
}
