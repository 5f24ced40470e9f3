//! `ad-server marketplace`.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use clap::Args;

use super::{CommandError, GlobalArgs, refused};
use crate::{
    app::stop_signal,
    receiver::{self, ReceiverOptions, Rule, Rules},
};
use ad_server_base::{
    secret::{Secret, TokenSource},
    system::SystemClock,
    toml_file,
};

/// Environment variable of the token that callers need.
const TOKEN: &str = "AD_SERVER_MARKETPLACE_TOKEN";
/// The default database of the listings, which is not that of a service in the same folder.
const DATABASE: &str = "sqlite://data/marketplace.db";

/// Flags of `marketplace`.
#[derive(Debug, Args)]
#[command(after_help = "\
Set the token for callers with AD_SERVER_MARKETPLACE_TOKEN or --token-file. The default database is
sqlite://data/marketplace.db. This command reads no settings file. See docs/marketplace-adapter.md.")]
pub(super) struct MarketplaceArgs {
    /// Listening address of the marketplaces, which are served under /primary and /secondary
    #[arg(long, env = "AD_SERVER_MARKETPLACE_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// File with the bearer token that callers must send
    #[arg(long, env = "AD_SERVER_MARKETPLACE_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// File with fault rules
    #[arg(long, value_name = "FILE.toml")]
    faults: Option<PathBuf>,
    /// A further fault rule, such as `fault = "429", source_id_prefix = "slow-", times = 2`
    #[arg(long, value_name = "RULE")]
    fault: Vec<String>,
    /// Inject faults selected by source ids such as `fault-429-2x-car`
    #[arg(long)]
    sandbox: bool,
    /// Seed of random faults: the same seed makes the same calls fail
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

pub(super) async fn run(base: GlobalArgs, args: MarketplaceArgs) -> Result<(), CommandError> {
    let rules = args.rules()?;
    let options = ReceiverOptions {
        listen: args.listen,
        database_url: base.database_url.unwrap_or_else(|| DATABASE.to_owned()),
        token: token(args.token_file)?,
        rules,
        sandbox: args.sandbox,
        seed: args.seed,
    };
    Ok(receiver::serve(options, Arc::new(SystemClock), stop_signal()).await?)
}

fn token(file: Option<PathBuf>) -> Result<Secret, CommandError> {
    let source = match (Secret::from_environment(TOKEN), file) {
        (Some(_), Some(_)) => return refused(format!("set either {TOKEN} or --token-file, not both")),
        (Some(text), None) => TokenSource::Text(text),
        (None, Some(path)) => TokenSource::File(path),
        (None, None) => {
            let problem = format!("no token for callers: set {TOKEN}, or pass a file with the token by --token-file");
            return refused(problem);
        }
    };
    source.load().map_err(|error| CommandError::Input(error.to_string()))
}

impl MarketplaceArgs {
    /// Those of the flags come first.
    fn rules(&self) -> Result<Rules, CommandError> {
        let mut rules = self.fault.iter().map(|text| rule(text)).collect::<Result<Vec<_>, _>>()?;
        if let Some(path) = &self.faults {
            let (file, _) = toml_file::read::<Rules>(path).map_err(|error| CommandError::Input(error.to_string()))?;
            let file = file.check().map_err(|problem| CommandError::Input(format!("{}: {problem}", path.display())))?;
            rules.extend(file.rules);
        }
        Ok(Rules { rules })
    }
}

/// A rule as a flag has it: the inside of an inline table of TOML.
fn rule(text: &str) -> Result<Rule, CommandError> {
    let rules = toml_file::parse::<Rules>(&format!("rules = [{{{text}}}]")).map_err(|(_, problem)| problem);
    let checked =
        rules.and_then(Rules::check).map_err(|problem| CommandError::Input(format!("--fault {text:?}: {problem}")))?;
    match <[Rule; 1]>::try_from(checked.rules) {
        Ok([rule]) => Ok(rule),
        Err(_) => refused(format!("--fault {text:?}: expected one rule")),
    }
}
