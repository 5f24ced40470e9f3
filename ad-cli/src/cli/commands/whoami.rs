//! `ad-cli whoami`: what the token in use says.

use serde_json::json;

use crate::{
    ListQuery,
    cli::{
        Context, Failure,
        claims::{Claims, Validity, away},
    },
};

/// Arguments of `whoami`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The token is read, not verified: only the service can tell whether it is genuine and not revoked. --online asks it.

Exit code 4: the token has expired, or the service does not take it.")]
pub(crate) struct Args {
    /// Ask the service whether it takes the token
    #[arg(long)]
    online: bool,
}

pub(crate) async fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let connection = context.connection()?;
    let claims = Claims::of(&connection.token).ok_or_else(|| {
        Failure::unauthorised("the token in use is none: a token has three parts with dots between them")
            .hint("run: ad-cli login")
    })?;
    let now = context.now();
    let validity = claims.validity(now);
    let people = context.out.is_for_people();
    let expires = match claims.expires() {
        Some(end) if people => Some(format!("{end} ({})", away(end, now))),
        Some(end) => Some(end.to_string()),
        None => people.then(|| "never".to_owned()),
    };
    let permissions = match &claims.permissions {
        Some(names) => json!(names),
        None if people => json!("all"),
        None => json!(null),
    };
    let answer = json!({
        "url": connection.url,
        "profile": connection.profile,
        "token_from": if connection.profile.is_some() { "profile" } else { "AD_TOKEN" },
        "dealer_code": claims.dealer_code,
        "dealer_group": claims.dealer_group,
        "permissions": permissions,
        "issuer": claims.iss,
        "token_id": claims.jti,
        "issued": claims.issued(),
        "expires": expires,
        "validity": validity,
    });
    let order =
        ["url", "profile", "token_from", "dealer_code", "dealer_group", "permissions", "issued", "expires", "validity"];
    context.out.record_in(&answer, &order)?;
    match validity {
        Validity::Valid => {}
        Validity::Expired => {
            return Err(Failure::unauthorised("the token has expired")
                .hint("a new one comes from customer support; then run: ad-cli login"));
        }
        Validity::NotYet => return Err(Failure::unauthorised("the token is not valid yet")),
    }
    if args.online {
        let client = context.client_for(&connection.url, &connection.token)?;
        let question = ListQuery::new().with("limit", 1).with("fields", "source_id");
        let ads = client.v4().list_as::<serde_json::Value>(&question).await?;
        context.out.note(&format!("the service takes the token, and shows it {} ads", ads.count));
    }
    Ok(())
}
