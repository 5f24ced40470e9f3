//! The parts put together and run.

use crate::config::Settings;

/// Why the service cannot run.
#[derive(Debug, thiserror::Error)]
pub enum AppError {}

/// Runs the service until it is told to stop.
pub async fn serve(_settings: Settings) -> Result<(), AppError> {
    std::future::pending().await
}
