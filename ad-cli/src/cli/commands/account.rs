//! `ad-cli account` and `ad-cli budget`: what promotions cost, and the limit that a dealer sets itself.

use ad_core::model::{Account, Amount, ChargeQuery};
use ad_parameters::{CHARGE_PARAMETERS, DEFAULT_LIMIT, FromParameters, MAX_LIMIT, Parameter};
use serde_json::Value;

use crate::{
    cli::{
        or_none::OrNone,
        pages::note_rest,
        parameters::{self, GivenParameters, Table},
    },
    terminal::{Cell, Column, Context, Counter, Failure, ad_table},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows prices, the budget of the present month with what is spent, reserved and left, and the number of confirmed promotions. A price is for one \
marketplace. Without a tariff of the operator, nothing is charged. With `charges`, every charge is listed, the newest first.

Examples:
  ad-cli account
  ad-cli account charges --state charged --at-gte 2026-11-01
  ad-cli account charges --all --output csv > charges.csv")]
pub(crate) struct AccountArgs {
    #[command(subcommand)]
    of: Option<AccountCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum AccountCommand {
    /// List what promotions have cost
    Charges(ChargesArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A charge is reserved when a promotion is accepted, charged when the marketplace has confirmed it, and released when the promotion has failed.

Examples:
  ad-cli account charges
  ad-cli account charges --source-id car-1 --kind bump")]
pub(crate) struct ChargesArgs {
    /// Print all pages
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    query: GivenParameters<ChargeQuery>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The limit is for each calendar month, beside the budget of the operator: the lower one holds. Promotions that exceed it are refused.

Examples:
  ad-cli budget 1500
  ad-cli budget none
  ad-cli budget 1500 --dealer-code north-cars")]
pub(crate) struct BudgetArgs {
    /// Most that promotions may cost in a month, in the dealer's currency, or none
    #[arg(value_name = "AMOUNT|none")]
    own: OrNone<Amount>,
    /// The dealer, for a token of a group with several
    #[arg(long, value_name = "CODE")]
    dealer_code: Option<String>,
}

impl Table for ChargeQuery {
    fn parameters() -> impl Iterator<Item = &'static Parameter> {
        CHARGE_PARAMETERS.iter()
    }
}

/// The members of an account, in the order for people.
const MEMBERS: &[&str] = &["dealer_code", "month", "currency", "prices", "budget", "charges", "slots"];

/// Accounts of several dealers.
const ACCOUNTS: &[Column] = &[
    Column::new("DEALER", "dealer_code"),
    Column::new("MONTH", "month").rank(2),
    Column::new("BUMP", "prices.bump").rank(1),
    Column::new("POLE", "prices.pole_position").rank(1),
    Column::new("LIMIT", "budget.most"),
    Column::new("OWN LIMIT", "budget.own"),
    Column::new("SPENT", "budget.spent"),
    Column::new("RESERVED", "budget.reserved"),
    Column::new("LEFT", "budget.left"),
    Column::new("CURRENCY", "currency"),
];

const CHARGES: &[Column] = &[
    Column::new("AT", "at").shown(ad_table::minute),
    Column::new("DEALER", "dealer_code").rank(2),
    Column::new("SOURCE ID", "source_id").shown(erased).shortened(),
    Column::new("KIND", "kind"),
    Column::new("MARKETPLACE", "marketplace"),
    Column::new("AMOUNT", "amount"),
    Column::new("CURRENCY", "currency"),
    Column::new("STATE", "state"),
    Column::new("REQUEST", "request_id").for_programs(),
    Column::new("ASKED BY", "asked_by").for_programs(),
    Column::new("ID", "id").for_programs(),
];

/// The ad of a charge, which may be erased.
fn erased(source_id: &Value) -> Cell {
    source_id.as_str().unwrap_or("(erased)").into()
}

pub(crate) async fn account(context: &Context, args: &AccountArgs) -> Result<(), Failure> {
    if let Some(AccountCommand::Charges(args)) = &args.of {
        return charges(context, args).await;
    }
    let accounts = context.client()?.accounts().await?.body;
    match &accounts[..] {
        [only] => show(context, only),
        several => Ok(context.out.table(ACCOUNTS, several)?),
    }
}

async fn charges(context: &Context, args: &ChargesArgs) -> Result<(), Failure> {
    let out = context.out;
    let parsed = ChargeQuery::parse(CHARGE_PARAMETERS, args.query.pairs());
    let mut query = parsed.map_err(|errors| parameters::wrong(out, &errors))?;
    let client = context.client()?;
    let mut rows = out.rows(CHARGES);
    let progress = Counter::new(out, "charge");
    if args.all {
        if query.page.limit == DEFAULT_LIMIT {
            query.page.limit = MAX_LIMIT;
        }
        progress.rows(&mut rows, client.charges_all(&query)).await?;
        return Ok(rows.end()?);
    }
    let page = progress.run(client.charges(&query)).await??.body;
    page.results.iter().try_for_each(|charge| rows.push(charge))?;
    rows.end()?;
    note_rest(out, page.results.len(), page.count, "charges", true);
    Ok(())
}

pub(crate) async fn budget(context: &Context, args: &BudgetArgs) -> Result<(), Failure> {
    let set = context.client()?.set_own_budget(args.own.0, args.dealer_code.as_deref()).await?;
    show(context, &set.body)
}

fn show(context: &Context, account: &Account) -> Result<(), Failure> {
    if !context.out.is_for_people() {
        return Ok(context.out.record_in(account, MEMBERS)?);
    }
    let Account { currency, budget, prices, charges, slots, .. } = account;
    let money = |amount: Option<Amount>| amount.map(|it| format!("{it} {currency}")).unwrap_or_default().into();
    let price = |price: Option<Amount>| if price.is_none() { "none: nothing is charged".into() } else { money(price) };
    let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default().into();
    let fields: [(&str, Cell); 13] = [
        ("dealer", account.dealer_code.as_str().into()),
        ("month", account.month.to_string().into()),
        ("price of a bump", price(prices.bump)),
        ("price of a pole position", price(prices.pole_position)),
        ("limit of the operator", money(budget.most)),
        ("own limit", money(budget.own)),
        ("spent", money(Some(budget.spent))),
        ("reserved", money(Some(budget.reserved))),
        ("left", money(budget.left)),
        ("bumps", count(Some(charges.bump))),
        ("pole positions", count(Some(charges.pole_position))),
        ("ads that may be live", count(slots.most.map(u64::from))),
        ("ads with a slot", count(slots.used)),
    ];
    Ok(context.out.named(0, &fields)?)
}
