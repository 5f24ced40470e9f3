//! A real S3-compatible server as a process (moto), and a bucket in it.

use std::{path::PathBuf, process::Stdio, time::Duration};

use serde_json::json;
use tokio::process::{Child, Command};

use crate::{
    eventually, ports,
    tools::{self, Tool},
};

/// A server with one bucket, `ads`; it ends with the value.
#[derive(Debug)]
pub struct BucketServer {
    pub endpoint: String,
    program: PathBuf,
    process: Child,
    http: reqwest::Client,
}

/// Access key of the bucket.
#[derive(Debug, Clone)]
pub struct Keys {
    pub id: String,
    pub secret: String,
}

const BUCKET: &str = "ads";

impl BucketServer {
    /// Starts it, if it is installed; see [`tools::find`].
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start() -> Option<Self> {
        let program = tools::find(Tool::Program("moto_server"))?;
        let http = crate::http_client().build().expect("a plain client can be built");
        let port = ports::lasting();
        let process = spawn(&program, port);
        let server = Self { endpoint: format!("http://127.0.0.1:{port}"), program, process, http };
        server.make_bucket().await;
        Some(server)
    }

    /// Where images are kept: the prefix `media` of the bucket.
    pub fn place(&self) -> String {
        format!("s3://{BUCKET}/media")
    }

    /// The environment in which a program finds it.
    pub fn environment(&self) -> Vec<(String, String)> {
        self.environment_of(&Keys { id: "test".to_owned(), secret: "test-secret".to_owned() })
    }

    /// The environment of a program with these keys.
    pub fn environment_of(&self, keys: &Keys) -> Vec<(String, String)> {
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            set("AWS_ACCESS_KEY_ID", &keys.id),
            set("AWS_SECRET_ACCESS_KEY", &keys.secret),
            set("AWS_REGION", "eu-north-1"),
            set("AWS_ENDPOINT_URL", &self.endpoint),
        ]
    }

    /// A user who may do this only, such as `s3:PutObject`.
    pub async fn user(&self, name: &str, actions: &[&str]) -> Keys {
        self.iam("CreateUser", name, &[]).await;
        let policy =
            json!({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]});
        let policy = [("PolicyName", "all"), ("PolicyDocument", &policy.to_string())];
        self.iam("PutUserPolicy", name, &policy).await;
        let answer = self.iam("CreateAccessKey", name, &[]).await;
        let of = |tag: &str| {
            let value = answer.split_once(&format!("<{tag}>")).and_then(|(_, rest)| rest.split_once('<'));
            value.map(|(value, _)| value.to_owned()).expect("a key has an id and a secret")
        };
        Keys { id: of("AccessKeyId"), secret: of("SecretAccessKey") }
    }

    async fn iam(&self, action: &str, user: &str, more: &[(&str, &str)]) -> String {
        let mut form = vec![("Version", "2010-05-08"), ("Action", action), ("UserName", user)];
        form.extend(more);
        let form: Vec<_> = form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        // It names the part of the server that is meant.
        let credential =
            "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x";
        let request = self.http.post(&self.endpoint).header("authorization", credential);
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form.join("&"));
        let response = request.send().await.expect("the server answers");
        assert!(response.status().is_success(), "{action}: {}", response.status());
        response.text().await.expect("the answer comes whole")
    }

    /// From now on it checks who asks: keys, signatures and rights, as other servers do from the start.
    ///
    /// # Panics
    /// When it refuses to.
    pub async fn guard(&self) {
        let response = self.http.post(format!("{}/moto-api/reset-auth", self.endpoint)).body("0").send().await;
        assert!(response.expect("the server answers").status().is_success());
    }

    /// The address of an object, for whoever need not sign.
    pub fn url(&self, key: &str) -> String {
        format!("{}/{BUCKET}/{key}", self.endpoint)
    }

    /// An object as it is, without this project's own code; `None` if there is none.
    ///
    /// # Panics
    /// When the server does not answer.
    pub async fn object(&self, key: &str) -> Option<reqwest::Response> {
        let response = self.http.get(self.url(key)).send().await.expect("the server answers");
        (response.status() == 200).then_some(response)
    }

    /// Puts an object there, without this project's own code.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) {
        let response = self.http.put(self.url(key)).body(bytes).send().await.expect("the server answers");
        assert!(response.status().is_success(), "{}", response.status());
    }

    /// Kills it. What it held is gone: it keeps everything in memory.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub async fn kill(&mut self) {
        self.process.kill().await.expect("an own process can be killed");
    }

    /// Sends it a signal, such as `STOP`, after which it accepts connections and answers nothing.
    ///
    /// # Panics
    /// When it does not run.
    pub async fn signal(&self, signal: &str) {
        let pid = self.process.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status().await;
        assert!(sent.expect("kill is there").success());
    }

    /// Starts it again at the same address, with an empty bucket.
    pub async fn restart(&mut self) {
        let port = self.endpoint.rsplit(':').next().and_then(|port| port.parse().ok()).expect("it has a port");
        self.process = spawn(&self.program, port);
        self.make_bucket().await;
    }

    async fn make_bucket(&self) {
        let url = format!("{}/{BUCKET}", self.endpoint);
        let place = "<CreateBucketConfiguration><LocationConstraint>eu-north-1</LocationConstraint></CreateBucketConfiguration>";
        eventually("an S3-compatible server that answers", || async {
            let request = self.http.put(&url).body(place).timeout(Duration::from_secs(5));
            request.send().await.ok().filter(|response| response.status().is_success())
        })
        .await;
        // So that tests can look into it without keys.
        let policy = json!({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": format!("arn:aws:s3:::{BUCKET}/*")},
        ]});
        let response = self.http.put(format!("{url}?policy")).body(policy.to_string()).send().await;
        assert!(response.expect("the server answers").status().is_success());
    }
}

fn encoded(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

fn spawn(program: &PathBuf, port: u16) -> Child {
    Command::new(program)
        .args(["-p", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("a program that was found can be started")
}
