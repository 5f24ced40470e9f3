//! Where the marketplaces are, and what it takes to call them.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use ad_core::request::Market;
use serde::Deserialize;

use super::PublicUrl;
use crate::marketplace::BreakerOptions;

/// The marketplaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketplaceSettings {
    /// The primary one.
    pub primary: MarketplaceSetting,
    /// The secondary one.
    pub secondary: MarketplaceSetting,
    /// How long one call over HTTP may take.
    pub timeout: Duration,
    /// When one that fails is left alone.
    pub breaker: BreakerOptions,
}

/// One marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketplaceSetting {
    /// Where it is.
    pub address: MarketplaceAddress,
    /// What opens its door.
    pub token: Option<TokenSource>,
}

/// Where a marketplace is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum MarketplaceAddress {
    /// In the database of this service.
    Local,
    /// At this address.
    Http(PublicUrl),
}

/// Neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected \"local\" or the http(s) address of a marketplace such as https://marketplace.example/ads, without query, \
     fragment, user name and password"
)]
pub struct InvalidMarketplace;

impl FromStr for MarketplaceAddress {
    type Err = InvalidMarketplace;

    fn from_str(text: &str) -> Result<Self, InvalidMarketplace> {
        match text {
            "local" => Ok(Self::Local),
            text => text.parse().map(Self::Http).map_err(|_| InvalidMarketplace),
        }
    }
}

impl TryFrom<String> for MarketplaceAddress {
    type Error = InvalidMarketplace;

    fn try_from(text: String) -> Result<Self, InvalidMarketplace> {
        text.parse()
    }
}

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// What the environment has under this name; a variable that is empty is none.
    pub fn from_environment(name: &str) -> Option<Self> {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        Some(Self(value.to_string_lossy().into_owned()))
    }

    /// The text, to be used and not to be shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// Where a token comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// From the environment or the settings file.
    Text(Secret),
    /// From a file of its own, as container platforms hand out secrets.
    File(PathBuf),
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenSourceError {
    /// The file cannot be read.
    #[error("cannot read the token file {}: {source}", .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nothing that can be sent as a token.
    #[error("the token {place} must be one line of printable ASCII characters without spaces")]
    Malformed {
        /// Where it stands.
        place: String,
    },
}

impl TokenSource {
    /// The token, without the white space around it that files end with.
    pub fn load(&self) -> Result<Secret, TokenSourceError> {
        let (token, place) = match self {
            Self::Text(secret) => (secret.reveal().trim().to_owned(), "in the environment or settings".to_owned()),
            Self::File(path) => (read(path)?.trim().to_owned(), format!("in {}", path.display())),
        };
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenSourceError::Malformed { place });
        }
        Ok(Secret(token))
    }
}

fn read(path: &Path) -> Result<String, TokenSourceError> {
    std::fs::read_to_string(path).map_err(|source| TokenSourceError::Read { path: path.to_owned(), source })
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

    #[test]
    fn a_token_is_one_printable_word_and_never_shown() {
        let token = |text: &str| TokenSource::Text(Secret::from(text.to_owned())).load();
        assert_eq!(token(" t0p-secret\n").unwrap().reveal(), "t0p-secret");
        for text in ["", " ", "two words", "line\nline", "å"] {
            let told = token(text).unwrap_err().to_string();
            assert!(told.contains("printable"), "{told}");
        }
        let shown = format!("{:?}", TokenSource::Text(Secret::from("t0p-secret".to_owned())));
        assert_eq!(shown, "Text(…)");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "t0p-secret\n").unwrap();
        assert_eq!(TokenSource::File(file.path().to_owned()).load().unwrap().reveal(), "t0p-secret");
        let missing = TokenSource::File("no/such".into()).load().unwrap_err().to_string();
        assert!(missing.contains("no/such"), "{missing}");
    }
}
