//! The vehicle register that `validate` asks: a file ([`FileRegistry`]), or a server of the contract in `docs/vehicle-registry.md`
//! ([`HttpRegistry`]); `connect` chooses.

mod file;
mod http;

use std::{path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use ad_core::ports::VehicleRegistry;
use url::Url;

pub use self::{
    file::{FileRegistry, FileRegistryError},
    http::HttpRegistry,
};
use ad_server_base::{
    secret::{TokenSource, TokenSourceError},
    values::{PublicUrl, text_value},
};

/// The place of the register: a file, or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistryAddress {
    /// A file with a JSON object per line.
    File(PathBuf),
    /// A server at this address.
    Http(PublicUrl),
}

impl FromStr for RegistryAddress {
    type Err = InvalidRegistry;

    fn from_str(text: &str) -> Result<Self, InvalidRegistry> {
        match text {
            "" => Err(InvalidRegistry),
            text if text.contains("://") => text.parse().map(Self::Http).map_err(|_| InvalidRegistry),
            path => Ok(Self::File(path.into())),
        }
    }
}

text_value! {
    RegistryAddress: InvalidRegistry = "expected a file, or an http(s) address such as https://registry.example/v1, without query, fragment, user name and password";
}

/// Why the register cannot be used. Each is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error(transparent)]
    File(#[from] FileRegistryError),
    #[error("vehicle registry: {0}; set the file of its token with --vehicle-registry-token-file")]
    Token(#[from] TokenSourceError),
    #[error("cannot create the HTTP client of the vehicle registry: {0}")]
    Client(#[from] reqwest::Error),
}

/// The register that the settings name. A server is not called yet: one that is down does not keep the service from starting.
///
/// # Errors
/// When the file, or the token, cannot be read.
pub fn connect(
    address: &RegistryAddress,
    token_file: Option<PathBuf>,
    timeout: Duration,
) -> Result<Arc<dyn VehicleRegistry>, RegistryError> {
    Ok(match address {
        RegistryAddress::File(path) => Arc::new(FileRegistry::read(path)?),
        RegistryAddress::Http(address) => {
            let base = Url::parse(address.as_str()).expect("it was read as an address");
            let token = token_file.map(|path| TokenSource::File(path).load()).transpose()?;
            Arc::new(HttpRegistry::new(base, token.as_ref(), timeout)?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_a_file_or_an_address() {
        assert_eq!("./vehicles.ndjson".parse(), Ok(RegistryAddress::File("./vehicles.ndjson".into())));
        assert!(matches!("https://registry.example/v1".parse(), Ok(RegistryAddress::Http(_))));
        for text in
            ["", "ftp://registry.example", "https://user:secret@registry.example", "https://registry.example/?a=1"]
        {
            assert_eq!(text.parse::<RegistryAddress>(), Err(InvalidRegistry), "{text}");
        }
    }
}
