//! The settings: from flags, environment, a file, and `config.default.toml`, in this order of precedence.
//!
//! A [`Layer`] is what one of these sources says; [`Settings`] is the result. That a setting makes sense together with
//! the machine (a free port, a folder that can be written) is found out by what uses it.

use std::{
    net::SocketAddr,
    num::NonZeroU32,
    path::{Path, PathBuf},
};

use ad_core::pipeline::RetryPolicy;
use serde::Deserialize;

pub use self::values::{InvalidPeriod, InvalidPublicUrl, Period, PublicUrl};
use crate::{
    auth::KeySource,
    toml_file::{self, TomlFileError},
};

mod values;

/// The commented file of all settings; the defaults are read from it.
pub const DEFAULTS: &str = include_str!("../config.default.toml");

/// What the service is run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the API is served.
    pub listen: SocketAddr,
    /// The database.
    pub database_url: String,
    /// Folder of images.
    pub media: PathBuf,
    /// Address under which clients reach the service; `None`: the host that a request names.
    pub public_url: Option<PublicUrl>,
    /// Dealers to import at start.
    pub dealers: Option<PathBuf>,
    /// Folder with lists that replace built-in ones.
    pub catalogue: Option<PathBuf>,
    /// The keys of tokens.
    pub token_keys: KeySource,
    /// How many ads are worked on at the same time; 0: only the API is served.
    pub workers: usize,
    /// Sites of `video_url`.
    pub video_hosts: Vec<String>,
    /// Whether images may come over http and from private networks.
    pub allow_private_images: bool,
    /// How often images are fetched.
    pub image_retry: RetryPolicy,
    /// How often marketplaces are called.
    pub marketplace_retry: RetryPolicy,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is missing or wrong.
    #[error("the settings cannot be used: {0}")]
    File(#[from] TomlFileError),
    /// Two places for the token keys, and neither counts more.
    #[error("set either {variable} or --token-key (AD_SERVER_TOKEN_KEY), not both", variable = KeySource::VARIABLE)]
    TwoKeySources,
}

/// What one source says about the settings; `None`: ask the next.
#[derive(Debug, Clone, Default, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    /// Address on which the API is served [default: 127.0.0.1:8080]
    #[arg(long, env = "AD_SERVER_LISTEN", value_name = "ADDR")]
    pub listen: Option<SocketAddr>,

    /// Set by the commands: they all have this flag.
    #[arg(skip)]
    pub database_url: Option<String>,

    /// Folder in which images are kept [default: ./data/media]
    #[arg(long, env = "AD_SERVER_MEDIA", value_name = "DIR")]
    pub media: Option<PathBuf>,

    /// Address under which clients reach the service, such as `https://ads.example.com`
    #[arg(long, env = "AD_SERVER_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<PublicUrl>,

    /// File of dealers to import at start
    #[arg(long, env = "AD_SERVER_DEALERS", value_name = "FILE.toml")]
    pub dealers: Option<PathBuf>,

    /// Folder with lists of allowed values that replace the built-in ones of the same name
    #[arg(long, env = "AD_SERVER_CATALOGUE", value_name = "DIR")]
    pub catalogue: Option<PathBuf>,

    /// Set by the commands: several have this flag.
    #[arg(skip)]
    pub token_key: Option<PathBuf>,

    /// How many ads are worked on at the same time; 0 serves the API only [default: 256]
    #[arg(long, env = "AD_SERVER_WORKERS", value_name = "N")]
    pub workers: Option<usize>,

    /// Sites of `video_url` [default: youtube.com,youtu.be,vimeo.com]
    #[arg(long, env = "AD_SERVER_VIDEO_HOSTS", value_name = "HOST,…", value_delimiter = ',')]
    pub video_hosts: Option<Vec<String>>,

    /// Accept image addresses with http and on private networks; for development and tests only
    #[arg(
        long,
        env = "AD_SERVER_ALLOW_PRIVATE_IMAGES",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
    )]
    pub allow_private_images: Option<bool>,

    /// How often an image is tried [default: 5]
    #[arg(long, env = "AD_SERVER_IMAGE_TRIES", value_name = "N")]
    pub image_tries: Option<NonZeroU32>,

    /// Within which time an image is tried again [default: 60s]
    #[arg(long, env = "AD_SERVER_IMAGE_WITHIN", value_name = "TIME")]
    pub image_within: Option<Period>,

    /// How often a call to a marketplace is tried [default: 10]
    #[arg(long, env = "AD_SERVER_MARKETPLACE_TRIES", value_name = "N")]
    pub marketplace_tries: Option<NonZeroU32>,

    /// Within which time a call to a marketplace is tried again [default: 1h]
    #[arg(long, env = "AD_SERVER_MARKETPLACE_WITHIN", value_name = "TIME")]
    pub marketplace_within: Option<Period>,
}

macro_rules! each_or {
    ($above:ident, $below:ident: $($field:ident)*) => {
        Layer { $($field: $above.$field.or($below.$field)),* }
    };
}

impl Layer {
    /// This layer, and below it another.
    fn over(self, below: Self) -> Self {
        each_or!(self, below:
            listen database_url media public_url dealers catalogue token_key workers video_hosts allow_private_images
            image_tries image_within marketplace_tries marketplace_within)
    }

    fn defaults() -> Self {
        toml_file::parse(DEFAULTS).expect("the embedded file is read by a test")
    }

    /// The settings of a layer that has the defaults at its bottom.
    fn complete(self, token_keys: Option<String>) -> Settings {
        const SET: &str = "config.default.toml sets it";
        Settings {
            listen: self.listen.expect(SET),
            database_url: self.database_url.expect(SET),
            media: self.media.expect(SET),
            public_url: self.public_url,
            dealers: self.dealers,
            catalogue: self.catalogue,
            token_keys: token_keys.map_or_else(|| KeySource::File(self.token_key.expect(SET)), KeySource::Text),
            workers: self.workers.expect(SET),
            video_hosts: self.video_hosts.expect(SET),
            allow_private_images: self.allow_private_images.expect(SET),
            image_retry: RetryPolicy::over(
                self.image_tries.expect(SET).get(),
                self.image_within.expect(SET).duration(),
            ),
            marketplace_retry: RetryPolicy::over(
                self.marketplace_tries.expect(SET).get(),
                self.marketplace_within.expect(SET).duration(),
            ),
        }
    }
}

impl Default for Settings {
    /// `config.default.toml`.
    fn default() -> Self {
        Layer::defaults().complete(None)
    }
}

impl Settings {
    /// The settings of flags and environment (both are in `given`), over those of a file, over the defaults. Token keys
    /// that are themselves in the environment count more than the file.
    pub fn load(given: Layer, file: Option<&Path>, token_keys: Option<String>) -> Result<Self, ConfigError> {
        if given.token_key.is_some() && token_keys.is_some() {
            return Err(ConfigError::TwoKeySources);
        }
        let file = file.map(toml_file::read).transpose()?.map_or_else(Layer::default, |(layer, _)| layer);
        Ok(given.over(file).over(Layer::defaults()).complete(token_keys))
    }
}

#[cfg(test)]
mod tests;
