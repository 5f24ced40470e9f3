//! What was probably meant by a path that does not exist, and by an ad that is not found (extensions E3.11).

use std::collections::BTreeSet;

use ad_core::{
    categories::{self, Category},
    model::AdQuery,
    service::{Access, Service},
    synonyms::{languages::Language, values},
    violation::nearest,
};
use ad_parameters::{AD_PARAMETERS, FromParameters};
use percent_encoding::utf8_percent_encode;
use uuid::Uuid;

use super::{
    call::Call,
    operations::{BasePath, OPERATIONS},
    versions::SEGMENT,
};

/// Maximum length of a path that is repeated and compared, in bytes.
const LONGEST: usize = 200;

/// Paths without a version.
const DOCUMENTS: [&str; 6] =
    ["/docs/swagger-ui/", "/docs/redoc/", "/docs/errors/", "/openapi.json", "/healthz", "/readyz"];

/// The text about a path that does not exist.
pub(super) fn path(path: &str) -> String {
    if path.len() > LONGEST {
        return "Not found.".to_owned();
    }
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    let meant = meant(&parts);
    let hint = match meant.as_slice() {
        [] => "The paths are in /openapi.json and at /docs/swagger-ui/.".to_owned(),
        meant => format!("Did you mean {}?", meant.join(" or ")),
    };
    format!("Not found: there is no path {path}. {hint}")
}

fn meant(parts: &[&str]) -> Vec<String> {
    let version = parts.iter().position(|part| ["v3", "v4"].contains(&part.to_ascii_lowercase().as_str()));
    let Some(version) = version else { return without_version(parts) };
    let (is_v3, below) = (parts[version].eq_ignore_ascii_case("v3"), &parts[version + 1..]);
    match below {
        [] => vec![if is_v3 { "/v3/ad" } else { "/v4/{vehicle_type}, such as /v4/car" }.to_owned()],
        ["ad", rest @ ..] if is_v3 => within_ad("/v3/ad", rest),
        [_, rest @ ..] if is_v3 => vec![joined("/v3/ad", rest)],
        ["vehicles"] => vec!["/v4/vehicles/{vehicle_type}/attributes".to_owned()],
        ["vehicles", vehicle_type, ..] => {
            bases(vehicle_type).iter().map(|name| format!("/v4/vehicles/{name}/attributes")).collect()
        }
        [name, rest @ ..] => {
            let is_known = *name == "ad" || categories::by_vehicle_type(name).is_some();
            if is_known && version == 0 {
                return within_ad(&format!("/v4/{name}"), rest);
            }
            let typed = bases(name);
            if typed.is_empty() {
                return nearest::similar(name, others().into_iter())
                    .first()
                    .map(|name| other(name, rest))
                    .into_iter()
                    .collect();
            }
            typed.iter().map(|name| joined(&format!("/v4/{name}"), rest)).collect()
        }
    }
}

/// The first parts below `/v4/` of the paths that are not about ads.
fn others() -> BTreeSet<&'static str> {
    let parts = BasePath::Service.operations().filter_map(|operation| operation.path.strip_prefix("/v4/"));
    parts.filter_map(|path| path.split('/').next()).filter(|name| *name != "vehicles").collect()
}

/// The path with such a first part that is most like what was sent.
fn other(name: &str, rest: &[&str]) -> String {
    let prefix = format!("/v4/{name}/:");
    let below = BasePath::Service.operations().filter_map(|operation| operation.path.strip_prefix(&prefix));
    let below: Vec<_> = below.map(|path| path.split_once('/').unwrap_or((path, ""))).collect();
    let Some((parameter, _)) = below.first() else { return format!("/v4/{name}") };
    let exists_alone = BasePath::Service.operations().any(|operation| operation.path == format!("/v4/{name}"));
    match rest {
        _ if !exists_alone => format!("/v4/{name}/{{{parameter}}}"),
        [] => format!("/v4/{name}"),
        [id] => format!("/v4/{name}/{id}"),
        [id, sent, ..] => {
            let known = below.iter().map(|(_, path)| *path).filter(|path| !path.is_empty() && !path.contains('/'));
            match nearest::similar(sent, known).first() {
                Some(meant) => format!("/v4/{name}/{id}/{meant}"),
                None => format!("/v4/{name}/{id}"),
            }
        }
    }
}

/// A path that has no version: one of the documents, or a vehicle type.
fn without_version(parts: &[&str]) -> Vec<String> {
    let documents = DOCUMENTS.iter().filter(|document| {
        let name = document.trim_matches('/').trim_start_matches("docs/");
        let is_like = |part: &&str| {
            let part = part.to_ascii_lowercase();
            part.len() > 3 && (name.contains(&part) || !nearest::similar(&part, std::iter::once(name)).is_empty())
        };
        parts.last().is_some_and(is_like)
    });
    let documents: Vec<_> = documents.map(|document| (*document).to_owned()).collect();
    if !documents.is_empty() {
        return documents;
    }
    let typed = parts.iter().enumerate().find_map(|(index, part)| {
        let names = bases(part);
        (!names.is_empty()).then(|| (names, &parts[index + 1..]))
    });
    typed.map_or_else(Vec::new, |(names, rest)| names.iter().map(|name| joined(&format!("/v4/{name}"), rest)).collect())
}

/// A path below an ad.
fn within_ad(base: &str, rest: &[&str]) -> Vec<String> {
    match rest {
        [source_id, name] => {
            let known = OPERATIONS.iter().filter_map(|operation| operation.path.strip_prefix("/:source_id/"));
            let meant = nearest::similar(name, known).into_iter().next();
            let encoded = || format!("{base}/{source_id}%2F{name} (if the source_id has a slash)");
            vec![meant.map_or_else(encoded, |meant| format!("{base}/{source_id}/{meant}"))]
        }
        [_, _, ..] => vec![format!("{base}/{} (if the source_id has slashes)", rest.join("%2F"))],
        _ => Vec::new(),
    }
}

fn joined(base: &str, rest: &[&str]) -> String {
    [base].iter().chain(rest).copied().collect::<Vec<_>>().join("/")
}

/// The vehicle types, or `ad`, that a name may stand for: `cars`, `agriculture`, `lastbil`.
pub(super) fn bases(name: &str) -> Vec<String> {
    let types = || categories::typed().map(|(vehicle_type, _)| vehicle_type);
    let below = types().filter(|known| known.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')));
    let below: Vec<_> = below.map(str::to_owned).collect();
    if !below.is_empty() {
        return below;
    }
    let near = nearest::similar(name, types().chain(["ad"]));
    if !near.is_empty() {
        return near.into_iter().map(str::to_owned).collect();
    }
    let called = values::builtin_map("vehicle", "all", Language::Any).resolve(name);
    called.unwrap_or_default().into_iter().map(String::from).collect()
}

/// The text about an ad that does not exist.
pub(super) async fn ad(call: &Call<'_>) -> String {
    if let Some(found) = by_id(&call.context().service, call.access(), &call.source_id).await {
        return found;
    }
    let create = match call.path.base {
        BasePath::Typed(vehicle_type, _) => format!("To create it, send POST /v4/{vehicle_type}."),
        BasePath::Generic | BasePath::Service => "To create one, send POST /v4/{vehicle_type}.".to_owned(),
        BasePath::V3 => "To create it, send POST /v3/ad.".to_owned(),
    };
    format!("Not found. No ad in the token's scope has this source_id. {create}")
}

/// The text about an ad whose id is used instead of its source id.
async fn by_id(service: &Service, access: &Access, id: &str) -> Option<String> {
    id.parse::<Uuid>().ok()?;
    let query = [("id", id), ("limit", "1")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let found = service.list(access, None, AdQuery::parse(AD_PARAMETERS, &query).ok()?).await.ok()?;
    let ad = &found.rows.first()?.ad;
    let base = ad.category().and_then(|category: &Category| category.vehicle_type).unwrap_or("ad");
    let source_id = utf8_percent_encode(&ad.source_id, SEGMENT);
    Some(format!("Not found. The path has the id of an ad; use its source_id: /v4/{base}/{source_id}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_path_leads_to_the_right_one() {
        for (sent, right) in [
            ("/v4/cars", "Did you mean /v4/car?"),
            ("/v4/cars/123", "Did you mean /v4/car/123?"),
            ("/v4/ads", "Did you mean /v4/ad?"),
            ("/v4/agriculture", "/v4/agriculture-thresher or /v4/agriculture-tractor or /v4/agriculture-tools"),
            ("/v4/lastbil", "Did you mean /v4/truck?"),
            ("/v4/Car", "Did you mean /v4/car?"),
            ("/api/v4/car/1", "Did you mean /v4/car/1?"),
            ("/v5/car", "Did you mean /v4/car?"),
            ("/v3/car/1", "Did you mean /v3/ad/1?"),
            ("/v4/car/1/logs", "Did you mean /v4/car/1/log?"),
            ("/v4/car/a/b", "/v4/car/a%2Fb"),
            ("/v4/car/1/2/3", "/v4/car/1%2F2%2F3"),
            ("/v4/vehicles/cars", "/v4/vehicles/car/attributes"),
            ("/v4/vehicles", "/v4/vehicles/{vehicle_type}/attributes"),
            ("/swagger", "/docs/swagger-ui/"),
            ("/openapi.yaml", "/openapi.json"),
            ("/v4", "/v4/{vehicle_type}"),
            ("/v4/spaceship", "/openapi.json"),
            ("/v4/event", "Did you mean /v4/events?"),
            ("/v4/events/1", "Did you mean /v4/events?"),
            ("/v4/summry", "Did you mean /v4/summary?"),
            ("/v4/request/1", "Did you mean /v4/requests/{request_id}?"),
            ("/v4/webhook/1", "Did you mean /v4/webhooks/1?"),
            ("/v4/webhooks/1/tests", "Did you mean /v4/webhooks/1/test?"),
            ("/v4/webhooks/1/send", "Did you mean /v4/webhooks/1?"),
        ] {
            assert!(path(sent).contains(right), "{sent}: {}", path(sent));
        }
        assert_eq!(path(&"/x".repeat(1000)), "Not found.");
    }
}
