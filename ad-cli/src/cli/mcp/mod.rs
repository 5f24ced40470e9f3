//! The server of `ad-cli mcp`: the commands as tools over the Model Context Protocol, on stdin and stdout.
//!
//! No operation is implemented here: a call runs the command of the tool with `--output json` within this process.

mod arguments;
mod call;
mod lines;
#[cfg(test)]
mod tests;
mod tools;

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use ad_core::{
    lock::locked,
    model::{Account, Amount, PromotionKind},
    violation::nearest,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
        Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, ToolAnnotations,
    },
    object,
    service::{RequestContext, ServerInitializeError},
};
use serde_json::{Map, Value, json};
use tokio::sync::{RwLock, Semaphore};
use tokio_util::sync::CancellationToken;

use self::{
    arguments::{Arguments, Line},
    call::Ended,
    lines::LineTransport,
    tools::{Effect, TOOLS, Tool},
};
use super::{costs::Promoted, definition};
use crate::terminal::{Context, Failure, Output, can_ask, counted, duration, wait_for_signal};

/// Calls that run at the same time; others wait.
const AT_ONCE: u32 = 4;

/// Characters of the arguments of a call in the log.
const LOGGED: usize = 200;

/// The exit codes that calls have.
const EXIT_CODES: &str = "\
0: done. 1: some ads failed, or the ad did not reach the expected state. 2: invalid arguments. 3: rejected by validation, locally or by the \
service. 4: not authorised: missing, invalid or expired token, or missing permission. 5: the service cannot be reached, did not answer in \
time, or gave an unexpected answer.";

/// Why a call that the client cancelled, or the end of the server, has no result.
const CANCELLED: &str = "cancelled; a request that was already sent stays accepted";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
An MCP client, such as a desktop assistant or an editor, starts this command and talks to it on stdin and stdout. Each tool runs the command of \
the same name. Without options, tools only read. The assistant's program asks its user before it calls a tool; the commands do not ask for \
confirmation again. Each call is logged to stderr.

Examples:
  ad-cli mcp
  ad-cli mcp --allow-write
  ad-cli mcp --allow-write --allow-promote 5 --profile north")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    access: Access,
    /// Time limit of a call, such as 90s, 10m or 1h
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = duration)]
    time_limit: Duration,
}

/// What an assistant may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
struct Access {
    /// Allow tools that create, change and delete ads
    #[arg(long = "allow-write")]
    write: bool,
    /// Allow at most N bumps and pole positions, which are charged, until the server ends
    #[arg(long = "allow-promote", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    promotions: Option<u32>,
    /// Allow promotions of at most this amount together, by the prices of the account
    #[arg(long = "promote-budget", value_name = "AMOUNT", requires = "promotions")]
    budget: Option<Amount>,
}

/// Serves a client on stdin and stdout until it closes the connection.
pub(crate) async fn serve(context: &Context, &McpArgs { access, time_limit }: &McpArgs) -> Result<(), Failure> {
    // Here, a command finds no files of the user.
    let folder = tempfile::tempdir().and_then(|folder| std::env::set_current_dir(folder.path()).map(|()| folder));
    let _folder = folder.map_err(|error| Failure::failed(format!("cannot work in a temporary folder: {error}")))?;
    match context.connection() {
        Ok(connection) => context.out.note(&format!("MCP server of {}: {}", connection.url, allowed(access))),
        // Some tools need no service, and the others explain what is missing.
        Err(failure) => context.out.warning(&failure.to_string()),
    }
    if can_ask() {
        context
            .out
            .note("waiting for an MCP client on stdin; assistants start this command themselves, see docs/mcp.md");
    }
    let server = Server {
        out: context.out,
        globals: context.as_options(),
        access,
        left: Mutex::new(Left { promotions: access.promotions.unwrap_or(0), cost: access.budget }),
        time_limit,
        running: Arc::new(Semaphore::new(AT_ONCE as usize)),
        calls: Arc::default(),
        stop: CancellationToken::new(),
        tools: TOOLS.iter().map(Offer::of).collect(),
    };
    let (running, calls, stop) = (server.running.clone(), server.calls.clone(), server.stop.clone());
    let session = async {
        let service = server.serve_with_ct(LineTransport::stdio(context.out), stop.clone()).await?;
        service.waiting().await.map_err(|error| ServerInitializeError::ConnectionClosed(error.to_string()))
    };
    tokio::pin!(session);
    let ended = tokio::select! {
        ended = &mut session => ended.map(drop),
        () = wait_for_signal() => {
            stop.cancel();
            let _ended = session.await;
            Err(ServerInitializeError::Cancelled)
        }
    };
    // No command outlives the server, and every call is logged.
    let _all = running.acquire_many(AT_ONCE).await;
    let _logged = calls.write().await;
    match ended {
        Ok(()) => Ok(()),
        Err(ServerInitializeError::Cancelled) => Err(Failure::interrupted()),
        Err(error) => Err(Failure::failed(format!("the session with the MCP client ended: {error}"))
            .hint("an assistant starts this command and speaks MCP on its stdin and stdout; see docs/mcp.md")),
    }
}

/// What this server allows, for people and assistants.
fn allowed(access: Access) -> String {
    let write = if access.write { "tools read and change ads" } else { "tools only read" };
    match access.promotions {
        Some(most) => {
            let cost = access.budget.map(|budget| format!(" for {budget} together")).unwrap_or_default();
            format!("{write}, and order at most {}{cost}", counted(most.into(), "promotion"))
        }
        None => format!("{write}, and order no promotions"),
    }
}

/// A tool as clients see it, and the arguments of its command.
#[derive(Debug)]
struct Offer {
    tool: &'static Tool,
    arguments: Arguments,
    shown: rmcp::model::Tool,
}

impl Offer {
    fn of(tool: &'static Tool) -> Self {
        let mut command = definition();
        for name in tool.command {
            command = command.find_subcommand(name).cloned().expect("the table of tools names commands");
        }
        let arguments = Arguments::of(tool, &command);
        let shown = rmcp::model::Tool::new(tool.name, description(tool, &command), arguments.schema())
            .with_raw_output_schema(Arc::new(output_schema()))
            .with_annotations(annotations(tool));
        Self { tool, arguments, shown }
    }
}

/// The summary of the command, and the explanation in its help without the examples.
fn description(tool: &Tool, command: &clap::Command) -> String {
    let of_command = || command.get_about().map(ToString::to_string).unwrap_or_default();
    let about = tool.about.map_or_else(of_command, str::to_owned);
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let explained = help.split("Examples:").next().unwrap_or_default();
    // Its lines end where a terminal does.
    let paragraphs = tool.note.unwrap_or(explained).trim().split("\n\n").map(|text| text.replace('\n', " "));
    match paragraphs.collect::<Vec<_>>().join("\n\n").as_str() {
        "" => format!("{about}."),
        note => format!("{about}. {note}"),
    }
}

fn annotations(tool: &Tool) -> ToolAnnotations {
    // Photos come from any address; everything else is between this program and the service.
    let is_open = tool.command[0] == "photos";
    let hints = ToolAnnotations::new().read_only(tool.effect == Effect::Reads).open_world(is_open);
    match tool.effect {
        Effect::Reads => hints,
        Effect::Adds => hints.destructive(false).idempotent(false),
        Effect::Replaces => hints.destructive(true).idempotent(true),
        // Not to be undone either.
        Effect::Charges => hints.destructive(true).idempotent(false),
    }
}

/// The schema of the structured result of every tool.
fn output_schema() -> Map<String, Value> {
    object!({
        "type": "object",
        "properties": {
            "exit_code": {"type": ["integer", "null"], "description": EXIT_CODES},
            "result": {"description": "The result of the command as JSON; null if there is none"},
            "notes": {"type": "string", "description": "The messages of the command, with hints"},
        },
        "required": ["exit_code", "result", "notes"],
    })
}

/// What may still be ordered.
#[derive(Debug, Clone, Copy)]
struct Left {
    promotions: u32,
    /// What they may cost; `None`: any amount.
    cost: Option<Amount>,
}

/// The server of one client.
struct Server {
    out: Output,
    /// The global options of every command.
    globals: Vec<String>,
    access: Access,
    /// Promotions that may still be ordered.
    left: Mutex<Left>,
    time_limit: Duration,
    running: Arc<Semaphore>,
    /// Read-locked by each call until it is logged.
    calls: Arc<RwLock<()>>,
    /// Cancelled at the end of the session; ends all calls.
    stop: CancellationToken,
    tools: Vec<Offer>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("ad-cli", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!(
                "The ads of a vehicle dealer. Each tool runs the command `ad-cli` of the same name and returns its result, its messages \
                 (`notes`) and its exit code. Hints name tools and their arguments. Reading tools, and those that change one ad, also take a registration number as source_id. The service accepts a \
                 change first and processes it afterwards: call `wait` for the outcome. Ask the user before you delete ads or order \
                 promotions. This server: {}.",
                allowed(self.access)
            ))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let allowed = self.tools.iter().filter(|offer| offer.tool.missing_option(self.access).is_none());
        Ok(ListToolsResult::with_all_items(allowed.map(|offer| offer.shown.clone()).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offer) = self.tools.iter().find(|offer| offer.tool.name == request.name) else {
            let hint = nearest::did_you_mean(&request.name, TOOLS.iter().map(|tool| tool.name)).unwrap_or_default();
            return Err(ErrorData::invalid_params(format!("unknown tool {:?}. {hint}", request.name), None));
        };
        let call = request.arguments.unwrap_or_default();
        let _call = self.calls.read().await;
        let began = Instant::now();
        // A call that is dropped ends its command.
        let result = tokio::select! {
            result = self.call(offer, &call) => result,
            () = context.ct.cancelled() => Err(CANCELLED.to_owned()),
            () = self.stop.cancelled() => Err(CANCELLED.to_owned()),
        };
        let outcome = match &result {
            Ok(Ended { code, .. }) => format!("exit code {code}"),
            Err(refused) => refused.clone(),
        };
        let arguments: String = Value::Object(call).to_string().chars().take(LOGGED).collect();
        let took = began.elapsed().as_millis();
        self.out.note(&format!("tool {} {arguments}: {outcome}, {took} ms", offer.tool.name));
        Ok(result.map_or_else(|refused| CallToolResult::error(vec![ContentBlock::text(refused)]), answer).into())
    }

    /// A request of an unknown method, or of a known one with malformed parameters.
    async fn on_custom_request(
        &self,
        CustomRequest { method, params, .. }: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(match &*method {
            "tools/call" => ErrorData::invalid_params(malformed_call(&params.unwrap_or_default()), None),
            "initialize" | "ping" | "server/discover" | "tools/list" => {
                ErrorData::invalid_params(format!("malformed `params` of {method}"), None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {method:?}"), None),
        })
    }
}

/// What is wrong with the parameters of a call.
fn malformed_call(params: &Value) -> String {
    let (name, arguments) = (params.get("name"), params.get("arguments").filter(|arguments| !arguments.is_null()));
    match params {
        Value::Object(_) if name.is_none() => "missing `name`: the name of a tool".to_owned(),
        Value::Object(_) if !name.is_some_and(Value::is_string) => "`name`: expected a string".to_owned(),
        Value::Object(_) if arguments.is_some_and(|arguments| !arguments.is_object()) => {
            "`arguments`: expected an object".to_owned()
        }
        Value::Object(_) => "malformed `params` of tools/call".to_owned(),
        _ => "`params`: expected an object with `name` and `arguments`".to_owned(),
    }
}

impl Server {
    /// Runs the command of a tool; an error says why there is no result.
    async fn call(&self, Offer { tool, arguments, .. }: &Offer, call: &Map<String, Value>) -> Result<Ended, String> {
        if let Some(option) = tool.missing_option(self.access) {
            return Err(format!(
                "{} is not allowed: this server was started without {option}. To allow it, the user starts: ad-cli mcp {option}",
                tool.name
            ));
        }
        let Line { words, stdin } = arguments.line(call)?;
        if tool.effect == Effect::Charges && call.get("dry_run") != Some(&Value::Bool(true)) {
            self.take_promotions(tool, call).await?;
        }
        let names = tool.command.iter().chain(tool.always).map(|word| (*word).to_owned());
        let ended = self.run(names.chain(words), stdin).await?;
        String::from_utf8_lossy(&ended.stderr).lines().for_each(|line| self.out.detail(line));
        Ok(ended)
    }

    /// Runs a command, when there is a slot for it.
    async fn run(&self, words: impl Iterator<Item = String>, stdin: Option<String>) -> Result<Ended, String> {
        let fixed = ["--output=json", "--color=never"].into_iter().map(str::to_owned);
        let words: Vec<_> = self.globals.iter().cloned().chain(fixed).chain(words).collect();
        let slot = self.running.clone().acquire_owned().await.map_err(|error| error.to_string())?;
        call::run(words, stdin, self.time_limit, slot).await.map_err(|stopped| stopped.to_string())
    }

    /// Counts the promotions of a call and what they may cost, before they are ordered: those that the service rejects count as well.
    async fn take_promotions(&self, tool: &Tool, call: &Map<String, Value>) -> Result<(), String> {
        let of_schedule = call.get("most_per_run").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
        let ads = call.get("source_ids").and_then(Value::as_array).map_or(of_schedule.unwrap_or(0), Vec::len);
        let ads = u32::try_from(ads).unwrap_or(u32::MAX);
        let cost = match self.access.budget {
            Some(_) if ads > 0 => self.most_cost(tool, call, ads).await?,
            _ => Amount::default(),
        };
        let restart = "To allow more, the user starts the server again: ad-cli mcp --allow-promote N";
        let mut left = locked(&self.left);
        let Some(promotions) = left.promotions.checked_sub(ads) else {
            return Err(format!(
                "not ordered: the call needs {}, and {} of {} allowed is left. {restart}",
                counted(ads.into(), "promotion"),
                left.promotions,
                self.access.promotions.unwrap_or(0),
            ));
        };
        if let Some(rest) = left.cost.filter(|rest| cost > *rest) {
            let budget = self.access.budget.unwrap_or_default();
            return Err(format!(
                "not ordered: the call may cost {cost}, and {rest} of {budget} allowed is left. {restart} --promote-budget AMOUNT"
            ));
        }
        *left = Left { promotions, cost: left.cost.map(|rest| rest - cost) };
        Ok(())
    }

    /// The most that the promotions of a call may cost by the prices of the account, or by the budget of a schedule.
    async fn most_cost(&self, tool: &Tool, call: &Map<String, Value>, ads: u32) -> Result<Amount, String> {
        let budget = match call.get("budget") {
            Some(Value::Number(budget)) => Amount::of_number(budget).ok(),
            Some(Value::String(budget)) => budget.parse().ok(),
            _ => None,
        };
        if let Some(budget) = budget {
            return Ok(budget);
        }
        let unknown = |why: String| format!("not ordered: what it costs is not known: {why}");
        let ended = self.run(["account".to_owned()].into_iter(), None).await.map_err(unknown)?;
        let answer: Value = serde_json::from_slice(&ended.stdout)
            .map_err(|_| unknown(String::from_utf8_lossy(&ended.stderr).trim().to_owned()))?;
        let accounts = if answer.is_array() { answer } else { json!([answer]) };
        let accounts: Vec<Account> = serde_json::from_value(accounts).map_err(|error| unknown(error.to_string()))?;
        let kinds = match tool.name {
            "bump" => &[PromotionKind::Bump][..],
            "pole_position" => &[PromotionKind::PolePosition],
            _ => &[PromotionKind::Bump, PromotionKind::PolePosition],
        };
        let excludes = call.get("exclude").is_some_and(|excluded| excluded != "none");
        let costs = accounts.iter().flat_map(|account| {
            kinds.iter().filter_map(move |kind| Promoted { kind: *kind, excludes }.most(account, ads))
        });
        Ok(costs.max().unwrap_or_default())
    }
}

/// The result of a command: as texts, and structured.
fn answer(Ended { code, stdout, stderr }: Ended) -> CallToolResult {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (stdout, notes) = (text(&stdout), text(&stderr));
    let result = match serde_json::from_str(&stdout) {
        Ok(result) => result,
        Err(_) if stdout.is_empty() => Value::Null,
        Err(_) => Value::String(stdout.clone()),
    };
    let content = [&stdout, &notes].into_iter().filter(|text| !text.is_empty()).map(ContentBlock::text).collect();
    let mut answer = CallToolResult::success(content);
    answer.is_error = Some(code != 0);
    answer.structured_content = Some(json!({"exit_code": code, "result": result, "notes": notes}));
    answer
}
