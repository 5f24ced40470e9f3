//! Reloads the key file of a running server, so that keys are added and removed without a restart.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use ad_core::lock::locked;

use super::{KeySet, KeysError, Verifier, keys::TOKEN_KEYS};
use ad_server_base::secret::KeyFileError;

/// A file whose keys a verifier uses.
pub struct KeyFile {
    path: PathBuf,
    verifier: Arc<Verifier>,
    known: Mutex<Option<String>>,
}

ad_server_base::debug_by_name!(KeyFile);

impl KeyFile {
    pub fn new(path: PathBuf, verifier: Arc<Verifier>) -> Self {
        Self { path, verifier, known: Mutex::default() }
    }

    /// Gives the verifier the keys of the file if its content has changed. After an error, the last good keys stay in use.
    pub async fn reload(&self) -> Result<(), KeysError> {
        let text = tokio::fs::read_to_string(&self.path).await;
        let failed = |source| KeyFileError::Read { what: TOKEN_KEYS, path: self.path.clone(), source };
        let text = text.map_err(failed)?;
        let keys = KeySet::in_file(&text, &self.path)?;
        let mut known = locked(&self.known);
        if known.as_ref() != Some(&text) {
            self.verifier.replace_keys(&keys);
            if known.is_some() {
                tracing::info!(path = %self.path.display(), kids = ?keys.ids(), "token keys reloaded");
            }
            *known = Some(text);
        }
        Ok(())
    }
}
