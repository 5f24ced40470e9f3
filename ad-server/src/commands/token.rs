//! `ad-server token`: issue, list, revoke.

use std::{str::FromStr, time::Duration};

use ad_core::{
    model::{Page, Timestamp},
    ports::{Clock, Ids},
};
use clap::{Args, Subcommand, builder::NonEmptyStringValueParser};

use super::{CommandDatabase, CommandError, GlobalArgs, KeyArgs, ListArgs, refused};
use crate::config::Layer;
use crate::output;
use ad_core::service::Access;
use ad_server_access::auth::{self, IssueRequest, Permission};
use ad_server_base::{
    limits::table::SIGN_IN_LINKS,
    system::{RandomIds, SystemClock},
    values::{InvalidPeriod, Period},
};
use ad_server_store::{AccessScope, TokenRecord};

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Issue a token and print it on stdout
    Issue(IssueArgs),
    /// List issued and revoked tokens; the tokens themselves are not stored
    List {
        /// Only tokens of this dealer
        #[arg(long, value_name = "CODE")]
        dealer_code: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Revoke a token, or all tokens of a dealer; running servers reject them within a second
    Revoke {
        /// Id of the token from `token list`, or the `jti` claim of another issuer's token
        #[arg(value_parser = jti, required_unless_present = "dealer_code", conflicts_with = "dealer_code")]
        jti: Option<String>,
        /// All tokens that were issued here for this dealer
        #[arg(long, value_name = "CODE")]
        dealer_code: Option<String>,
    },
}

/// Flags of `token issue`.
#[derive(Debug, Args)]
pub(super) struct IssueArgs {
    #[command(flatten)]
    scope: ScopeArgs,
    /// Validity, such as 90d or 12h; `never` means valid until revoked
    #[arg(long, value_name = "TIME|never", default_value = "365d")]
    expires: Expires,
    /// Permissions: read, write, promote (bump and pole position), webhooks, access (sign-in links) [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "operator")]
    permissions: Option<Vec<Permission>>,
    /// Name of the client, which `GET /v4/me` returns to it
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    label: Option<String>,
    #[command(flatten)]
    keys: KeyArgs,
}

/// Expiry of a token: after a time, or never.
#[derive(Debug, Clone, Copy)]
enum Expires {
    After(Period),
    Never,
}

/// Not a time after which a token may expire.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{0}, or `never`")]
struct InvalidExpires(InvalidPeriod);

impl FromStr for Expires {
    type Err = InvalidExpires;

    fn from_str(text: &str) -> Result<Self, InvalidExpires> {
        if text == "never" { Ok(Self::Never) } else { text.parse().map(Self::After).map_err(InvalidExpires) }
    }
}

impl Expires {
    fn duration(self) -> Option<Duration> {
        match self {
            Self::After(period) => Some(period.duration()),
            Self::Never => None,
        }
    }
}

/// Whose ads.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ScopeArgs {
    /// Grant access to the ads of this dealer
    #[arg(long, value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    dealer_code: Option<String>,
    /// Grant access to the ads of all dealers of this group
    #[arg(long, value_name = "GROUP", value_parser = NonEmptyStringValueParser::new())]
    dealer_group: Option<String>,
    /// Grant access to the pages for operators in the console, and to no ads
    #[arg(long)]
    operator: bool,
}

impl ScopeArgs {
    fn scope(self) -> Option<Access> {
        let operator = self.operator.then_some(Access::Operator);
        self.dealer_code.map(Access::Dealer).or(self.dealer_group.map(Access::Group)).or(operator)
    }
}

fn jti(text: &str) -> Result<String, &'static str> {
    if auth::is_jti(text) { Ok(text.to_owned()) } else { Err("a token id has 1 to 255 characters") }
}

pub(super) async fn run(base: GlobalArgs, command: TokenCommand) -> Result<(), CommandError> {
    match command {
        TokenCommand::Issue(args) => issue(base, args).await,
        TokenCommand::List { dealer_code, list: args } => list(base, dealer_code.as_deref(), &args).await,
        TokenCommand::Revoke { jti: Some(jti), .. } => revoke(base, &jti).await,
        TokenCommand::Revoke { jti: None, dealer_code } => revoke_all(base, &dealer_code.unwrap_or_default()).await,
    }
}

async fn issue(base: GlobalArgs, args: IssueArgs) -> Result<(), CommandError> {
    let scope = args
        .scope
        .scope()
        .ok_or_else(|| CommandError::Input("no scope: use --dealer-code, --dealer-group or --operator".to_owned()))?;
    let settings = base.settings(Layer { token_key: args.keys.token_key, ..Layer::default() })?;
    let opened = CommandDatabase::new(&settings).await?;
    let keys = settings.key_source().existing()?;
    output::note(&format!("token keys {}", settings.key_source().name()));
    warn_of_unknown(&opened, &scope).await?;
    let request = IssueRequest {
        scope,
        permissions: args.permissions.map(|permissions| permissions.into_iter().collect()),
        expires_in: args.expires.duration(),
        label: args.label,
        now: SystemClock.now(),
        jti: RandomIds::new(std::sync::Arc::new(SystemClock)).next(),
    };
    let (token, record) = auth::issue(&keys, &request)?;
    let record = TokenRecord { issued_by: Some(super::audit::operator()), ..record };
    opened.audit("token issue", &record.jti, &described(&request.scope, &record)).await?;
    opened.answer(opened.database.record_token(&record).await)?;
    output::note(&described(&request.scope, &record));
    Ok(output::text(&format!("{token}\n"))?)
}

/// A token may be made before its dealer is imported, but it may also be a slip of the pen.
pub(super) async fn warn_of_unknown(opened: &CommandDatabase, scope: &Access) -> Result<(), CommandError> {
    let dealers = opened.answer(opened.database.dealers().await)?;
    let (known, what) = match scope {
        Access::Dealer(code) => (dealers.iter().any(|dealer| dealer.code == *code), "no dealer has the code"),
        Access::Group(group) => {
            (dealers.iter().any(|dealer| dealer.group.as_ref() == Some(group)), "no dealer is in the group")
        }
        Access::Operator => (true, ""),
    };
    if !known {
        output::note(&format!("warning: {what} {:?} yet; see `ad-server dealers list`", scope.name()));
    }
    Ok(())
}

fn described(scope: &Access, record: &TokenRecord) -> String {
    let end = record.expires.map_or("valid until it is revoked".to_owned(), |end| format!("valid until {end}"));
    match scope {
        Access::Operator => format!("token {} for operators, {end}", record.jti),
        _ => format!("token {} for {} {:?}, {end}", record.jti, scope.claim(), scope.name()),
    }
}

async fn list(base: GlobalArgs, dealer_code: Option<&str>, args: &ListArgs) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let mut tokens = opened.answer(opened.database.tokens().await)?;
    tokens.retain(|token| dealer_code.is_none_or(|code| token.is_of(code)));
    if args.json {
        return Ok(output::json(&tokens)?);
    }
    let now = SystemClock.now();
    let header =
        ["JTI", "SCOPE", "OF", "PERMISSIONS", "ISSUED", "EXPIRES", "STATE", "LAST USED", "LABEL", "ISSUED BY", "KEY"];
    Ok(output::table(header, tokens.into_iter().map(|token| row(token, now)))?)
}

fn row(token: TokenRecord, now: Timestamp) -> [String; 11] {
    let state = match (token.revoked, token.expires) {
        (Some(at), _) => format!("revoked {}", output::minute(at)),
        (None, Some(end)) if end <= now => "expired".to_owned(),
        (None, _) => "valid".to_owned(),
    };
    let (all, never) = match token.issued {
        Some(_) => ("all", "never"),
        // Another issuer's: what it says is not known.
        None => ("-", "-"),
    };
    [
        token.jti,
        output::or_dash(token.scope_type),
        output::or_dash(token.scope),
        token.permissions.map_or(all.to_owned(), |names| names.join(",")),
        output::or_dash(token.issued.map(output::minute)),
        token.expires.map_or(never.to_owned(), output::minute),
        state,
        output::or_dash(token.last_used.map(output::minute)),
        output::or_dash(token.label),
        output::or_dash(token.issued_by),
        output::or_dash(token.kid),
    ]
}

async fn revoke_all(base: GlobalArgs, dealer_code: &str) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let mut tokens = opened.answer(opened.database.tokens().await)?;
    tokens.retain(|token| token.is_of(dealer_code) && token.revoked.is_none());
    let links = withdraw_links(&opened, dealer_code).await?;
    if tokens.is_empty() && links == 0 {
        return refused(format!("no token that is not revoked was issued here for dealer {dealer_code:?}"));
    }
    for TokenRecord { jti, .. } in &tokens {
        opened.answer(opened.operator().revoke(jti, dealer_code).await)?;
        output::note(&format!("revoked {jti}"));
    }
    Ok(())
}

/// Withdraws the sign-in links of a dealer that have not been used, and returns their number.
async fn withdraw_links(opened: &CommandDatabase, dealer_code: &str) -> Result<usize, CommandError> {
    let (scopes, now) = ([Access::Dealer(dealer_code.to_owned()).key()], SystemClock.now());
    let (scope, all) = (AccessScope::Of(&scopes), Page { limit: SIGN_IN_LINKS, offset: 0 });
    let found = opened.answer(opened.database.console_access(scope, now, all).await)?;
    let links: Vec<_> = found.rows.into_iter().filter(|access| !access.is_session).collect();
    for link in &links {
        opened.audit("console end", &link.id.to_string(), dealer_code).await?;
        opened.answer(opened.database.end_console_access(scope, link.id, now).await)?;
        output::note(&format!("withdrew sign-in link {}", link.id));
    }
    Ok(links.len())
}

async fn revoke(base: GlobalArgs, jti: &str) -> Result<(), CommandError> {
    let opened = base.database().await?;
    let issued_here = opened.answer(opened.operator().revoke(jti, "").await)?;
    output::note(&format!("revoked {jti}"));
    if !issued_here {
        // Another issuer's token, or a slip of the pen.
        output::note(&format!(
            "note: database {} did not issue this token; check the id with `ad-server token list`",
            opened.url
        ));
    }
    Ok(())
}
