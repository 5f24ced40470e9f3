//! The files of `docs/operations` that deploy the service: valid, and what they start publishes an ad. There is no container engine here:
//! the same processes run with the same arguments and settings, and the page's own commands.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path, process::Stdio};

use ad_tests::{
    BucketServer, Client, ImageHost, Postgres, Process, command, eventually, ports,
    tools::{self, Tool},
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::payloads::car;

const PAGE: &str = include_str!("../../docs/operations/README.md");
const IMAGE: &str = include_str!("../../Dockerfile");

/// Reads YAML.
const YAML: Tool = Tool::Python("import yaml");

/// Where metrics are, and which process is alive and ready.
const METRICS: &str = "AD_SERVER_METRICS_LISTEN";

type Environment = BTreeMap<String, String>;

/// A folder of the project.
fn project(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path).canonicalize().unwrap()
}

/// Runs a program to its end, which must be a good one, and returns what it printed.
async fn output(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await.unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out
}

/// The commands of the page that contain this.
fn commands(with: &str) -> &'static str {
    let mut blocks = PAGE.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    blocks.find(|block| block.contains(with)).unwrap_or_else(|| panic!("no commands with {with}"))
}

/// The secrets that the commands of the page write into a file. Nothing where OpenSSL is missing.
async fn secrets(folder: &Path, file: &str) -> Option<Environment> {
    tools::find(Tool::Program("openssl"))?;
    // What follows the secrets needs an engine or a cluster.
    let making = commands(&format!("cat > {file} <<END")).split("kubectl").next().unwrap();
    output(Command::new("sh").args(["-euc", making]).current_dir(folder)).await;
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let lines = text.lines().map(|line| line.split_once('=').unwrap());
    Some(lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// The documents of a YAML file.
async fn yaml(python: &Path, path: &Path) -> Vec<Value> {
    let program = "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)";
    serde_json::from_str(&output(Command::new(python).args(["-c", program]).arg(path)).await).unwrap()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn environment(value: &Value) -> Environment {
    value.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// What a container runs: the arguments of `ad-server`, and its environment.
struct Container {
    args: Vec<String>,
    env: Environment,
}

impl Container {
    /// With what the image sets.
    fn new(args: &Value, env: Environment) -> Self {
        let set = IMAGE.lines().filter_map(|line| line.strip_prefix("ENV ")?.split_once('='));
        let image = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { args: args.as_array().unwrap().iter().map(text).collect(), env: image.chain(env).collect() }
    }

    /// A process of it in this world, with ports of its own.
    fn moved(&self, database: &str, bucket: &BucketServer) -> (Vec<&str>, Vec<(String, String)>, Client) {
        let mut env = self.env.clone();
        let metrics = format!("127.0.0.1:{}", ports::lasting());
        let moved = [
            ("AD_SERVER_DATABASE_URL", database),
            ("AWS_ENDPOINT_URL", &bucket.endpoint),
            (METRICS, &metrics),
            // What other tests set.
            ("AD_SERVER_MIGRATE", "false"),
            ("AD_SERVER_STARTUP_TIMEOUT", "60s"),
        ];
        for (name, value) in moved {
            env.insert(name.to_owned(), value.to_owned());
        }
        let client = Client::new(format!("http://{metrics}"), None);
        (self.args.iter().map(String::as_str).collect(), env.into_iter().collect(), client)
    }
}

/// The three kinds of processes that a file deploys.
struct Deployment {
    migrate: Container,
    api: Container,
    worker: Container,
}

impl Deployment {
    /// Every variable is a setting: others would be ignored.
    async fn names_settings_only(&self) {
        let file = output(&mut command(Path::new("/"), &["config"])).await;
        let settings = file.lines().filter_map(|line| line.trim_start_matches("# ").split_once(" = "));
        let mut known: Vec<_> = settings.map(|(name, _)| format!("AD_SERVER_{}", name.to_uppercase())).collect();
        known.push("AD_SERVER_TOKEN_KEYS".to_owned());
        for container in [&self.migrate, &self.api, &self.worker] {
            for name in container.env.keys().filter(|name| name.starts_with("AD_SERVER_")) {
                assert!(known.contains(name), "{name} is not a setting");
            }
        }
    }

    /// Starts its processes, and follows the page from the first dealer to the first ad. Then one with images is published, and these are
    /// served from the bucket. The containers' checks are at these paths.
    async fn publishes(&self, checks: &[&str]) {
        let (Some(postgres), Some(bucket)) = (Postgres::shared().await, BucketServer::start().await) else { return };
        let Some(_curl) = tools::find(Tool::Program("curl")) else { return };
        let Some(bash) = tools::find(Tool::Program("bash")) else { return };
        self.names_settings_only().await;
        let database = postgres.database().await;
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let host = ImageHost::start().await;

        let (args, env, _) = self.migrate.moved(&database, &bucket);
        output(command(dir, &args).envs(env)).await;

        let (args, mut env, ready) = self.api.moved(&database, &bucket);
        let listen = format!("127.0.0.1:{}", ports::lasting());
        env.push(("AD_SERVER_LISTEN".to_owned(), listen.clone()));
        let says = ["metrics at"];
        // Images of tests are on this machine.
        let (_api, _) =
            Process::start_until(dir, &[&args[..], &["--allow-private-images"]].concat(), &env, &says).await;
        let (args, working, busy) = self.worker.moved(&database, &bucket);
        let (_worker, _) =
            Process::start_until(dir, &[&args[..], &["--allow-private-images"]].concat(), &working, &says).await;
        for process in [ready, busy] {
            for path in checks.iter().chain(&["/metrics"]) {
                eventually(path, || async { (process.get(path).await.status == 200).then_some(()) }).await;
            }
        }

        let address = format!("http://{listen}");
        engine(dir, &env);
        let script = [commands("dealers import"), commands("v4/car"), "echo \"token=$TOKEN\""].concat();
        let path = format!("{}:{}", dir.display(), std::env::var("PATH").unwrap());
        let script = script.replace("http://127.0.0.1:8080", &address);
        let said = output(Command::new(bash).args(["-euc", &script]).current_dir(dir).env("PATH", path)).await;
        let token = said.lines().find_map(|line| line.strip_prefix("token=")).unwrap().to_owned();
        let client = Client::new(address, Some(token));
        client.published("car-1").await;

        client.post("/v4/car", &car("pictured", "DEP001", &host)).await.expect(201);
        let ad = client.published("pictured").await;
        let address = ad["image_refs"][0]["cdn_url"].as_str().unwrap();
        let path = address.strip_prefix(&self.api.env["AD_SERVER_PUBLIC_URL"]).unwrap_or_else(|| panic!("{address}"));
        let served = client.with_token(None).get(path).await;
        assert_eq!(served.status, 200);
        let name = path.strip_prefix("/media/").unwrap();
        let key = format!("media/{}/{}/{name}", &name[..2], &name[2..4]);
        let stored = bucket.object(&key).await.unwrap_or_else(|| panic!("{key} is not in the bucket"));
        assert_eq!(stored.bytes().await.unwrap(), served.bytes);
        postgres.drop_database(&database).await;
    }
}

/// Puts a `docker` into the folder that runs `docker compose exec … ad-server …` with the environment of the container.
fn engine(dir: &Path, env: &[(String, String)]) {
    let set = env.iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect::<Vec<_>>().concat();
    let program = command(dir, &[]).as_std().get_program().to_string_lossy().into_owned();
    let script = format!(
        "#!/bin/sh\n{set}[ \"$2\" = exec ] || exit 1\nwhile [ \"$1\" != ad-server ]; do shift; done\nshift\nexec '{program}' \"$@\"\n"
    );
    let file = dir.join("docker");
    fs::write(&file, script).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The image is named by version and digest.
fn is_pinned(image: &str) -> bool {
    let Some((name, digest)) = image.split_once("@sha256:") else { return false };
    name.contains(':') && digest.len() == 64 && digest.bytes().all(|it| it.is_ascii_hexdigit())
}

#[tokio::test]
async fn the_processes_of_the_compose_file_publish_an_ad() {
    let (Some(program), Some(python)) = (tools::find(Tool::Program("docker-compose")), tools::find(YAML)) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(_written) = secrets(folder.path(), ".env").await else { return };
    let operations = project("docs/operations");
    let file = operations.join("compose.yml");
    let mut config = Command::new(program);
    config
        .arg("--env-file")
        .arg(folder.path().join(".env"))
        .arg("--file")
        .arg(&file)
        .args(["config", "--format", "json"]);
    let compose: Value = serde_json::from_str(&output(&mut config).await).unwrap();
    let services = compose["services"].as_object().unwrap();
    for (name, service) in services {
        let image = service["image"].as_str().unwrap();
        assert!(image == "ad-server" || is_pinned(image), "{name}: {image}");
    }
    for (name, config) in compose["configs"].as_object().unwrap() {
        if let Some(file) = config["file"].as_str() {
            assert!(Path::new(file).is_file(), "{name}: there is no {file}");
        }
    }
    let of = |name: &str| Container::new(&services[name]["command"], environment(&services[name]["environment"]));
    let deployment = Deployment { migrate: of("migrate"), api: of("api"), worker: of("worker") };

    // What the processes say to the others is what these have been told.
    let (ours, postgres, store) = (
        &deployment.api.env,
        environment(&services["postgres"]["environment"]),
        environment(&services["store"]["environment"]),
    );
    let database = url::Url::parse(&ours["AD_SERVER_DATABASE_URL"]).unwrap();
    assert_eq!(database.host_str(), Some("postgres"));
    assert_eq!(database.username(), postgres["POSTGRES_USER"]);
    assert_eq!(database.password(), Some(postgres["POSTGRES_PASSWORD"].as_str()));
    assert_eq!(database.path(), format!("/{}", postgres["POSTGRES_DB"]));
    assert_eq!(url::Url::parse(&ours["AWS_ENDPOINT_URL"]).unwrap().host_str(), Some("store"));
    assert!(ours["AD_SERVER_MEDIA"].starts_with(&format!("s3://{}/", store["S3_BUCKET"])));
    for key in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
        assert_eq!(ours[key], store[key]);
    }
    let scraped = &yaml(&python, &operations.join("prometheus.yml")).await[0]["scrape_configs"][0]["dns_sd_configs"][0];
    assert_eq!(scraped["names"], json!(["api", "worker"]));
    let metrics = format!("0.0.0.0:{}", scraped["port"]);
    for container in [&deployment.api, &deployment.worker] {
        assert_eq!(container.env[METRICS], metrics);
        assert!(metrics.ends_with(&format!(":{}", container.env["HEALTH_PORT"])), "the image's health check");
    }
    deployment.publishes(&["/healthz"]).await;
}

#[test]
fn the_image_is_built_from_images_by_version_and_digest() {
    let bases: Vec<_> = IMAGE.lines().filter_map(|line| line.strip_prefix("FROM ")?.split(' ').next()).collect();
    assert_eq!(bases.len(), 2);
    for base in bases {
        assert!(is_pinned(base), "{base}");
    }
}

/// Runs the validator over manifests for a version of Kubernetes.
async fn validated(program: &Path, file: &Path, version: &str) -> bool {
    let mut command = Command::new(program);
    command.args(["--strict", "--quiet", "--kubernetes-version", version]).arg(file).kill_on_drop(true);
    command.output().await.unwrap().status.success()
}

#[tokio::test]
async fn the_manifests_for_kubernetes_fit_its_schemas() {
    let Some(program) = tools::find(Tool::Program("kubernetes-validate")) else { return };
    let file = project("docs/operations").join("kubernetes.yml");
    for version in ["1.30.0", "1.34.0", "1.37.0"] {
        assert!(validated(&program, &file, version).await, "{version}");
    }
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken.yml");
    let manifests = fs::read_to_string(&file).unwrap();
    assert!(manifests.contains("replicas: 2"));
    fs::write(&broken, manifests.replace("replicas: 2", "replica: 2")).unwrap();
    assert!(!validated(&program, &broken, "1.37.0").await, "the validator notices mistakes");
}

#[tokio::test]
async fn the_processes_of_the_manifests_publish_an_ad() {
    let Some(python) = tools::find(YAML) else { return };
    let manifests = yaml(&python, &project("docs/operations").join("kubernetes.yml")).await;
    let find = |kind: &str, name: &str| {
        let of = |it: &&Value| it["kind"] == kind && it["metadata"]["name"] == name;
        manifests.iter().find(of).unwrap_or_else(|| panic!("no {kind} {name}"))
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(secret) = secrets(folder.path(), "ads.env").await else { return };
    let settings = environment(&find("ConfigMap", "ad-server")["data"]);
    let container = |kind: &str, name: &str| {
        let it = &find(kind, name)["spec"]["template"]["spec"]["containers"][0];
        let from = json!([{"configMapRef": {"name": "ad-server"}}, {"secretRef": {"name": "ad-server"}}]);
        assert_eq!(it["envFrom"], from, "{name}");
        let own = it["env"].as_array().into_iter().flatten().map(|it| (text(&it["name"]), text(&it["value"])));
        (Container::new(&it["args"], settings.clone().into_iter().chain(secret.clone()).chain(own).collect()), it)
    };
    let (migrate, _) = container("Job", "ad-server-migrate");
    let ((api, first), (worker, second)) =
        (container("Deployment", "ad-server-api"), container("Deployment", "ad-server-worker"));
    let port = |of: &Container, name: &str| of.env[name].rsplit(':').next().unwrap().parse::<u16>().unwrap();
    for (container, it) in [(&api, first), (&worker, second)] {
        let probes = ["startupProbe", "livenessProbe", "readinessProbe"].map(|name| &it[name]["httpGet"]);
        let [startup, alive, ready] = probes.map(|probe| (probe["path"].as_str(), probe["port"].as_str()));
        assert_eq!((startup, alive), ((Some("/healthz"), Some("metrics")), (Some("/healthz"), Some("metrics"))));
        assert_eq!(ready, (Some("/readyz"), Some("metrics")));
        let ports = it["ports"].as_array().unwrap();
        let metrics = ports.iter().find(|it| it["name"] == "metrics").unwrap();
        assert_eq!(metrics["containerPort"], port(container, METRICS));
    }
    assert_eq!(first["ports"][0], json!({"name": "http", "containerPort": port(&api, "AD_SERVER_LISTEN")}));
    assert_eq!(find("Service", "ad-server")["spec"]["ports"][0]["targetPort"], "http");
    for (kind, name) in [("PodDisruptionBudget", "ad-server-api"), ("PodDisruptionBudget", "ad-server-worker")] {
        let labels = &find("Deployment", name)["spec"]["template"]["metadata"]["labels"];
        assert_eq!(&find(kind, name)["spec"]["selector"]["matchLabels"], labels);
    }
    Deployment { migrate, api, worker }.publishes(&["/healthz", "/readyz"]).await;
}

#[tokio::test]
async fn the_release_workflow_fits_its_schema_and_names_actions_by_commit() {
    let (Some(program), Some(python)) = (tools::find(Tool::Program("check-jsonschema")), tools::find(YAML)) else {
        return;
    };
    let Some(bash) = tools::find(Tool::Program("bash")) else { return };
    let file = project(".github/workflows").join("release.yml");
    let schema = ["--builtin-schema", "vendor.github-workflows"];
    output(Command::new(program).args(schema).arg(&file)).await;

    let workflow = yaml(&python, &file).await.remove(0);
    let jobs = workflow["jobs"].as_object().unwrap();
    let steps: Vec<_> = jobs.values().flat_map(|job| job["steps"].as_array().unwrap()).collect();
    let mut actions = 0;
    for step in &steps {
        if let Some(action) = step["uses"].as_str() {
            let (_, commit) = action.split_once('@').unwrap();
            assert!(commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit()), "{action}");
            actions += 1;
        }
        if let Some(script) = step["run"].as_str() {
            output(Command::new(&bash).args(["-n", "-c", script])).await;
        }
    }
    assert_eq!(actions, 4);
    assert!(is_pinned(workflow["env"]["IMAGE"].as_str().unwrap()));

    let version = steps.iter().find(|step| step["name"] == "The tag is the version").unwrap();
    for (tag, good) in [(concat!("v", env!("CARGO_PKG_VERSION")), true), ("v99.0.0", false)] {
        let mut check = Command::new(&bash);
        check.args(["-euc", version["run"].as_str().unwrap()]).current_dir(project(".")).env("GITHUB_REF_NAME", tag);
        assert_eq!(check.status().await.unwrap().success(), good, "{tag}");
    }
}
