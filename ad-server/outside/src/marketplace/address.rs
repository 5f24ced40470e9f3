//! Addresses of the marketplaces, and how they are called.

use std::{str::FromStr, time::Duration};

use ad_core::model::Market;

use ad_server_base::{
    breaker::BreakerOptions,
    secret::TokenSource,
    values::{PublicUrl, text_value},
};

/// Addresses, tokens and time limits of both marketplaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketplaceSettings {
    pub primary: MarketplaceSetting,
    pub secondary: MarketplaceSetting,
    /// How long one call over HTTP may take.
    pub timeout: Duration,
    /// When calls to one that fails are stopped.
    pub breaker: BreakerOptions,
}

/// Address and token of one marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketplaceSetting {
    pub address: MarketplaceAddress,
    pub token: Option<TokenSource>,
}

/// The place of a marketplace: this database, or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarketplaceAddress {
    /// In the database of this service.
    Local,
    /// On the server at this address.
    Http(PublicUrl),
}

impl FromStr for MarketplaceAddress {
    type Err = InvalidMarketplace;

    fn from_str(text: &str) -> Result<Self, InvalidMarketplace> {
        match text {
            "local" => Ok(Self::Local),
            text => text.parse().map(Self::Http).map_err(|_| InvalidMarketplace),
        }
    }
}

text_value! {
    MarketplaceAddress: InvalidMarketplace = "expected \"local\" or the http(s) address of a marketplace such as https://marketplace.example/ads, without query, fragment, user name and password";
}

/// Name of the environment variable that holds the token of a marketplace.
pub const fn token_variable(market: Market) -> &'static str {
    match market {
        Market::Primary => "AD_SERVER_PRIMARY_MARKETPLACE_TOKEN",
        Market::Secondary => "AD_SERVER_SECONDARY_MARKETPLACE_TOKEN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marketplace_is_local_or_has_an_address() {
        assert_eq!("local".parse(), Ok(MarketplaceAddress::Local));
        let Ok(MarketplaceAddress::Http(url)) = "http://127.0.0.1:9/primary/".parse() else { panic!() };
        assert_eq!(url.as_str(), "http://127.0.0.1:9/primary");
        for text in ["", "Local", "marketplace.example", "ftp://x", "https://user:secret@x", "https://x/?a=1"] {
            assert_eq!(text.parse::<MarketplaceAddress>(), Err(InvalidMarketplace), "{text}");
        }
    }
}
