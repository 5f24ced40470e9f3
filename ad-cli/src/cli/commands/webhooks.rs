//! `ad-cli webhooks`: addresses to which the service sends events.

use ad_core::model::{DEFAULT_LIMIT, DeliveryState, EventTypes, MAX_LIMIT, Page, Timestamp};
use clap::{Subcommand, builder::PossibleValuesParser};

use crate::{
    DeliveryQuery, NewWebhook, ReplayAfter, Resume, WebhookChanges,
    cli::{
        listen::{self, ListenArgs},
        pages::note_rest,
    },
    terminal::{Cell, Column, ConfirmArgs, Context, Failure, Tone, ad_table, confirm, plain},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The service sends the events of a webhook to its receiver as signed POST requests (Standard Webhooks), and repeats those that fail. The token \
needs the permission webhooks; listen needs read.

Examples:
  ad-cli webhooks create https://example.com/hooks
  ad-cli webhooks listen --forward-to http://127.0.0.1:3000/hooks")]
pub(crate) struct WebhooksArgs {
    #[command(subcommand)]
    command: WebhookCommand,
}

#[derive(Debug, Subcommand)]
enum WebhookCommand {
    /// Create a webhook and print its secret, which is not shown again
    Create {
        /// Public https address of the receiver
        #[arg(value_name = "RECEIVER_URL")]
        receiver: String,
        /// Types of the events to send [default: ad.*.done,ad.*.error]
        #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
        types: Vec<EventTypes>,
        /// Only events of this dealer of the token's group
        #[arg(long, value_name = "CODE")]
        dealer_code: Option<String>,
        /// A note for people
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List the webhooks
    List(PageArgs),
    /// Change the address, the types or the description; enable or disable
    #[command(after_help = "\
A disabled webhook keeps its position: enabled again, it sends the events that happened meanwhile, unless --resume-now is given.")]
    Update {
        #[command(flatten)]
        webhook: IdArgs,
        /// New address of the receiver
        #[arg(long, value_name = "URL")]
        receiver: Option<String>,
        /// New types of the events to send
        #[arg(long, value_name = "TYPE,…", value_delimiter = ',')]
        types: Option<Vec<EventTypes>>,
        /// New note for people
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Send events again
        #[arg(long)]
        enable: bool,
        /// Send no events
        #[arg(long, conflicts_with = "enable")]
        disable: bool,
        /// With --enable, begin with the events from now on
        #[arg(long, requires = "enable")]
        resume_now: bool,
    },
    /// Send a test event
    Test(IdArgs),
    /// List the deliveries of a webhook, newest first
    Deliveries {
        #[command(flatten)]
        webhook: IdArgs,
        /// Only deliveries in this state
        #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(DeliveryState::NAMES))]
        state: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Send one event again
    Resend {
        #[command(flatten)]
        webhook: IdArgs,
        /// Id of the event
        event_id: String,
    },
    /// Send all events after a cursor or a time again
    Replay {
        #[command(flatten)]
        webhook: IdArgs,
        /// Cursor of an event, or a time such as 2026-01-15T10:00:00Z
        #[arg(long, value_name = "WHEN")]
        after: String,
    },
    /// Replace the secret; the old one also signs for 24 hours
    Rotate(IdArgs),
    /// Delete a webhook
    Delete {
        #[command(flatten)]
        webhook: IdArgs,
        #[command(flatten)]
        confirm: ConfirmArgs,
    },
    /// Print events as they happen, or forward them to a local receiver
    Listen(ListenArgs),
}

#[derive(Debug, clap::Args)]
struct IdArgs {
    /// Id of the webhook
    #[arg(id = "webhook_id", value_name = "ID")]
    id: String,
}

#[derive(Debug, clap::Args)]
struct PageArgs {
    /// Page size, 1 to 500
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    limit: u32,
    /// Rows to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
}

impl PageArgs {
    fn page(&self) -> Page {
        Page { limit: self.limit, offset: self.offset }
    }
}

/// The fields of a webhook that people see first.
const ORDER: &[&str] =
    &["id", "url", "types", "dealer_code", "description", "enabled", "disabled_reason", "problem", "secret"];

const FURTHER: &[&str] = &["created", "updated", "pending", "last_success", "last_failure"];

/// The fields of a delivery, in the order for people.
const DELIVERY: &[&str] = &["event_id", "type", "state", "created", "next_attempt", "attempts"];

const COLUMNS: &[Column] = &[
    Column::new("ID", "id"),
    Column::new("URL", "url").wrapped(),
    Column::new("ENABLED", "enabled")
        .shown(|enabled| match enabled.as_bool() {
            Some(true) => Cell::toned("yes", Tone::Good),
            _ => Cell::toned("no", Tone::Bad),
        })
        .for_programs(),
    Column::new("PENDING", "pending"),
    Column::new("TYPES", "types").for_programs(),
    Column::new("LAST SUCCESS", "last_success").shown(ad_table::minute).for_programs(),
    Column::new("LAST FAILURE", "last_failure").shown(ad_table::minute).for_programs(),
    Column::new("DISABLED", "disabled_reason").shown(|reason| Cell::toned(plain(reason), Tone::Bad)),
    Column::new("PROBLEM", "problem").shown(|problem| Cell::toned(plain(problem), Tone::Bad)),
];

const DELIVERIES: &[Column] = &[
    Column::new("EVENT", "event_id"),
    Column::new("TYPE", "type").for_programs(),
    Column::new("STATE", "state").shown(|state| match plain(state).as_str() {
        "delivered" => Cell::toned("delivered", Tone::Good),
        "failed" => Cell::toned("failed", Tone::Bad),
        other => Cell::toned(other, Tone::Warning),
    }),
    Column::new("CREATED", "created").shown(ad_table::second).for_programs(),
    Column::new("NEXT ATTEMPT", "next_attempt").shown(ad_table::second).for_programs(),
    Column::new("ATTEMPTS", "attempts")
        .shown(|attempts| match attempts.as_array().map(Vec::as_slice) {
            Some([.., last]) => {
                let count = attempts.as_array().map_or(0, Vec::len);
                let outcome = if last["error"].is_null() { &last["status"] } else { &last["error"] };
                format!("{count}: {}", plain(outcome)).into()
            }
            _ => Cell::default(),
        })
        .wrapped(),
];

pub(crate) async fn run(context: &Context, args: WebhooksArgs) -> Result<(), Failure> {
    let (client, out) = (context.client()?, context.out);
    let webhooks = client.webhooks();
    check_fields(context, &args.command)?;
    match args.command {
        WebhookCommand::Create { receiver: url, types, dealer_code, description } => {
            let webhook = NewWebhook { url, types, dealer_code, description };
            out.record_in(&webhooks.create(&webhook).await?.body, ORDER)?;
            out.note("give the secret to the receiver; it is not shown again");
        }
        WebhookCommand::List(page) => {
            let page = webhooks.list(page.page()).await?.body;
            out.table(COLUMNS, &page.results)?;
            note_rest(out, page.results.len(), page.count, "webhooks", false);
        }
        WebhookCommand::Update { webhook, receiver: url, types, description, enable, disable, resume_now } => {
            let (enabled, resume) = ((enable || disable).then_some(enable), resume_now.then_some(Resume::Now));
            let changes = WebhookChanges { url, types, description, enabled, resume };
            if changes == WebhookChanges::default() {
                return Err(Failure::usage("nothing to change")
                    .hint("give --receiver, --types, --description, --enable or --disable"));
            }
            out.record_in(&webhooks.update(&webhook.id, &changes).await?.body, ORDER)?;
        }
        WebhookCommand::Test(IdArgs { id }) => {
            out.record_in(&webhooks.test(&id).await?.body, DELIVERY)?;
            out.note(&format!("to see whether it has arrived: ad-cli webhooks deliveries {id} --limit 1"));
        }
        WebhookCommand::Deliveries { webhook, state, page } => {
            let state = state.as_deref().and_then(DeliveryState::from_name);
            let page = webhooks.deliveries(&webhook.id, &DeliveryQuery { state, page: page.page() }).await?.body;
            out.table(DELIVERIES, &page.results)?;
            note_rest(out, page.results.len(), page.count, "deliveries", false);
        }
        WebhookCommand::Resend { webhook, event_id } => {
            out.record_in(&webhooks.resend(&webhook.id, &event_id).await?.body, DELIVERY)?;
        }
        WebhookCommand::Replay { webhook, after } => {
            let time = after.parse::<Timestamp>().map(ReplayAfter::Time);
            let after = time.unwrap_or(ReplayAfter::Cursor(after));
            out.record_in(&webhooks.replay(&webhook.id, &after).await?.body, ORDER)?;
        }
        WebhookCommand::Rotate(IdArgs { id }) => {
            out.record_in(&webhooks.rotate_secret(&id).await?.body, ORDER)?;
            out.note("give the secret to the receiver; it is not shown again. The old one also signs for 24 hours");
        }
        WebhookCommand::Delete { webhook: IdArgs { id }, confirm: ConfirmArgs { yes, dry_run } } => {
            if dry_run {
                let receiver = webhooks.read(&id).await?.body.url;
                out.note(&format!("webhook {id} to {receiver} would be deleted; nothing was changed (--dry-run)"));
                return Ok(());
            }
            confirm(context, &format!("Delete webhook {id}? Its deliveries are deleted, too."), yes).await?;
            webhooks.delete(&id).await?;
            out.note(&format!("webhook {id} is deleted"));
        }
        WebhookCommand::Listen(args) => listen::run(context, &client, &args).await?,
    }
    Ok(())
}

/// Checks the selected fields before a command changes anything: a secret is shown once.
fn check_fields(context: &Context, command: &WebhookCommand) -> Result<(), Failure> {
    use WebhookCommand::{Create, Delete, Deliveries, List, Listen, Replay, Resend, Rotate, Test, Update};
    let known = match command {
        Create { .. } | Update { .. } | Replay { .. } | Rotate(_) => [ORDER, FURTHER].concat(),
        Test(_) | Resend { .. } => DELIVERY.to_vec(),
        Delete { .. } | Deliveries { .. } | List(_) | Listen(_) => return Ok(()),
    };
    Ok(context.out.check_names(known.into_iter())?)
}
