//! `ad-cli open`: the documentation of the service's API.

use std::io::IsTerminal;

use crate::terminal::{Context, Failure};

/// Arguments of `open`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli open
  ad-cli open redoc
  curl $(ad-cli open openapi --print)")]
pub(crate) struct Args {
    /// The page
    #[arg(value_enum, default_value_t)]
    page: DocsPage,
    /// Print the address instead of opening it; the default without a terminal or browser
    #[arg(long)]
    print: bool,
}

/// A page of the documentation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum DocsPage {
    /// Interactive documentation
    #[default]
    Swagger,
    /// Documentation for reading
    Redoc,
    /// The OpenAPI document
    Openapi,
}

impl DocsPage {
    const fn path(self) -> &'static str {
        match self {
            Self::Swagger => "/docs/swagger-ui/",
            Self::Redoc => "/docs/redoc/",
            Self::Openapi => "/openapi.json",
        }
    }
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let url = context.address()?;
    // Checks that it is one.
    let url = format!("{}{}", context.client_for(&url, "none-needed")?.url(), args.page.path());
    let opens = !args.print && context.out.is_for_people() && std::io::stdout().is_terminal();
    if opens && open::that_detached(&url).is_ok() {
        context.out.note(&format!("opened {url}"));
        return Ok(());
    }
    Ok(context.out.text(&format!("{url}\n"))?)
}
