//! The access log: a line for each answered request, with who sent it.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Instant,
};

use hyper::body::Body as _;
use poem::{
    Request, Response,
    http::{HeaderMap, Method},
};
use uuid::Uuid;

use ad_server_access::auth::Caller;
use ad_server_base::{http_server::Proxies, telemetry::traces};

/// Target of the lines, for log filters.
const TARGET: &str = "ad_server::access";

/// What the router and the authentication learn about a request.
#[derive(Debug, Default)]
pub(super) struct RequestFacts {
    /// The caller. Empty until the token has been verified.
    pub(super) caller: OnceLock<Caller>,
    /// The template of its path, if it has one.
    pub(super) route: OnceLock<Arc<str>>,
}

pub(super) struct LoggedRequest {
    id: Uuid,
    method: Method,
    client: Option<IpAddr>,
    seen: Arc<RequestFacts>,
    begun: Instant,
}

impl LoggedRequest {
    /// `None` if the access log is off.
    pub(super) fn of(request: &Request, id: Uuid, seen: &Arc<RequestFacts>, proxies: &Proxies) -> Option<Self> {
        if !tracing::enabled!(target: TARGET, tracing::Level::DEBUG) {
            return None;
        }
        let remote = request.remote_addr().as_socket_addr().map(|remote| remote.ip().to_canonical());
        let client = remote.map(|remote| client(remote, request.headers(), proxies));
        let method = request.method().clone();
        Some(Self { id, method, client, seen: Arc::clone(seen), begun: Instant::now() })
    }

    /// Writes the line. The size is that of the body as it is sent, unless it is a stream.
    pub(super) fn answered(self, mut response: Response) -> Response {
        let Self { id, method, client, seen, begun } = self;
        let sent = hyper::Response::from(Response::from(response.take_body())).into_body();
        let bytes = sent.size_hint().exact();
        response.set_body(sent);
        let caller = seen.caller.get();
        let scope = |claim| caller.filter(|caller| caller.scope.claim() == claim).map(|caller| caller.scope.name());
        traces::logged(id).in_scope(|| {
            tracing::debug!(
                target: TARGET,
                %method,
                path = seen.route.get().map_or("unknown", |route| &**route),
                status = response.status().as_u16(),
                ms = begun.elapsed().as_millis(),
                bytes,
                client = client.map(tracing::field::display),
                dealer_code = scope("dealer_code"),
                dealer_group = scope("dealer_group"),
                operator = caller.is_some_and(|caller| caller.scope.claim() == "operator").then_some(true),
                jti = caller.map(|caller| &*caller.jti),
                "answered"
            );
        });
        response
    }
}

/// The address of the client. If a trusted proxy has sent the request, it is the last address in `X-Forwarded-For` that is not a
/// trusted proxy.
fn client(remote: IpAddr, headers: &HeaderMap, proxies: &Proxies) -> IpAddr {
    let values = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let values: Vec<_> = values.flat_map(|value| value.split(',')).collect();
    let mut nearest = remote;
    for value in values.iter().rev() {
        // An entry counts only if a trusted proxy has added it. Entries before an invalid one cannot be trusted.
        let Some(before) = value.trim().parse::<IpAddr>().ok().filter(|_| proxies.contains(nearest)) else { break };
        nearest = before.to_canonical();
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(remote: &str, forwarded: &[&'static str]) -> String {
        let proxies = Proxies::new(["10.0.0.0/8".parse().unwrap()]);
        let headers = forwarded.iter().map(|value| ("x-forwarded-for".parse().unwrap(), value.parse().unwrap()));
        client(remote.parse().unwrap(), &headers.collect(), &proxies).to_string()
    }

    #[test]
    fn the_client_is_whom_trusted_proxies_name() {
        assert_eq!(of("192.0.2.1", &["198.51.100.7"]), "192.0.2.1", "anybody can send the header");
        assert_eq!(of("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(of("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(
            of("10.0.0.1", &["203.0.113.9, 198.51.100.7, 10.0.0.2"]),
            "198.51.100.7",
            "what the client wrote is first"
        );
        assert_eq!(of("10.0.0.1", &["203.0.113.9", "2001:db8::1"]), "2001:db8::1");
        assert_eq!(of("10.0.0.1", &["198.51.100.7, unknown"]), "10.0.0.1");
    }
}
