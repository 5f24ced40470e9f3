//! Reloads the key file of a running server, so that keys are added and removed without a restart.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::{KeySet, KeysError, Verifier};

/// Gives a verifier the keys of a file whenever its content changes, for ever; looks at it with this pause in between. While
/// the file is missing or unusable, the last good keys stay in use, and the log says so.
pub async fn follow(path: PathBuf, verifier: Arc<Verifier>, pause: Duration) {
    let mut known = None;
    let mut logged = None;
    loop {
        let problem = match read(&path).await {
            Ok((text, keys)) => {
                if known.as_ref() != Some(&text) {
                    verifier.replace_keys(&keys);
                    if known.is_some() {
                        tracing::info!(path = %path.display(), kids = ?keys.ids(), "token keys reloaded");
                    }
                    known = Some(text);
                }
                None
            }
            Err(error) => Some(error.to_string()),
        };
        if problem != logged {
            if let Some(problem) = &problem {
                tracing::error!(problem, "cannot reload token keys; keeping the previous ones");
            }
            logged = problem;
        }
        tokio::time::sleep(pause).await;
    }
}

async fn read(path: &PathBuf) -> Result<(String, KeySet), KeysError> {
    let text = tokio::fs::read_to_string(path).await;
    let text = text.map_err(|source| KeysError::Read { path: path.clone(), source })?;
    let keys = KeySet::in_file(&text, path)?;
    Ok((text, keys))
}
