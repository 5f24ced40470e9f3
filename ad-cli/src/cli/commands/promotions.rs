//! `ad-cli promotions`: promotions by the clock.

use ad_core::model::{
    AdsOrder, Amount, DEFAULT_LIMIT, LastDay, MAX_LIMIT, MOST_AGE_DAYS, MOST_PER_RUN, Page, Promotion, PromotionKind,
    PromotionPreview, TimeOfDay, Weekday,
};
use ad_parameters::{FromParameters, SELECT_PARAMETERS};
use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    AdQuery, PromotionFields,
    cli::{or_none::OrNone, pages::note_rest, stock::filter},
    selecting,
    terminal::{Cell, Column, ConfirmArgs, Context, Failure, Output, Tone, ad_table, confirm, counted, plain},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A schedule bumps ads, or gives them pole position, at a time of day, by itself. Charges apply to each promotion; with a budget, a schedule \
orders no more than that in a calendar month. A run that was missed happens later, once.

Examples:
  ad-cli promotions add bump --select status=live --at 08:00 --most-per-run 5
  ad-cli promotions preview 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90
  ad-cli promotions runs 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90")]
pub(crate) struct PromotionsArgs {
    #[command(subcommand)]
    command: PromotionCommand,
}

#[derive(Debug, Subcommand)]
enum PromotionCommand {
    /// Add a schedule
    Add(Box<AddArgs>),
    /// List the schedules
    List(SchedulePageArgs),
    /// Show a schedule
    Show(ScheduleArgs),
    /// Show what the next run would do now, and what it would cost
    Preview(ScheduleArgs),
    /// Show what the latest runs did
    Runs {
        #[command(flatten)]
        schedule: ScheduleArgs,
        #[command(flatten)]
        page: SchedulePageArgs,
    },
    /// Change a schedule
    Update(Box<ChangeScheduleArgs>),
    /// Pause a schedule
    Pause(ScheduleArgs),
    /// Resume a paused schedule
    Resume {
        #[command(flatten)]
        schedule: ScheduleArgs,
        #[command(flatten)]
        confirm: ConfirmArgs,
    },
    /// Remove a schedule with its runs
    #[command(after_help = "What the schedule has ordered stays ordered.")]
    Remove {
        #[command(flatten)]
        schedule: ScheduleArgs,
        #[command(flatten)]
        confirm: ConfirmArgs,
    },
}

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "ad-cli promotions add [OPTIONS] <KIND>\n           --select <FILTER=VALUE> --at <HH:MM>",
    after_help = "\
The filters of --select are those of `ad-cli list`; of several, an ad passes all. A time that does not exist on a day, when the clock is set \
forward, is the first minute after the gap; one that occurs twice is the first.

On a terminal, the schedule has to be confirmed; elsewhere, --yes is required.

Examples:
  ad-cli promotions add bump --select source_id=car-1 --at 08:00 --weekdays mon,thu
  ad-cli promotions add bump --select status=live --at 18:30 --most-per-run 5 --budget 1500
  ad-cli promotions add bump --select status=live --at 08:00 --min-age-days 30
  ad-cli promotions add pole_position --select category_id=1020 --at 07:00 --weekdays fri --until 2026-12-31 --yes"
)]
struct AddArgs {
    /// What is ordered
    #[arg(value_parser = names(PromotionKind::NAMES, PromotionKind::from_name))]
    kind: PromotionKind,
    /// Promote the ads that pass this filter of `list`, such as status=live
    #[arg(long, value_name = "FILTER=VALUE", value_parser = filter, required = true)]
    select: Vec<(String, String)>,
    /// Time of day, such as 08:00
    #[arg(long, value_name = "HH:MM")]
    at: TimeOfDay,
    /// Last day, such as 2026-12-31
    #[arg(long, value_name = "DATE")]
    until: Option<LastDay>,
    /// Most that the runs may cost in a calendar month
    #[arg(long, value_name = "AMOUNT")]
    budget: Option<Amount>,
    /// Only ads that are at least so many days old at the time of the run
    #[arg(long, value_name = "DAYS", value_parser = days)]
    min_age_days: Option<u32>,
    /// Dealer of the ads, with a token of a group
    #[arg(long, value_name = "CODE")]
    dealer_code: Option<String>,
    #[command(flatten)]
    rules: RuleArgs,
}

/// What a schedule may also say.
#[derive(Debug, clap::Args)]
struct RuleArgs {
    /// Only on these days [default: every day]
    #[arg(long, value_name = "DAY,…", value_delimiter = ',', value_parser = names(Weekday::NAMES, Weekday::from_name))]
    weekdays: Option<Vec<Weekday>>,
    /// Time zone, such as Europe/Stockholm [default: that of the dealer]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Maximum number of ads of a run [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PER_RUN)))]
    most_per_run: Option<u32>,
    /// Order of the ads [default: updated]
    #[arg(long, value_parser = names(AdsOrder::NAMES, |name| name.parse::<AdsOrder>().ok()), allow_hyphen_values = true)]
    order: Option<AdsOrder>,
    /// Exclude a marketplace; bumps of registered vehicles only
    #[arg(long, value_name = "MARKETPLACE", value_parser = ["primary", "secondary", "none"])]
    exclude: Option<String>,
    #[command(flatten)]
    confirm: ConfirmArgs,
}

impl RuleArgs {
    fn fields(&self) -> PromotionFields {
        let excludes = |market: &str| self.exclude.as_deref().map(|excluded| excluded == market);
        PromotionFields {
            weekdays: self.weekdays.clone(),
            zone: self.zone.clone(),
            most_per_run: self.most_per_run,
            order: self.order,
            exclude_primary: excludes("primary"),
            exclude_secondary: excludes("secondary"),
            ..PromotionFields::default()
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "ad-cli promotions update [OPTIONS] <SCHEDULE_ID>",
    after_help = "\
What is not given stays as it is. A run that is under way is not touched. On a terminal, the change has to be confirmed; elsewhere, --yes is required.

Examples:
  ad-cli promotions update 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90 --at 07:30
  ad-cli promotions update 0f4e9a52-6b1d-4c8e-9a70-2f1f3c5d7e90 --budget 2000 --until none"
)]
struct ChangeScheduleArgs {
    #[command(flatten)]
    schedule: ScheduleArgs,
    /// Promote the ads that pass this filter of `list` instead of those of now
    #[arg(long, value_name = "FILTER=VALUE", value_parser = filter)]
    select: Vec<(String, String)>,
    /// Time of day, such as 08:00
    #[arg(long, value_name = "HH:MM")]
    at: Option<TimeOfDay>,
    /// Last day, such as 2026-12-31, or none
    #[arg(long, value_name = "DATE|none")]
    until: Option<OrNone<LastDay>>,
    /// Most that the runs may cost in a calendar month, or none
    #[arg(long, value_name = "AMOUNT|none")]
    budget: Option<OrNone<Amount>>,
    /// Only ads that are at least so many days old at the time of the run, or none
    #[arg(long, value_name = "DAYS|none", value_parser = days_or_none)]
    min_age_days: Option<OrNone<u32>>,
    #[command(flatten)]
    rules: RuleArgs,
}

#[derive(Debug, clap::Args)]
struct ScheduleArgs {
    /// Id of the schedule
    #[arg(value_name = "SCHEDULE_ID", value_parser = schedule_id)]
    id: Uuid,
}

fn schedule_id(text: &str) -> Result<Uuid, &'static str> {
    text.parse().map_err(|_| "expected the id of a schedule, as `ad-cli promotions list` shows it")
}

#[derive(Debug, clap::Args)]
struct SchedulePageArgs {
    /// Page size, 1 to 500
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    limit: u32,
    /// Rows to skip
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: u64,
}

impl SchedulePageArgs {
    fn page(&self) -> Page {
        Page { limit: self.limit, offset: self.offset }
    }
}

/// Parses an age of ads, in days.
fn days(text: &str) -> Result<u32, String> {
    let days = text.parse().ok().filter(|days| (1..=MOST_AGE_DAYS).contains(days));
    days.ok_or_else(|| format!("expected a number of days from 1 to {MOST_AGE_DAYS}"))
}

fn days_or_none(text: &str) -> Result<OrNone<u32>, String> {
    if text == "none" { Ok(OrNone(None)) } else { days(text).map(|days| OrNone(Some(days))) }
}

/// Parses one of these names.
fn names<T: Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
    find: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |name| find(&name).ok_or("unknown name"))
}

/// The fields of a schedule, in the order for people.
const MEMBERS: &[&str] = &[
    "id",
    "kind",
    "select",
    "order",
    "most_per_run",
    "min_age_days",
    "weekdays",
    "at",
    "zone",
    "until",
    "budget",
    "exclude_primary",
    "exclude_secondary",
    "paused",
    "next_run",
    "last_run",
    "dealer_code",
    "created",
    "asked_by",
];

const PREVIEW: &[&str] = &["due", "promoted", "skipped", "cost", "currency"];

const COLUMNS: &[Column] = &[
    Column::new("ID", "id"),
    Column::new("KIND", "kind"),
    Column::new("SELECT", "select").shown(filters).wrapped(),
    Column::new("AT", "at"),
    Column::new("DAYS", "weekdays").shown(days_of_week),
    Column::new("NEXT RUN", "next_run").shown(ad_table::minute),
    Column::new("PAUSED", "paused").shown(paused),
    Column::new("ZONE", "zone").for_programs(),
    Column::new("BUDGET", "budget").for_programs(),
    Column::new("LAST RUN", "last_run").for_programs(),
    Column::new("DEALER", "dealer_code").for_programs(),
];

fn filters(select: &Value) -> Cell {
    let filter = |(name, value): (&String, &Value)| format!("{name}={}", plain(value));
    select.as_object().into_iter().flatten().map(filter).collect::<Vec<_>>().join(" ").into()
}

fn days_of_week(days: &Value) -> Cell {
    match days.as_array() {
        Some(days) => days.iter().map(plain).collect::<Vec<_>>().join(" ").into(),
        None => "every day".into(),
    }
}

fn paused(paused: &Value) -> Cell {
    match paused.as_bool() {
        Some(true) => Cell::toned("yes", Tone::Warning),
        _ => Cell::default(),
    }
}

const PREVIEWED: &[Column] = &[
    Column::new("SOURCE ID", "source_id").shortened(),
    Column::new("COST", "cost"),
    Column::new("SKIPPED", "code").shown(|code| plain(code).replace('_', " ").into()).wrapped(),
];

const RUNS: &[Column] = &[
    Column::new("DUE", "due").shown(ad_table::minute),
    Column::new("STARTED", "started").shown(ad_table::minute).for_programs(),
    Column::new("ENDED", "ended").shown(ad_table::minute).for_programs(),
    Column::new("PROMOTED", "promoted").shown(|ads| ads.as_array().map_or(0, Vec::len).to_string().into()),
    Column::new("SKIPPED", "skipped")
        .shown(|ads| {
            let reason = |ad: &Value| format!("{} ({})", plain(&ad["source_id"]), plain(&ad["code"]));
            ads.as_array().into_iter().flatten().map(reason).collect::<Vec<_>>().join(", ").into()
        })
        .wrapped(),
    Column::new("COST", "cost"),
    Column::new("CURRENCY", "currency"),
];

pub(crate) async fn run(context: &Context, args: &PromotionsArgs) -> Result<(), Failure> {
    let (client, out) = (context.client()?, context.out);
    let promotions = client.promotions();
    match &args.command {
        PromotionCommand::Add(args) => add(context, args).await?,
        PromotionCommand::List(page) => {
            let page = promotions.list(page.page()).await?.body;
            out.table(COLUMNS, &page.results)?;
            note_rest(out, page.results.len(), page.count, "schedules", false);
        }
        PromotionCommand::Show(ScheduleArgs { id }) => {
            show(out, &promotions.read(*id).await?.body)?;
        }
        PromotionCommand::Preview(ScheduleArgs { id }) => {
            show_preview(out, &promotions.preview(*id).await?.body)?;
            out.note("nothing was ordered");
        }
        PromotionCommand::Runs { schedule, page } => {
            let page = promotions.runs(schedule.id, page.page()).await?.body;
            out.table(RUNS, &page.results)?;
            note_rest(out, page.results.len(), page.count, "runs", false);
        }
        PromotionCommand::Update(args) => update(context, args).await?,
        PromotionCommand::Pause(ScheduleArgs { id }) => {
            let pause = PromotionFields { paused: Some(true), ..PromotionFields::default() };
            out.check_names(MEMBERS.iter().copied())?;
            show(out, &promotions.update(*id, &pause).await?.body)?;
        }
        PromotionCommand::Resume { schedule: ScheduleArgs { id }, confirm: ConfirmArgs { yes, dry_run } } => {
            out.check_names(MEMBERS.iter().copied())?;
            if *dry_run {
                out.note(&format!("schedule {id} would be resumed; nothing was changed (--dry-run)"));
                return Ok(());
            }
            confirm(context, &format!("Resume schedule {id}? Charges apply to each promotion."), *yes).await?;
            let resume = PromotionFields { paused: Some(false), ..PromotionFields::default() };
            show(out, &promotions.update(*id, &resume).await?.body)?;
        }
        PromotionCommand::Remove { schedule: ScheduleArgs { id }, confirm: ConfirmArgs { yes, dry_run } } => {
            if *dry_run {
                promotions.read(*id).await?;
                out.note(&format!("schedule {id} would be removed; nothing was changed (--dry-run)"));
                return Ok(());
            }
            confirm(context, &format!("Remove schedule {id}? Its runs are removed, too."), *yes).await?;
            promotions.delete(*id).await?;
            out.note(&format!("schedule {id} is removed"));
        }
    }
    Ok(())
}

fn show(out: Output, schedule: &Promotion) -> Result<(), Failure> {
    if !out.is_for_people() {
        return Ok(out.record_in(schedule, MEMBERS)?);
    }
    let shown = json!(schedule);
    let text = |name: &str| Cell::from(plain(&shown[name]));
    let excluded = ["primary", "secondary"].into_iter().find(|market| shown[format!("exclude_{market}")] == true);
    Ok(out.named(
        0,
        &[
            ("id", text("id")),
            ("kind", text("kind")),
            ("select", filters(&shown["select"])),
            ("order", text("order")),
            ("ads a run", text("most_per_run")),
            ("age in days", text("min_age_days")),
            ("at", text("at")),
            ("days", days_of_week(&shown["weekdays"])),
            ("zone", text("zone")),
            ("until", text("until")),
            ("budget", text("budget")),
            ("excluded", excluded.unwrap_or_default().into()),
            ("paused", paused(&shown["paused"])),
            ("next run", ad_table::minute(&shown["next_run"])),
            ("last run", ad_table::minute(&shown["last_run"])),
            ("dealer", text("dealer_code")),
        ],
    )?)
}

/// What the next run would do; people see what it would cost below its ads.
fn show_preview(out: Output, preview: &PromotionPreview) -> Result<(), Failure> {
    if !out.is_for_people() {
        return Ok(out.record_in(preview, PREVIEW)?);
    }
    let skipped = preview.skipped.iter().map(|ad| json!(ad));
    out.table(PREVIEWED, preview.promoted.iter().map(|ad| json!(ad)).chain(skipped))?;
    let due = preview.due.map_or_else(|| "no run is due".to_owned(), |due| format!("due {}", ad_table::minute_of(due)));
    let ads = counted(preview.promoted.len() as u64, "ad");
    let cost = match preview.cost {
        Some(cost) => format!("costs {cost} {}", preview.currency),
        None => "the service has no price for it, and charges nothing itself".to_owned(),
    };
    let mut text = out.styled();
    text.block(0, &format!("{due}: {ads}; {cost}"));
    Ok(out.show(&text)?)
}

/// The filters of `--select`.
fn selected(out: Output, pairs: &[(String, String)]) -> Result<Map<String, Value>, Failure> {
    let query = AdQuery::parse(SELECT_PARAMETERS, pairs).map_err(|errors| {
        let named = |(name, message)| format!("{}: {name}: {message}", out.argument("select"));
        Failure::usage(errors.flatten().into_iter().map(named).collect::<Vec<_>>().join("\n       "))
    })?;
    Ok(selecting(query.filters))
}

async fn add(context: &Context, args: &AddArgs) -> Result<(), Failure> {
    let out = context.out;
    out.check_names(MEMBERS.iter().copied())?;
    let fields = PromotionFields {
        kind: Some(args.kind),
        select: Some(selected(out, &args.select)?),
        at: Some(args.at),
        until: args.until.map(Some),
        budget: args.budget.map(Some),
        min_age_days: args.min_age_days.map(Some),
        dealer_code: args.dealer_code.clone(),
        ..args.rules.fields()
    };
    let filters: Vec<_> = args.select.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let about = format!(
        "{} at {}, at most {} ads a run, of those with {}",
        args.kind.name(),
        args.at,
        args.rules.most_per_run.unwrap_or(100),
        filters.join(" ")
    )
    .replace('_', " ");
    if args.rules.confirm.dry_run {
        out.note(&format!("the schedule would be added: {about}; nothing was changed (--dry-run)"));
        return Ok(());
    }
    let question = format!("Add the schedule: {about}? Charges apply to each promotion.");
    confirm(context, &question, args.rules.confirm.yes).await?;
    let client = context.client()?;
    let made = client.promotions().create(&fields).await?.body;
    show(out, &made)?;
    out.note(&format!("to see what the next run would do: ad-cli promotions preview {}", made.id));
    Ok(())
}

async fn update(context: &Context, args: &ChangeScheduleArgs) -> Result<(), Failure> {
    let (out, id) = (context.out, args.schedule.id);
    out.check_names(MEMBERS.iter().copied())?;
    let select = if args.select.is_empty() { None } else { Some(selected(out, &args.select)?) };
    let fields = PromotionFields {
        select,
        at: args.at,
        until: args.until.map(|until| until.0),
        budget: args.budget.map(|budget| budget.0),
        min_age_days: args.min_age_days.map(|days| days.0),
        ..args.rules.fields()
    };
    if fields == PromotionFields::default() {
        return Err(Failure::usage("nothing to change").hint("give what the schedule is to say, such as --at 07:30"));
    }
    if args.rules.confirm.dry_run {
        out.note(&format!("schedule {id} would be changed; nothing was changed (--dry-run)"));
        return Ok(());
    }
    confirm(context, &format!("Change schedule {id}? Charges apply to each promotion."), args.rules.confirm.yes)
        .await?;
    show(out, &context.client()?.promotions().update(id, &fields).await?.body)
}
