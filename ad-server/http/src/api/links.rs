//! Addresses in responses, and the header `Link` (RFC 8288; extensions E3.6).

use poem::{
    Request,
    http::{
        HeaderValue,
        uri::{Authority, Scheme},
    },
};

use super::Context;

/// The address under which the client reached the service, without a slash at its end: as configured, else as a trusted
/// proxy says, else as the request says.
pub fn base(context: &Context, request: &Request) -> String {
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

/// The address of a path of the router, also if the router is mounted below another path.
pub(super) fn to(context: &Context, request: &Request, path: &str) -> String {
    format!("{}{}{path}", base(context, request), mounted_at(request))
}

/// Maximum size of the links between pages: proxies limit headers. With a longer query, the links are only in the body.
const MOST_BYTES: usize = 2048;

/// The links from an answer of the API to its description.
pub(super) struct OfService {
    /// With the public address of the service. Without one, they are relative to the request.
    absolute: Option<HeaderValue>,
}

impl OfService {
    pub(super) fn new(context: &Context) -> Self {
        let url = context.public_url.as_deref();
        Self { absolute: url.and_then(|url| described_at(url.trim_end_matches('/'))) }
    }

    /// The links for the answer to a request; `None` outside the API.
    pub(super) fn of(&self, request: &Request) -> Option<HeaderValue> {
        let path = request.uri().path();
        if !path.starts_with("/v4/") && !path.starts_with("/v3/") {
            return None;
        }
        match (mounted_at(request), &self.absolute) {
            ("", Some(absolute)) => Some(absolute.clone()),
            ("", None) => Some(AT_ROOT),
            (mounted, _) => described_at(mounted),
        }
    }
}

/// [`described_at`] the root of a host.
const AT_ROOT: HeaderValue = HeaderValue::from_static(
    "</openapi.json>; rel=\"service-desc\"; type=\"application/json\", </docs/swagger-ui/>; rel=\"service-doc\"; \
     type=\"text/html\"",
);

fn described_at(base: &str) -> Option<HeaderValue> {
    let links = format!(
        "<{base}/openapi.json>; rel=\"service-desc\"; type=\"application/json\", <{base}/docs/swagger-ui/>; \
         rel=\"service-doc\"; type=\"text/html\""
    );
    HeaderValue::try_from(links).ok()
}

/// The links between the pages of a list; some may be missing.
pub(super) fn between_pages<'a>(pages: impl IntoIterator<Item = (&'static str, &'a str)>) -> Option<HeaderValue> {
    let links: Vec<_> =
        pages.into_iter().map(|(relation, address)| format!("<{address}>; rel=\"{relation}\"")).collect();
    let links = links.join(", ");
    if links.len() > MOST_BYTES { None } else { HeaderValue::try_from(links).ok() }
}

/// The path below which the router is mounted, without a slash at its end.
pub fn mounted_at(request: &Request) -> &str {
    let (original, path) = (request.original_uri().path(), request.uri().path());
    // One slash at the end is ignored.
    let mounted = original.strip_suffix(path).or_else(|| original.strip_suffix('/')?.strip_suffix(path));
    mounted.unwrap_or_default()
}

/// The last item of a header, which the nearest proxy has added after those of the client.
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
