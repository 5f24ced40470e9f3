//! `ad-cli login`: save server URL and token in a profile.

use std::io::{self, IsTerminal};

use ad_core::model::Page;

use crate::{
    AdQuery, ErrorKind,
    cli::claims::{Claims, Validity, approximate_distance},
    terminal::{
        Context, Failure, ad_table, ask_hidden, output,
        profiles::{Profile, Profiles},
        token_of_environment,
    },
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The token is read from AD_TOKEN, from a prompt without echo, or from stdin. It cannot be an argument, because shells keep command lines in \
their history. The command checks the token at the service and saves server URL and token in the profile, in a file that only you can read.

Examples:
  ad-cli login --url https://ads.example.com
  ad-cli login --url https://ads.example.com --profile north < token.txt")]
pub(crate) struct LoginArgs {
    /// Save the profile without checking the token at the service
    #[arg(long)]
    no_check: bool,
}

pub(crate) async fn run(context: &Context, args: &LoginArgs) -> Result<(), Failure> {
    let mut profiles = Profiles::of_user()?;
    let name = context.profile().to_owned();
    let url = address(context, profiles.get(&name))?;
    let token = token()?;
    let client = context.client_for(&url, &token)?;
    let Some(claims) = Claims::of(&token) else {
        return Err(Failure::unauthorised("invalid token: expected three parts separated by dots")
            .hint("copy the whole token; if you have none, ask customer support"));
    };
    if claims.validity(context.now()) == Validity::Expired {
        let end = claims.expires().map(|end| approximate_distance(end, context.now())).unwrap_or_default();
        return Err(
            Failure::unauthorised(format!("the token expired {end}")).hint("ask customer support for a new token")
        );
    }
    if !args.no_check {
        let question =
            AdQuery { page: Page { limit: 1, offset: 0 }, fields: Some(vec!["source_id"]), ..AdQuery::default() };
        match client.v4().list_as::<serde_json::Value>(&question).await {
            Ok(_) => {}
            // It is known, and may do something else.
            Err(error) if matches!(error.kind(), ErrorKind::Forbidden(_)) => {
                context.out.warning("the token has no permission to read ads");
            }
            Err(error) => return Err(error.into()),
        }
    }
    profiles.put(&name, Profile { url: client.url().to_owned(), token })?;
    let until = claims.expires().map_or("until it is revoked".to_owned(), |end| {
        format!("until {} ({})", ad_table::minute_of(end), approximate_distance(end, context.now()))
    });
    let path = profiles.path().display();
    context.out.note(&format!("Profile {name:?}: {} as {}, {until}. Saved in {path}", client.url(), claims.scope()));
    if token_of_environment()?.is_some() {
        context.out.note("AD_TOKEN is set and overrides the token of the profile");
    }
    Ok(())
}

/// Where the service is: given, asked for, or as it was.
fn address(context: &Context, known: Option<&Profile>) -> Result<String, Failure> {
    // An invalid address is rejected before the prompt for the token.
    let check = |url: &str| context.client_for(url, "not-yet-known").map(drop);
    if let Some(url) = context.url() {
        return check(url).map(|()| url.to_owned());
    }
    let known = known.map(|profile| profile.url.clone());
    if !io::stdin().is_terminal() {
        return known.ok_or_else(|| Failure::usage("no server URL").hint("set it: --url URL"));
    }
    let shown = known.as_ref().map(|url| format!(" [{url}]")).unwrap_or_default();
    loop {
        let typed = prompt(&format!("Server URL{shown}: "))?;
        if typed.is_empty() {
            return known.ok_or_else(|| Failure::usage("no server URL"));
        }
        match check(&typed) {
            Ok(()) => return Ok(typed),
            Err(failure) => context.show_failure(&failure),
        }
    }
}

fn prompt(question: &str) -> Result<String, Failure> {
    output::ask(question).map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))
}

fn token() -> Result<String, Failure> {
    if let Some(token) = token_of_environment()? {
        return Ok(token);
    }
    let typed = if io::stdin().is_terminal() {
        ask_hidden("Token (not echoed): ")
            .map_err(|error| Failure::usage(format!("cannot prompt for the token: {error}")))?
    } else {
        prompt("")?
    };
    let token = typed.trim();
    if token.is_empty() {
        return Err(Failure::unauthorised("no token").hint("enter it at the prompt, pipe it to stdin, or set AD_TOKEN"));
    }
    Ok(token.to_owned())
}
