//! The base address of absolute links in responses.

use poem::{
    Request,
    http::uri::{Authority, Scheme},
};

use super::Context;

/// The address under which the client reached the service, without a slash at its end: as configured, else as a trusted
/// proxy says, else as the request says.
pub(super) fn base(context: &Context, request: &Request) -> String {
    if let Some(url) = &context.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let proxy =
        request.remote_addr().as_socket_addr().is_some_and(|remote| context.trusted_proxies.contains(remote.ip()));
    let forwarded = |name| if proxy { last_item(request, name) } else { None };
    let scheme = forwarded("x-forwarded-proto").and_then(known_scheme).unwrap_or_else(|| request.scheme().clone());
    let host = forwarded("x-forwarded-host").filter(|host| is_host(host));
    // HTTP/2 has the host in the address and not in a header.
    let authority = request.original_uri().authority().map(Authority::as_str);
    match host.or(request.header("host")).or(authority) {
        Some(host) => format!("{scheme}://{host}"),
        None => format!("{scheme}://{}", request.local_addr()),
    }
}

/// The address of something that the router has at a path, also where it is mounted below a path of its own.
pub(super) fn to(context: &Context, request: &Request, path: &str) -> String {
    let mounted = request.original_uri().path().strip_suffix(request.uri().path()).unwrap_or_default();
    format!("{}{mounted}{path}", base(context, request))
}

/// The last item of a header: the one that the nearest proxy has written, whatever the client had sent to it.
fn last_item<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    let value = request.headers().get_all(name).iter().next_back()?.to_str().ok()?;
    value.rsplit(',').next().map(str::trim)
}

fn known_scheme(text: &str) -> Option<Scheme> {
    [Scheme::HTTPS, Scheme::HTTP].into_iter().find(|scheme| text.eq_ignore_ascii_case(scheme.as_str()))
}

fn is_host(text: &str) -> bool {
    text.parse::<Authority>().is_ok_and(|authority| !authority.host().is_empty() && !text.contains('@'))
}
