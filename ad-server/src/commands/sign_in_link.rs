//! `ad-server sign-in-link`: a link that signs in to the console once.

use ad_core::{
    ports::{Clock, Ids},
    service::Access,
};
use clap::{Args, builder::NonEmptyStringValueParser};

use super::{CommandDatabase, CommandError, GlobalArgs, refused};
use crate::{
    config::{self, Layer},
    output,
};
use ad_server_access::auth::{Permission, Permissions};
use ad_server_base::{
    limits::table::{SIGN_IN_LINK_KEPT, SIGN_IN_LINKS},
    system::{RandomIds, SystemClock},
    values::PublicUrl,
};
use ad_server_http::console::new_sign_in_link;
use ad_server_store::NewSignInLink;

/// Flags of `sign-in-link`.
#[derive(Debug, Args)]
pub(super) struct LinkArgs {
    #[command(flatten)]
    scope: LinkScope,
    /// Person or device for whom the link is
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    label: String,
    /// Permissions: read, write, promote (bump and pole position), webhooks, access (sign-in links) [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "operator")]
    permissions: Option<Vec<Permission>>,
    #[arg(help = config::help("public_url"), long, env = "AD_SERVER_PUBLIC_URL", value_name = "URL")]
    public_url: Option<PublicUrl>,
}

/// Whose ads.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct LinkScope {
    /// Grant access to the ads of this dealer
    #[arg(long, value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    dealer_code: Option<String>,
    /// Grant access to the ads of all dealers of this group
    #[arg(long, value_name = "GROUP", value_parser = NonEmptyStringValueParser::new())]
    dealer_group: Option<String>,
    /// Grant access to the pages for operators, and to no ads
    #[arg(long)]
    operator: bool,
}

pub(super) async fn run(base: GlobalArgs, args: LinkArgs) -> Result<(), CommandError> {
    let LinkArgs { scope, label, permissions, public_url } = args;
    let scope = match (scope.dealer_code, scope.dealer_group) {
        (Some(code), _) => Access::Dealer(code),
        (None, Some(group)) => Access::Group(group),
        (None, None) => Access::Operator,
    };
    let permissions = match (&scope, permissions) {
        (Access::Operator, _) => Permissions::OPERATOR,
        (_, None) => Permissions::ALL,
        (_, Some(permissions)) => permissions.into_iter().collect(),
    };
    let settings = base.settings(Layer { public_url, ..Layer::default() })?;
    let opened = CommandDatabase::new(&settings).await?;
    super::token::warn_of_unknown(&opened, &scope).await?;
    let (link, now) = (new_sign_in_link()?, SystemClock.now());
    let names: Vec<_> = permissions.iter().map(|permission| permission.to_string()).collect();
    let by = super::audit::operator();
    let (key, expires) = (scope.key(), now + SIGN_IN_LINK_KEPT);
    let new = NewSignInLink {
        id: RandomIds::new(std::sync::Arc::new(SystemClock)).next(),
        scope: &key,
        permissions: &names,
        label: Some(&label),
        root: None,
        made_by: Some(&by),
        hash: &link.hash,
        now,
        expires,
    };
    opened.audit("sign-in-link", &key, &label).await?;
    if !opened.answer(opened.database.add_sign_in_link(&new, SIGN_IN_LINKS).await)? {
        return refused(format!(
            "{key} has {SIGN_IN_LINKS} links that have not been used, which is the maximum; withdraw one in the console, under Access"
        ));
    }
    output::note(&format!("signs in once, until {expires}"));
    let base = settings
        .public_url
        .as_ref()
        .map_or_else(|| format!("http://{}", settings.listen), |url| url.as_str().trim_end_matches('/').to_owned());
    Ok(output::text(&format!("{base}{}\n", link.path))?)
}
