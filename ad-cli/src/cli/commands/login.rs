//! `ad-cli login`: keep where the service is and who calls.

use std::io::{self, BufRead, IsTerminal};

use crate::{
    ErrorKind, ListQuery,
    cli::{
        Context, Failure,
        claims::{Claims, Validity, away},
        global::token_of_environment,
        output,
        profiles::{Profile, Profiles},
    },
};

/// Arguments of `login`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The token is taken from AD_TOKEN if that is set; else it is asked for, without showing what is typed, or read from stdin. It is never an
argument: what stands on a command line is kept in the shell's history. The service is asked whether it takes the token; then both are kept
in the profile, in a file that only you may read.

Examples:
  ad-cli login --url https://ads.example.com
  ad-cli login --url https://ads.example.com --profile north < token.txt")]
pub(crate) struct Args {
    /// Keep the profile without asking the service whether it takes the token
    #[arg(long)]
    no_check: bool,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let mut profiles = Profiles::of_user()?;
    let name = context.profile().to_owned();
    let url = address(context, profiles.get(&name))?;
    // What cannot be an address is told before a token is asked for.
    context.client_for(&url, "not-yet-known")?;
    let token = token()?;
    let client = context.client_for(&url, &token)?;
    let Some(claims) = Claims::of(&token) else {
        return Err(Failure::unauthorised("this is not a token: a token has three parts with dots between them"));
    };
    if claims.validity(context.now()) == Validity::Expired {
        let end = claims.expires().map(|end| away(end, context.now())).unwrap_or_default();
        return Err(
            Failure::unauthorised(format!("this token expired {end}")).hint("a new one comes from customer support")
        );
    }
    if !args.no_check {
        let question = ListQuery::new().with("limit", 1).with("fields", "source_id");
        match client.v4().list_as::<serde_json::Value>(&question).await {
            Ok(_) => {}
            // It is known, and may do something else.
            Err(error) if matches!(error.kind(), ErrorKind::Forbidden(_)) => {
                context.out.warning("this token may not read ads");
            }
            Err(error) => return Err(error.into()),
        }
    }
    profiles.put(&name, Profile { url: client.url().to_owned(), token })?;
    let until = claims
        .expires()
        .map_or("until it is revoked".to_owned(), |end| format!("until {end} ({})", away(end, context.now())));
    let path = profiles.path().display();
    context.out.note(&format!("Profile {name:?}: {} as {}, {until}. Kept in {path}", client.url(), claims.scope()));
    if token_of_environment()?.is_some() {
        context.out.note("AD_TOKEN is set, and counts more than the profile");
    }
    Ok(())
}

/// Where the service is: given, asked for, or as it was.
fn address(context: &Context, known: Option<&Profile>) -> Result<String, Failure> {
    if let Some(url) = context.url() {
        return Ok(url.to_owned());
    }
    let known = known.map(|profile| profile.url.clone());
    if !io::stdin().is_terminal() {
        return known
            .ok_or_else(|| Failure::usage("the address of the service is not known").hint("name it: --url URL"));
    }
    let shown = known.as_ref().map(|url| format!(" [{url}]")).unwrap_or_default();
    let typed = asked(&format!("Address of the service{shown}: "))?;
    if typed.is_empty() { known.ok_or_else(|| Failure::usage("no address was given")) } else { Ok(typed) }
}

fn asked(question: &str) -> Result<String, Failure> {
    let _ = output::ask(question);
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))?;
    Ok(line.trim().to_owned())
}

fn token() -> Result<String, Failure> {
    if let Some(token) = token_of_environment()? {
        return Ok(token);
    }
    let typed = if io::stdin().is_terminal() {
        rpassword::prompt_password("Token (it is not shown): ")
            .map_err(|error| Failure::usage(format!("cannot ask for the token: {error}")))?
    } else {
        let mut line = String::new();
        io::stdin()
            .lock()
            .read_line(&mut line)
            .map_err(|error| Failure::usage(format!("cannot read stdin: {error}")))?;
        line
    };
    let token = typed.trim();
    if token.is_empty() {
        return Err(
            Failure::unauthorised("no token was given").hint("type it when asked, pipe it to stdin, or set AD_TOKEN")
        );
    }
    Ok(token.to_owned())
}
