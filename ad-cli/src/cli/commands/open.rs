//! `ad-cli open`: an ad in the console, or the documentation of the service's API.

use std::io::IsTerminal;

use crate::{
    Client, Target,
    bulk::Invocation,
    cli::acts,
    terminal::{Context, Failure},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Opens the page of an ad in the console of the service; where it has no console, the documentation of its API can still be opened.

Examples:
  ad-cli open                   interactive documentation of the API
  ad-cli open car-1             the ad in the console
  ad-cli open ABC123            the same, by its plate
  ad-cli open redoc
  ad-cli open openapi --print")]
pub(crate) struct OpenArgs {
    /// Source id or plate of an ad, or a page of the documentation: swagger, redoc or openapi
    #[arg(value_name = "SOURCE_ID|PAGE", default_value = "swagger")]
    what: String,
    /// Print the address instead of opening it; the default without a terminal or browser
    #[arg(long)]
    print: bool,
}

/// Pages of the documentation, with their paths.
const PAGES: [(&str, &str); 3] =
    [("swagger", "/docs/swagger-ui/"), ("redoc", "/docs/redoc/"), ("openapi", "/openapi.json")];

pub(crate) async fn run(context: &Context, args: &OpenArgs) -> Result<(), Failure> {
    let page = PAGES.iter().find(|(name, _)| *name == args.what);
    let url = match page {
        // Checks that the address is one; no token is needed.
        Some((_, path)) => format!("{}{path}", context.client_without_token()?.url()),
        None => page_of_ad(&context.client()?, &args.what).await?,
    };
    let opens = !args.print && context.out.is_for_people() && std::io::stdout().is_terminal();
    if opens && open::that_detached(&url).is_ok() {
        context.out.note(&format!("opened {url}"));
        return Ok(());
    }
    Ok(context.out.text(&format!("{url}\n"))?)
}

/// The console's page of an ad.
async fn page_of_ad(client: &Client, source_id: &str) -> Result<String, Failure> {
    let ad = acts::read(client, Target::from(source_id)).await?.body;
    if !client.has_console().await? {
        return Err(Failure::failed(
            "the service has no console, and marketplaces do not tell the addresses of their pages",
        )
        .hint(("to show the ad here", Invocation::of_user("get").with("source_id", &*ad.source_id))));
    }
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("source_id", &ad.source_id)
        .append_pair("dealer_code", &ad.dealer_code)
        .finish();
    Ok(format!("{}/console/ad?{query}", client.url()))
}
