//! What was probably meant by a path that does not exist, and by an ad that is not found (extensions E3.11).

use std::collections::BTreeSet;

use ad_core::{
    categories::{self, Category},
    model::{AdFilter, AdQuery, Page},
    synonyms::{languages::Language, values},
    violation::nearest,
};
use percent_encoding::{percent_decode_str, utf8_percent_encode};
use uuid::Uuid;

use super::{
    call::Call,
    errors::Advised,
    operations::{BasePath, OPERATIONS, bases as bases_of_ads},
    versions::SEGMENT,
};

/// Maximum length of a path that is repeated and compared, in bytes.
const LONGEST: usize = 200;

/// Paths of documents, which have no version.
const DOCUMENTS: [&str; 6] =
    ["/docs/swagger-ui/", "/docs/redoc/", "/docs/errors/", "/openapi.json", "/healthz", "/readyz"];

/// Names that people expect behind an ad, and what there is instead of a path: `{ad}` is the path of the ad, `{base}` that of its type.
const WORDS: &[(&[&str], &str)] = &[
    (&["delete", "remove", "destroy"], "Did you mean DELETE {ad}?"),
    (&["update", "edit", "change", "save", "patch"], "Did you mean PATCH {ad}?"),
    (&["create", "new", "add"], "Did you mean POST {base}?"),
    (
        &["publish", "activate", "submit", "unpublish", "deactivate"],
        "Ads are published without a request of their own: GET {ad}/log says how far one is, and DELETE {ad} takes it down.",
    ),
    (
        &["images", "image", "photos", "photo", "pictures", "media", "image_urls", "upload"],
        "Images are a field of the ad: send image_urls with PATCH {ad}.",
    ),
    (&["history", "events", "requests"], "Did you mean {ad}/log?"),
    (&["promote", "renew", "refresh"], "Did you mean {ad}/bump?"),
];

/// The text about a path that does not exist.
pub(super) fn path(path: &str) -> Advised {
    let text = "Not found.".to_owned();
    if path.len() > LONGEST {
        return Advised::new(text);
    }
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    let hint = word(&parts).unwrap_or_else(|| match existing(&parts).as_slice() {
        [] => "The paths are in /openapi.json and at /docs/swagger-ui/.".to_owned(),
        meant => format!("Did you mean {}?", meant.join(" or ")),
    });
    Advised::new(text).but(format!("There is no path {path}. {hint}"))
}

/// What there is instead of a name behind an ad.
fn word(parts: &[&str]) -> Option<String> {
    let [version, name, source_id, word] = parts else { return None };
    let base = format!("/{version}/{name}");
    if !exists(&base) || DOCUMENTS.contains(&base.as_str()) {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let (_, hint) = WORDS.iter().find(|(words, _)| words.contains(&word.as_str()))?;
    // Ads of every type are read below /v4/ad, and written below the path of their type.
    let base = if base == "/v4/ad" { "/v4/{vehicle_type}" } else { &base };
    Some(hint.replace("{ad}", &format!("{base}/{source_id}")).replace("{base}", base))
}

/// Paths that exist and are like this one.
fn existing(parts: &[&str]) -> Vec<String> {
    let path = format!("/{}", parts.join("/"));
    if exists(&path) {
        return vec![path];
    }
    meant(parts).into_iter().filter(|meant| exists(meant.split([' ', ',']).next().unwrap_or_default())).collect()
}

/// Whether the service has this path. A parameter may stand for any part.
fn exists(path: &str) -> bool {
    let parts = || path.split('/').skip(1);
    let fits = |known: String| {
        let (mut known, mut sent) =
            (known.split('/').skip(1).map(str::to_owned).collect::<Vec<_>>().into_iter(), parts());
        loop {
            match (known.next(), sent.next()) {
                (None, None) => return true,
                (Some(known), Some(sent)) if known.starts_with(':') || known == sent || sent.starts_with('{') => {}
                _ => return false,
            }
        }
    };
    let of_ads =
        bases_of_ads().flat_map(|base| base.operations().map(move |operation| format!("{base}{}", operation.path)));
    let once = BasePath::Service.operations().map(|operation| operation.path.to_owned());
    DOCUMENTS.contains(&path) || of_ads.chain(once).any(fits)
}

fn meant(parts: &[&str]) -> Vec<String> {
    let version = parts.iter().position(|part| ["v3", "v4"].contains(&part.to_ascii_lowercase().as_str()));
    let Some(version) = version else { return without_version(parts) };
    let (is_v3, below) = (parts[version].eq_ignore_ascii_case("v3"), &parts[version + 1..]);
    match below {
        [] => vec![if is_v3 { "/v3/ad" } else { "/v4/{vehicle_type}, such as /v4/car" }.to_owned()],
        ["ad", rest @ ..] if is_v3 => within_ad("/v3/ad", rest),
        [_, rest @ ..] if is_v3 => {
            // What is not about ads is only in V4.
            let of_v4 = meant(&[&["v4"], below].concat());
            let of_v3 = joined("/v3/ad", rest);
            if others().contains(below[0]) || below[0].starts_with("vehicle") { of_v4 } else { vec![of_v3] }
        }
        ["vehicle" | "vehicles"] => vec!["/v4/vehicles/{vehicle_type}/attributes".to_owned()],
        ["vehicle" | "vehicles", vehicle_type, rest @ ..] => {
            let known = rest.first().map_or("attributes", |attribute| *attribute);
            let types = if categories::by_vehicle_type(vehicle_type).is_some() {
                vec![(*vehicle_type).to_owned()]
            } else {
                bases(vehicle_type)
            };
            types.iter().map(|name| format!("/v4/vehicles/{name}/{known}")).collect()
        }
        ["events", "stream" | "sse" | "live"] => vec!["/v4/events (with Accept: text/event-stream)".to_owned()],
        [name, rest @ ..] => {
            let is_known = *name == "ad" || categories::by_vehicle_type(name).is_some();
            if is_known {
                return match rest {
                    [] | [_] => vec![joined(&format!("/v4/{name}"), rest)],
                    _ => within_ad(&format!("/v4/{name}"), rest),
                };
            }
            if others().contains(name) {
                return vec![other(name, rest)];
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
pub(super) async fn ad(call: &Call<'_>) -> Advised {
    if let Some(found) = nearly(call).await {
        return found;
    }
    let create = match call.path.base {
        BasePath::Typed(vehicle_type, _) => format!("To create it, send POST /v4/{vehicle_type}."),
        BasePath::Generic | BasePath::Service => "To create one, send POST /v4/{vehicle_type}.".to_owned(),
        BasePath::V3 => "To create it, send POST /v3/ad.".to_owned(),
    };
    Advised::new("Not found. No ad in the token's scope has this source_id.").but(create)
}

/// The text about an ad with nearly this source id, or with this id.
async fn nearly(call: &Call<'_>) -> Option<Advised> {
    let sent = call.source_id.as_str();
    let filter = match sent.parse::<Uuid>() {
        Ok(id) => AdFilter::Id(id),
        Err(_) => AdFilter::SourceId(variants(sent)),
    };
    let page = Page { limit: 1, ..Page::default() };
    let query = AdQuery { filters: vec![filter], page, ..AdQuery::default() };
    let service = &call.context().service;
    let found =
        call.context().in_turn(call.access(), None, false, service.list(call.access(), None, query)).await.ok()?;
    let ad = &found.rows.first()?.ad;
    let base = ad.category().and_then(|category: &Category| category.vehicle_type).unwrap_or("ad");
    let path = format!("/v4/{base}/{}", utf8_percent_encode(&ad.source_id, SEGMENT));
    let path =
        if matches!(call.path.base, BasePath::V3) { path.replacen(&format!("/v4/{base}"), "/v3/ad", 1) } else { path };
    let text = if ad.id.to_string().eq_ignore_ascii_case(sent) {
        format!("Not found. This is the id of an ad; use its source_id, \"{}\".", ad.source_id)
    } else if ad.source_id == sent {
        format!("Not found. The ad with this source_id is of another vehicle type, \"{base}\".")
    } else {
        format!("Not found. An ad has nearly this source_id, \"{}\".", ad.source_id)
    };
    Some(Advised { suggestion: Some(ad.source_id.clone()), ..Advised::new(text).but(format!("See {path}.")) })
}

/// What was probably meant by a source id: itself under another type, other spaces or case, an encoding or ending too many.
fn variants(sent: &str) -> Vec<String> {
    let decoded = percent_decode_str(sent).decode_utf8_lossy().into_owned();
    let trimmed = decoded.trim();
    let stem = [".json", ".xml", "/"].iter().find_map(|ending| trimmed.strip_suffix(ending)).unwrap_or(trimmed);
    let spaced = [format!("{trimmed} "), format!(" {trimmed}")];
    let mut variants = vec![
        sent.to_owned(),
        decoded.clone(),
        trimmed.to_owned(),
        stem.to_owned(),
        trimmed.to_lowercase(),
        trimmed.to_uppercase(),
    ];
    variants.extend(spaced);
    variants.retain(|variant| !variant.is_empty());
    variants.sort();
    variants.dedup();
    variants
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
            ("//v4/car", "Did you mean /v4/car?"),
            ("/v4//car/validate", "Did you mean /v4/car/validate?"),
            ("//v4/car/1/log", "Did you mean /v4/car/1/log?"),
            ("/v3/vehicles/car/attributes", "Did you mean /v4/vehicles/car/attributes?"),
            ("/v3/vehicles/car/brand", "Did you mean /v4/vehicles/car/brand?"),
            ("/v3/events", "Did you mean /v4/events?"),
            ("/v4/vehicle/car/attributes", "Did you mean /v4/vehicles/car/attributes?"),
            ("/v4/vehicle/cars/brand", "Did you mean /v4/vehicles/car/brand?"),
            ("/v4/events/stream", "Did you mean /v4/events (with Accept: text/event-stream)?"),
            ("/v4/car/m61/delete", "Did you mean DELETE /v4/car/m61?"),
            ("/v4/ad/m61/Update", "Did you mean PATCH /v4/{vehicle_type}/m61?"),
            ("/v3/ad/m61/delete", "Did you mean DELETE /v3/ad/m61?"),
            ("/v4/car/m61/publish", "GET /v4/car/m61/log"),
            ("/v4/car/m61/images", "send image_urls with PATCH /v4/car/m61."),
            ("/v4/car/m61/renew", "Did you mean /v4/car/m61/bump?"),
        ] {
            assert!(path(sent).to_string().contains(right), "{sent}: {}", path(sent));
        }
        assert_eq!(path(&"/x".repeat(1000)).to_string(), "Not found.");
    }

    #[test]
    fn a_path_that_does_not_exist_is_never_offered() {
        for sent in ["/v3/ad/car/brand/x", "/v3/cars/1/2/3/4", "/v4/vehicles/car/attributes/x", "/v4/webhooks/1/x/y/z"]
        {
            for meant in existing(&sent.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>()) {
                assert!(exists(meant.split(' ').next().unwrap()), "{sent}: {meant}");
            }
        }
        assert!(!exists("/v3/vehicles/car/brand") && exists("/v4/webhooks/{webhook_id}") && exists("/healthz"));
    }

    #[test]
    fn an_id_is_looked_up_as_it_may_have_been_meant() {
        for (sent, meant) in [("m61.json", "m61"), ("m61 ", "m61"), ("m61", "m61 "), ("a%2Fb", "a/b"), ("abc", "ABC")] {
            assert!(variants(sent).iter().any(|variant| variant == meant), "{sent}: {:?}", variants(sent));
        }
    }
}
