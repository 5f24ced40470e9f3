//! The OpenAPI document as others use it: linters and a fuzzer find nothing, and the clients that generators make of it
//! work. `docs/clients.md` is run as it stands: its programs, and its commands.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use ad_tests::{
    Server,
    tools::{self, Tool},
};
use tokio::process::Command;

const GUIDE: &str = include_str!("../../docs/clients.md");

/// What compiles TypeScript, with the types of Node.
pub(crate) const TYPESCRIPT: Tool = Tool::Node("import 'typescript'; import.meta.resolve('@types/node/package.json')");

/// Longest time that one script may take: a generator takes half a minute where two run at once.
const LIMIT: Duration = Duration::from_mins(4);

/// The documents of all operations.
const DOCUMENTS: [&str; 2] = ["openapi.json", "openapi-3.1.json"];

/// Documents of one vehicle type each, with registration and without, for the linter that would take minutes for all types.
const OF_TYPES: [(&str, &str); 3] = [
    ("openapi-car.json", "/openapi.json?tag=car"),
    ("openapi-boat.json", "/openapi.json?tag=boat"),
    ("openapi-3.1-car.json", "/openapi-3.1.json?tag=car"),
];

/// A folder with the document of a server, in which scripts use the tools.
pub(crate) struct Workshop {
    /// Where the tools are.
    folders: Vec<PathBuf>,
    pub(crate) server: Server,
    pub(crate) dir: tempfile::TempDir,
}

impl Workshop {
    /// Nothing where one of these tools is missing.
    pub(crate) async fn with(needed: &[Tool]) -> Option<Self> {
        let found: Option<Vec<_>> = needed.iter().map(|tool| tools::find(*tool)).collect();
        let folders = found?.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
        let server = Server::start().await;
        let dir = tempfile::tempdir().unwrap();
        let documents = DOCUMENTS.map(|name| (name, format!("/{name}")));
        for (name, path) in documents.into_iter().chain(OF_TYPES.map(|(name, path)| (name, path.to_owned()))) {
            let document = server.client.with_token(None).get(&path).await;
            fs::write(dir.path().join(name), &document.bytes).unwrap();
        }
        if let Ok(modules) = tools::node_modules().canonicalize() {
            symlink(modules, dir.path().join("node_modules")).unwrap();
        }
        fs::write(dir.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
        for config in ["redocly.yaml", "spectral.yaml", "schemathesis.toml", "schemathesis_hooks.py"] {
            let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(config);
            fs::copy(kept, dir.path().join(config)).unwrap();
        }
        Some(Self { folders, server, dir })
    }

    /// Runs a script in the folder, which must succeed; returns what it printed.
    pub(crate) async fn run(&self, script: &str) -> String {
        let path = tools::path();
        let path = std::env::join_paths(self.folders.iter().cloned().chain(std::env::split_paths(&path))).unwrap();
        let running = Command::new("sh")
            .args(["-euc", script])
            .current_dir(self.dir.path())
            .env("PATH", path)
            .env("AD_URL", &self.server.client.base)
            .env("AD_TOKEN", self.server.client.token.as_deref().unwrap())
            // No tool tells anybody that it was used.
            .env("REDOCLY_TELEMETRY", "off")
            .env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true")
            .env("DO_NOT_TRACK", "1")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(LIMIT, running).await.unwrap_or_else(|_| panic!("takes too long: {script}"));
        let output = output.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{script}\n{printed}\n{}", text(&output.stderr));
        printed
    }

    /// Does what a section of the guide says, and expects the message of the 400 that its program provokes.
    async fn follow(&self, section: &str) {
        self.follow_to(section, "occurs twice in this list").await;
    }

    async fn follow_to(&self, section: &str, message: &str) {
        let sections = ["Before you start", section].map(|title| {
            let (_, section) = GUIDE.split_once(&format!("\n## {title}\n")).expect("the guide has this section");
            section.split("\n## ").next().unwrap()
        });
        let mut commands = String::new();
        // What stands between fences: its first line says the language, and the name of a file.
        for block in sections.iter().flat_map(|section| section.split("```").skip(1).step_by(2)) {
            let (info, text) = block.split_once('\n').unwrap();
            match info.split_once(' ') {
                Some((_, file)) => fs::write(self.dir.path().join(file), text).unwrap(),
                None if info == "sh" => commands.push_str(text),
                None => {}
            }
        }
        let printed = self.run(&commands).await;
        assert!(printed.contains(message), "{printed}");
        let listed = self.server.client.get("/v4/car").await.expect(200);
        assert_eq!((&listed["count"], &listed["results"][0]["body"]), (&1.into(), &"New tyres.".into()), "{listed}");
    }
}

#[tokio::test]
async fn linters_find_nothing() {
    let Some(workshop) = Workshop::with(&["openapi-spec-validator", "redocly", "spectral"].map(Tool::Program)).await
    else {
        return;
    };
    let documents = DOCUMENTS.join(" ");
    workshop.run(&format!("for it in {documents}; do openapi-spec-validator $it; done")).await;
    workshop.run(&format!("redocly lint --config redocly.yaml {documents} 2>&1")).await;
    for (document, _) in OF_TYPES {
        workshop.run(&format!("spectral lint --ruleset spectral.yaml --fail-severity hint {document}")).await;
    }
}

#[tokio::test]
async fn openapi_fetch_client_works() {
    let Some(workshop) =
        Workshop::with(&[TYPESCRIPT, Tool::Node("import 'openapi-fetch'"), Tool::Program("openapi-typescript")]).await
    else {
        return;
    };
    workshop.follow("openapi-typescript and openapi-fetch (TypeScript)").await;
}

#[tokio::test]
async fn hey_api_client_works() {
    let Some(workshop) = Workshop::with(&[TYPESCRIPT, Tool::Program("openapi-ts")]).await else { return };
    workshop.follow("Hey API (TypeScript)").await;
}

#[tokio::test]
async fn typescript_fetch_client_works() {
    let Some(workshop) = Workshop::with(&[TYPESCRIPT, Tool::Program("openapi-generator-cli")]).await else { return };
    workshop.follow_to("OpenAPI Generator (TypeScript)", "https").await;
}

#[tokio::test]
async fn openapi_python_client_works() {
    let Some(workshop) =
        Workshop::with(&[Tool::Program("openapi-python-client"), Tool::Python("import attrs, dateutil, httpx")]).await
    else {
        return;
    };
    workshop.follow("openapi-python-client (Python)").await;
}

#[tokio::test]
async fn openapi_generator_client_works() {
    let Some(workshop) =
        Workshop::with(&[Tool::Program("openapi-generator-cli"), Tool::Python("import dateutil, pydantic, urllib3")])
            .await
    else {
        return;
    };
    workshop.follow("OpenAPI Generator (Python)").await;
}

/// One vehicle type with everything, one without registration, and what is there once.
#[tokio::test]
async fn schemathesis_finds_nothing() {
    let Some(workshop) = Workshop::with(&[Tool::Program("schemathesis")]).await else { return };
    let fuzz = "schemathesis --config-file schemathesis.toml run openapi.json --url \"$AD_URL\" --header \"X-Auth-Token: $AD_TOKEN\" \
        --phases examples,fuzzing --max-examples 15 --seed 1 --suppress-health-check all --no-color \
        --include-tag car --include-tag boat --include-tag ad --include-tag lookups";
    workshop.run(fuzz).await;
}
