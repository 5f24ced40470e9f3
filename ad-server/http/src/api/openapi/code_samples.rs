//! Samples of each operation in four languages (`x-codeSamples`), which Redoc shows beside it. They are complete programs, and send
//! a short form of the example payload. Address and token come from the environment.

use ad_core::rulebook::Rulebook;
use poem::http::Method;
use serde_json::{Value, json};

use super::{
    bodies::{BodyKind, Group},
    examples, first,
};
use crate::api::operations::{Act, BasePath, Operation};

/// One request, written as a program.
#[derive(Debug)]
pub(super) struct Sample {
    method: Method,
    /// Path and query string, without scheme and host.
    address: String,
    /// The payload as indented JSON.
    body: Option<String>,
}

/// A create of the first vehicle type, for curl.
pub fn first_request(rulebook: &Rulebook) -> String {
    let body = examples::brief(rulebook, ad_core::model::ApiVersion::V4, first(), BodyKind::Create);
    let address = format!("/v4/{}", first().vehicle_type.unwrap_or_default());
    Sample { method: Method::POST, address, body: Some(indented(&body.into())) }.curl()
}

fn indented(value: &Value) -> String {
    format!("{value:#}")
}

impl Sample {
    /// A GET request without a body.
    pub(super) fn get(address: String) -> Self {
        Self { method: Method::GET, address, body: None }
    }

    pub(super) fn new(method: Method, address: String, payload: Option<&Value>) -> Self {
        Self { method, address, body: payload.map(indented) }
    }

    /// A request of an operation at a path, with a payload of this kind.
    pub(super) fn of(
        rulebook: &Rulebook,
        base: BasePath,
        operation: &Operation,
        path: &str,
        shape: Option<BodyKind>,
    ) -> Self {
        // If several categories are possible, the first one.
        let of_several = || Group::of(base, shape?).first().map(|group| group.categories[0]);
        let category = base.category().or_else(of_several).unwrap_or_else(first);
        let create = category.example(base.version(), rulebook);
        let source_id = create.get("source_id").and_then(Value::as_str).unwrap_or_default();
        let mut address = path.replace("{source_id}", source_id).replace("{revision}", "0");
        if operation.act == Act::List {
            address.push_str("?fields=source_id,state,title&limit=10");
        }
        let body = shape.map(|shape| indented(&examples::brief(rulebook, base.version(), category, shape).into()));
        Self { method: operation.method.clone(), address, body }
    }

    /// The value of `x-codeSamples`: the request in each language.
    pub(super) fn in_all_languages(&self) -> Value {
        json!([
            {"lang": "Shell", "label": "curl", "source": self.curl()},
            {"lang": "TypeScript", "source": self.typescript()},
            {"lang": "Python", "source": self.python()},
            {"lang": "Rust", "source": self.rust()},
        ])
    }

    fn curl(&self) -> String {
        let Self { method, address, body } = self;
        let request = if *method == Method::GET { String::new() } else { format!(" --request {method}") };
        let data = body.as_ref().map(|body| format!(" \\\n  --data '{}'", body.replace('\'', r"'\''")));
        format!(
            "curl --fail-with-body{request} \"$AD_URL{address}\" \\\n  --header \"X-Auth-Token: $AD_TOKEN\"{}",
            data.unwrap_or_default()
        )
    }

    fn typescript(&self) -> String {
        let Self { method, address, body } = self;
        let body =
            body.as_ref().map(|body| format!("  body: JSON.stringify({}),\n", inner(body, 2))).unwrap_or_default();
        format!(
            "const response = await fetch(`${{process.env.AD_URL}}{address}`, {{\n  method: \"{method}\",\n  \
             headers: {{ \"X-Auth-Token\": process.env.AD_TOKEN! }},\n{body}}});\n\
             if (!response.ok) throw new Error(await response.text());\n\
             console.log(await response.json());"
        )
    }

    fn python(&self) -> String {
        let Self { method, address, body } = self;
        let method = method.as_str().to_lowercase();
        let body = body.as_ref().map(|body| format!("    json={},\n", inner(body, 4))).unwrap_or_default();
        format!(
            "import os\n\nimport requests\n\nresponse = requests.{method}(\n    os.environ[\"AD_URL\"] + \"{address}\",\n    \
             headers={{\"X-Auth-Token\": os.environ[\"AD_TOKEN\"]}},\n{body})\n\
             assert response.ok, response.text\n\
             print(response.json())"
        )
    }

    fn rust(&self) -> String {
        let Self { method, address, body } = self;
        let method = method.as_str().to_lowercase();
        let (mut payload, mut sent) = (String::new(), "");
        if let Some(body) = body {
            payload = format!("    let payload = serde_json::json!({});\n", inner(body, 4));
            sent = "        .body(payload.to_string())\n";
        }
        format!(
            "#[tokio::main]\nasync fn main() -> Result<(), Box<dyn std::error::Error>> {{\n    \
             let (url, token) = (std::env::var(\"AD_URL\")?, std::env::var(\"AD_TOKEN\")?);\n{payload}    \
             let response = reqwest::Client::new()\n        \
             .{method}(format!(\"{{url}}{address}\"))\n        \
             .header(\"X-Auth-Token\", token)\n{sent}        \
             .send()\n        .await?;\n    \
             println!(\"{{}} {{}}\", response.status(), response.text().await?);\n    Ok(())\n}}"
        )
    }
}

/// Indents all lines but the first by this number of spaces.
fn inner(lines: &str, spaces: usize) -> String {
    lines.replace('\n', &format!("\n{}", " ".repeat(spaces)))
}
