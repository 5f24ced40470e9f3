//! An answer against what the document says of it.

use std::collections::BTreeSet;

use ad_tests::Answer;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use super::requests::Request;
use crate::openapi::{Contract, Described};

/// What about an answer the document does not describe.
pub(super) fn judge(
    contract: &Contract,
    operation: &Described,
    request: &Request,
    answer: &Answer,
) -> Result<(), String> {
    let status = answer.status;
    let shown = || String::from_utf8_lossy(&answer.bytes).chars().take(400).collect::<String>();
    if status.is_server_error() {
        return Err(format!("{status}: {}", shown()));
    }
    if request.must_succeed && status != StatusCode::OK {
        return Err(format!("{status}, though every parameter is as described: {}", shown()));
    }
    if request.method == Method::OPTIONS && status != StatusCode::NOT_FOUND {
        let allow = header(answer, "allow")?;
        let is_whole = status == StatusCode::NO_CONTENT && allow.ends_with("OPTIONS");
        return if is_whole { Ok(()) } else { Err(format!("OPTIONS is answered {status}, Allow: {allow}")) };
    }
    if header(answer, "content-type")? != "application/json" {
        return Err(format!("{status} with another content type than JSON"));
    }
    if header(answer, "x-request-id")?.len() != 36 {
        return Err("the request id is no UUID".to_owned());
    }
    let body: Value = serde_json::from_slice(&answer.bytes).map_err(|error| format!("{status}: {error}"))?;
    if request.method != operation.method {
        return not_allowed_or_another(contract, operation, request, answer, &body);
    }
    // A source id that is a name of the contract, or none at all, makes it another path.
    let Some((response, described)) = contract.response(operation, status.as_u16()) else {
        return Err(format!("{status} is not described: {}", shown()));
    };
    for (name, _) in described["headers"].as_object().into_iter().flatten() {
        let described = contract.at(&format!("{response}/headers/{name}"));
        if described.is_some_and(|(_, header)| header["required"] == true) {
            header(answer, name)?;
        }
    }
    match contract.mismatch(&format!("{response}/content/application~1json/schema"), &body) {
        Some(mismatch) => Err(format!("{status} {mismatch}: {}", shown())),
        None => Ok(()),
    }
}

fn header<'a>(answer: &'a Answer, name: &str) -> Result<&'a str, String> {
    answer.header(name).ok_or_else(|| format!("{} without {name}", answer.status))
}

/// A method other than the operation's: one that the path has too, or a 405 that names those that it has.
fn not_allowed_or_another(
    contract: &Contract,
    operation: &Described,
    request: &Request,
    answer: &Answer,
    body: &Value,
) -> Result<(), String> {
    let item = &contract.document["paths"][&operation.path];
    let of_path = |item: &Value| -> BTreeSet<String> {
        let members = item.as_object().into_iter().flatten().map(|(method, _)| method.to_uppercase());
        members.filter(|method| method != "PARAMETERS").collect()
    };
    let mut methods = of_path(item);
    // The one operation that exists, rejects every request and stands on a path with others.
    if operation.path == "/v4/trailer" {
        methods.insert("POST".to_owned());
    }
    // A name of the contract may be a source id too.
    if let Some(above) = operation.path.strip_suffix("/validate") {
        methods.extend(of_path(&contract.document["paths"][format!("{above}/{{source_id}}")]));
    }
    if item.get(request.method.as_str().to_lowercase()).is_some() || methods.contains(request.method.as_str()) {
        return Ok(());
    }
    // An odd name may be no path at all, or an odd path.
    if answer.status == StatusCode::NOT_FOUND && operation.path.contains('{') {
        return detailed(contract, body);
    }
    if answer.status != StatusCode::METHOD_NOT_ALLOWED {
        return Err(format!("{} and not 405", answer.status));
    }
    // Neither is an operation of its own.
    let named = header(answer, "allow")?.split(", ").filter(|name| !matches!(*name, "HEAD" | "OPTIONS"));
    let allowed: BTreeSet<_> = named.map(str::to_owned).collect();
    if allowed != methods && !operation.path.contains('{') {
        return Err(format!("Allow names {allowed:?}, the document {methods:?}"));
    }
    detailed(contract, body)
}

fn detailed(contract: &Contract, body: &Value) -> Result<(), String> {
    contract.mismatch("/components/schemas/Detail", body).map_or(Ok(()), Err)
}
