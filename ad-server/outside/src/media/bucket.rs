//! Stores images as objects of an S3-compatible store (feature `s3`), under the same names as in a folder.
//!
//! An object is complete and durable when its PUT is answered. Credentials and endpoint come from the environment variables that
//! other S3 clients read. A failed request is retried once at once, for connections that were closed while idle; further retries
//! are up to the pipeline.

use std::{error::Error as _, io, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientConfigKey, Error, GetOptions, ObjectStore, ObjectStoreExt, PutOptions,
    RetryConfig,
    aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey},
    client::HttpError,
    path::Path,
};

use super::name::{FOREVER, Name};

/// How long the store may be silent.
const SILENCE: Duration = Duration::from_secs(10);

/// Timeout of the check at start.
const CHECK: Duration = Duration::from_secs(15);

/// Object that is written at start, to check that writing works.
const MARK: &str = "ad-server-was-here";

#[derive(Debug, Clone)]
pub(super) struct Bucket {
    store: AmazonS3,
    prefix: Path,
}

/// Why a bucket cannot be used, in one line.
pub(super) struct BucketFailure {
    pub(super) reason: String,
    /// Whether the store did not answer, and may do so later.
    pub(super) is_unreachable: bool,
}

impl From<String> for BucketFailure {
    fn from(reason: String) -> Self {
        Self { reason, is_unreachable: false }
    }
}

impl From<&Error> for BucketFailure {
    fn from(error: &Error) -> Self {
        Self { reason: describe(error), is_unreachable: has_no_answer(error) }
    }
}

impl Bucket {
    /// Keeps images in a bucket, after a look whether they can be: a mark is written, and an image is looked for that
    /// nobody has stored.
    pub(super) async fn open(name: &str, prefix: &str) -> Result<Self, BucketFailure> {
        let prefix = Path::parse(prefix).map_err(|error| error.to_string())?;
        ad_server_base::system::use_ring();
        let builder = AmazonS3Builder::from_env().with_bucket_name(name).with_retry(RetryConfig {
            max_retries: 1,
            retry_timeout: SILENCE,
            backoff: BackoffConfig { max_backoff: Duration::from_secs(1), ..BackoffConfig::default() },
        });
        let store = with_limits(complete(builder)?).build().map_err(|error| describe(&error))?;
        let bucket = Self { store, prefix };
        let checked = tokio::time::timeout(CHECK, bucket.check());
        let late = || format!("the store did not answer within {} s", CHECK.as_secs());
        checked.await.unwrap_or_else(|_| Err(BucketFailure { reason: late(), is_unreachable: true }))?;
        Ok(bucket)
    }

    async fn check(&self) -> Result<(), BucketFailure> {
        let mark = self.prefix.clone().join(MARK);
        self.store.put(&mark, Bytes::new().into()).await.map_err(|error| match error {
            Error::NotFound { .. } => format!("there is no such bucket ({})", describe(&error)).into(),
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                format!("permission to write denied ({})", describe(&error)).into()
            }
            _ => BucketFailure::from(&error),
        })?;
        match self.store.head(&self.prefix.clone().join("not-stored")).await {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(()),
            // Without the right to list, a store answers 403 for missing objects too.
            Err(error @ (Error::PermissionDenied { .. } | Error::Unauthenticated { .. })) => Err(format!(
                "permission to read denied ({}); the key needs s3:GetObject and s3:ListBucket besides s3:PutObject",
                describe(&error)
            )
            .into()),
            Err(error) => Err(BucketFailure::from(&error)),
        }
    }

    fn path(&self, name: &Name) -> Path {
        name.key().split('/').fold(self.prefix.clone(), Path::join)
    }

    /// A stored image's size, and its bytes as they come if they are wanted.
    pub(super) async fn read(
        &self,
        name: &Name,
        wanted: bool,
    ) -> io::Result<(BoxStream<'static, io::Result<Bytes>>, u64)> {
        let options = GetOptions::new().with_head(!wanted);
        let found = self.store.get_opts(&self.path(name), options).await.map_err(|error| failure(&error))?;
        let size = found.meta.size;
        let bytes = found.into_stream().map_err(|error| {
            tracing::error!(error = describe(&error), "cannot read stored image");
            failure(&error)
        });
        Ok((bytes.boxed(), size))
    }

    /// Stores an image, unless an object of the same length exists.
    ///
    /// It is looked for first: most of what is put has been put before, since every update of an ad fetches all of its
    /// images again, and looking moves no bytes. Two who put the same image at the same time write the same bytes.
    pub(super) async fn put(&self, name: &Name, bytes: &Bytes) -> io::Result<()> {
        let path = &self.path(name);
        match self.store.head(path).await {
            Ok(found) if usize::try_from(found.size) == Ok(bytes.len()) => return Ok(()),
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(failure(&error)),
        }
        // For those who read the bucket itself, such as a CDN.
        let attributes = Attributes::from_iter([
            (Attribute::ContentType, name.format.media_type()),
            (Attribute::CacheControl, FOREVER),
        ]);
        let options = PutOptions { attributes, ..PutOptions::default() };
        self.store.put_opts(path, bytes.clone().into(), options).await.map(drop).map_err(|error| failure(&error))
    }

    pub(super) async fn remove(&self, name: &Name) -> io::Result<()> {
        self.store.delete(&self.path(name)).await.map_err(|error| failure(&error))
    }
}

/// Checks the environment: the error of the library would not name the variable.
fn complete(builder: AmazonS3Builder) -> Result<AmazonS3Builder, String> {
    use AmazonS3ConfigKey::{AccessKeyId, SecretAccessKey};
    let is_set = |key| builder.get_config_value(&key).is_some_and(|value| !value.is_empty());
    match (is_set(AccessKeyId), is_set(SecretAccessKey)) {
        (true, false) => return Err("AWS_SECRET_ACCESS_KEY is not set".to_owned()),
        (false, true) => return Err("AWS_ACCESS_KEY_ID is not set".to_owned()),
        _ => {}
    }
    let Some(address) = endpoint(&builder) else { return Ok(builder) };
    if address.starts_with("https://") {
        Ok(builder)
    } else if address.starts_with("http://") {
        // An http address is intended.
        Ok(builder.with_allow_http(true))
    } else {
        Err("AWS_ENDPOINT_URL has to begin with http:// or https://".to_owned())
    }
}

fn endpoint(builder: &AmazonS3Builder) -> Option<String> {
    let keys = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    keys.iter().find_map(|key| builder.get_config_value(key))
}

/// How long the store may be silent. Nothing limits an exchange as a whole: a client that reads an image slowly through
/// this service would be cut off.
fn with_limits(builder: AmazonS3Builder) -> AmazonS3Builder {
    let set = |builder: AmazonS3Builder, key, value: &str| builder.with_config(AmazonS3ConfigKey::Client(key), value);
    let builder = set(builder, ClientConfigKey::Timeout, "365d");
    set(builder, ClientConfigKey::ReadTimeout, &format!("{}s", SILENCE.as_secs()))
}

fn failure(error: &Error) -> io::Error {
    let kind = if matches!(error, Error::NotFound { .. }) { io::ErrorKind::NotFound } else { io::ErrorKind::Other };
    io::Error::new(kind, describe(error))
}

/// An error in one line: what the store answered, or why there was no answer. The library's own text has the whole answer
/// in it, with the id of the key that signed.
fn describe(error: &Error) -> String {
    let text = error.to_string();
    let between = |start: &str, end: &str| Some(text.split_once(start)?.1.split_once(end)?.0.trim());
    let status = between("status code: ", ":");
    if let Some(status) = status {
        return match (between("<Code>", "</Code>"), between("<Message>", "</Message>")) {
            (Some(code), Some(message)) => format!("the store answered {status}, {code}: {message}"),
            (Some(code), None) => format!("the store answered {status}, {code}"),
            _ => format!("the store answered {status}"),
        };
    }
    let last = causes(error).last().map_or_else(|| text.clone(), ToString::to_string);
    let reason = last.split_whitespace().collect::<Vec<_>>().join(" ");
    if has_no_answer(error) { format!("no answer from the store: {reason}") } else { reason }
}

fn causes(error: &Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |cause| (*cause).source())
}

fn has_no_answer(error: &Error) -> bool {
    causes(error).any(<dyn std::error::Error>::is::<HttpError>)
}
