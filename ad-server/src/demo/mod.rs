//! Stand-in.
#[derive(Debug, clap::Args)]
/// X
pub struct DemoArgs {}
/// X
#[derive(Debug, thiserror::Error)]
#[error("x")]
pub struct DemoError;
/// X
pub async fn run(_: DemoArgs) -> Result<(), DemoError> {
    Ok(())
}
