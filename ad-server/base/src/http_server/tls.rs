//! Certificate and key of TLS: checked at start, and reloaded when the files change.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
    sign::{CertifiedKey, SingleCertAndKey},
};
use tokio_rustls::TlsAcceptor;

use super::expiry;

/// Pause between two checks of the files. SIGHUP checks at once.
const LOOK: Duration = Duration::from_secs(30);

/// Where certificate and key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those of the authorities between it and the root, as PEM.
    pub cert: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

impl TlsFiles {
    /// Reads and checks them.
    ///
    /// # Errors
    /// When they cannot be read or do not match.
    pub fn check(&self) -> Result<(), TlsError> {
        Certificates::load(self.clone()).map(drop)
    }
}

/// Why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read {}: {source}; set the PEM file with --{setting}", .path.display())]
    Read { path: PathBuf, source: io::Error, setting: &'static str },
    #[error("{}: {problem}", .path.display())]
    Wrong { path: PathBuf, problem: String },
}

/// A certificate and its key as they were read last.
pub(super) struct Certificates {
    files: TlsFiles,
    cert: Vec<u8>,
    key: Vec<u8>,
    config: Arc<ServerConfig>,
    expiry: Expiry,
}

/// When the first certificate of the chain in use expires, in seconds since 1970. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Expiry(Arc<AtomicI64>);

impl Expiry {
    pub(super) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Certificates {
    /// Reads and checks certificate and key.
    pub(super) fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let (cert, key) = (read(&files.cert, "tls-cert")?, read(&files.key, "tls-key")?);
        let (config, expires) = check(&files, &cert, &key)?;
        Ok(Self { files, cert, key, config: Arc::new(config), expiry: Expiry(Arc::new(expires.into())) })
    }

    /// The expiry, updated when the files are reloaded.
    pub(super) fn expiry(&self) -> Expiry {
        self.expiry.clone()
    }

    /// Serves connections with this pair.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// The acceptors of the pairs that replace this one.
    pub(super) fn newer(self) -> BoxStream<'static, TlsAcceptor> {
        let pairs = stream::unfold(self, |mut certificates| async move {
            certificates.changed().await;
            Some((certificates.acceptor(), certificates))
        });
        pairs.boxed()
    }

    /// Returns when there is a new usable pair.
    async fn changed(&mut self) {
        let mut hangup = Hangup::new();
        let mut complained = None;
        loop {
            let asked = tokio::select! {
                () = hangup.asked() => true,
                () = tokio::time::sleep(LOOK) => false,
            };
            match Self::load(self.files.clone()) {
                Ok(new) if new.cert != self.cert || new.key != self.key => {
                    tracing::info!(file = %self.files.cert.display(), "certificate reloaded");
                    self.expiry.0.store(new.expiry.get(), Ordering::Relaxed);
                    *self = Self { expiry: self.expiry.clone(), ..new };
                    return;
                }
                Ok(_) => complained = None,
                Err(error) => {
                    let problem = error.to_string();
                    if asked || complained.as_ref() != Some(&problem) {
                        tracing::warn!(problem, "cannot reload certificate; keeping the previous one");
                    }
                    complained = Some(problem);
                }
            }
        }
    }
}

fn read(path: &Path, setting: &'static str) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source, setting })
}

/// Checks what would otherwise fail only with the first client. Returns also when the first certificate expires.
fn check(files: &TlsFiles, cert: &[u8], key: &[u8]) -> Result<(ServerConfig, i64), TlsError> {
    let wrong = |path: &Path, problem: &str| TlsError::Wrong { path: path.to_owned(), problem: problem.to_owned() };
    let chain = CertificateDer::pem_slice_iter(cert).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| wrong(&files.cert, &format!("not a PEM file: {error}")))?;
    if chain.is_empty() {
        return Err(wrong(
            &files.cert,
            "contains no certificate; expected the server's certificate in PEM, followed by intermediate certificates",
        ));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| match error {
        pem::Error::NoItemsFound => {
            wrong(&files.key, "contains no private key; expected one in PEM, without a passphrase")
        }
        error => wrong(&files.key, &format!("not a PEM file: {error}")),
    })?;
    let expiries = chain.iter().map(|cert| {
        expiry::not_after(cert).ok_or_else(|| wrong(&files.cert, "not a valid certificate: no time of its expiry"))
    });
    let first = expiries.collect::<Result<Vec<_>, _>>()?.into_iter().min().unwrap_or_default();
    server_config(chain, key).map(|config| (config, first)).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            wrong(&files.key, &format!("the key does not match the certificate in {}", files.cert.display()))
        }
        rustls::Error::InvalidCertificate(error) => wrong(&files.cert, &format!("not a valid certificate: {error}")),
        error => wrong(&files.key, &format!("unusable key: {error}")),
    })
}

fn server_config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<ServerConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let pair = CertifiedKey::from_der(chain, key, &provider)?;
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_no_client_auth().with_cert_resolver(Arc::new(SingleCertAndKey::from(pair)));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// SIGHUP, where there is one.
struct Hangup {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangup {
    #[cfg(unix)]
    fn new() -> Self {
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
        Self { signal: signal.inspect_err(|error| tracing::warn!(%error, "cannot handle SIGHUP")).ok() }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    async fn asked(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            signal.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}
