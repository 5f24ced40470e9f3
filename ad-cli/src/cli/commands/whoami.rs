//! `ad-cli whoami`: what the token in use says.

use serde_json::json;

use crate::{
    bulk::Invocation,
    cli::claims::{Claims, Validity, approximate_distance},
    terminal::{Context, Failure, ad_table, counted},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The token is decoded, not verified: only the service can check its signature and whether it was revoked (--online).

Exit code 4: the token has expired, or the service rejects it.

Examples:
  ad-cli whoami
  ad-cli whoami --online")]
pub(crate) struct WhoamiArgs {
    /// Ask the service, which also knows the token's dealers, their ads and the rate limit
    #[arg(long)]
    online: bool,
}

pub(crate) async fn run(context: &Context, args: &WhoamiArgs) -> Result<(), Failure> {
    let connection = context.connection()?;
    let claims = Claims::of(&connection.token).ok_or_else(|| {
        Failure::unauthorised("invalid token: expected three parts separated by dots")
            .hint(("run", Invocation::of_user("login")))
    })?;
    let now = context.now();
    let validity = claims.validity(now);
    let people = context.out.is_for_people();
    let expires = match claims.expires() {
        Some(end) if people => Some(format!("{} ({})", ad_table::minute_of(end), approximate_distance(end, now))),
        Some(end) => Some(end.to_string()),
        None => people.then(|| "never".to_owned()),
    };
    let issued = claims.issued().map(|time| if people { ad_table::minute_of(time) } else { time.to_string() });
    let permissions = match &claims.permissions {
        Some(names) => json!(names),
        None if people => json!("all"),
        None => json!(null),
    };
    let me = if args.online && validity == Validity::Valid {
        Some(context.client_for(&connection.url, &connection.token)?.me().await?.body)
    } else {
        None
    };
    let mut answer = json!({
        "url": connection.url,
        "profile": connection.profile,
        "token_from": if connection.profile.is_some() { "profile" } else { "AD_TOKEN" },
        "dealer_code": claims.dealer_code,
        "dealer_group": claims.dealer_group,
        "permissions": permissions,
        "issuer": claims.iss,
        "token_id": claims.jti,
        "issued": issued,
        "expires": expires,
        "validity": validity,
    });
    let order =
        ["url", "profile", "token_from", "dealer_code", "dealer_group", "permissions", "issued", "expires", "validity"];
    if let Some(me) = &me {
        answer["label"] = json!(me.token.label);
        answer["dealers"] = json!(me.dealers);
        answer["rate_limit"] = json!(me.rate_limit);
        answer["versions"] = json!(me.versions);
        answer["documentation"] = json!(me.documentation);
    }
    context.out.record_in(&answer, &order)?;
    match validity {
        Validity::Valid => {}
        Validity::Expired => {
            return Err(Failure::unauthorised("the token has expired")
                .hint(("ask customer support for a new token; then run", Invocation::of_user("login"))));
        }
        Validity::NotYet => return Err(Failure::unauthorised("the token is not valid yet")),
    }
    if let Some(me) = me {
        let ads = me.dealers.iter().map(|dealer| dealer.ads).sum();
        context.out.note(&format!("the service accepts the token; it gives access to {}", counted(ads, "ad")));
    }
    Ok(())
}
