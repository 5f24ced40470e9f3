//! The binary `ad-cli`: what it takes, and how it ends. What a command does is in its file in `commands`.

mod acts;
mod amount;
mod change;
mod claims;
mod commands;
mod complete;
mod costs;
mod images;
mod input;
mod listen;
mod mcp;
mod or_none;
mod pages;
mod parameters;
mod rows;
mod setting;
mod sheet;
mod single;
mod stock;
mod sync;
mod through;

pub use images::{MOST_BYTES as MOST_IMAGE_BYTES, MOST_REDIRECTS as MOST_IMAGE_REDIRECTS};

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::{
    acts::{ShownArgs, TargetArgs},
    commands::actions,
};
use crate::terminal::{self, Context, Failure, Global};

const AFTER_HELP: &str = "\
Exit codes:
  0    done
  1    some ads failed, or the ad did not reach the expected state
  2    invalid command line or file
  3    rejected by validation, locally or by the service
  4    not authorised: missing, invalid or expired token, or missing permission
  5    the service cannot be reached, did not answer in time, or gave an unexpected answer
  130  interrupted by Ctrl-C";

/// Manage a dealer's ads on the vehicle ad import service
#[derive(Debug, Parser)]
#[command(name = "ad-cli", bin_name = "ad-cli", version, arg_required_else_help = true, args_override_self = true, after_help = AFTER_HELP,
    help_template = commands::help::template(), disable_help_flag = true, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// The commands; each has its file in `commands`.
#[derive(Debug, Subcommand)]
enum Command {
    /// Save server URL and token in a profile
    Login(commands::login::LoginArgs),
    /// Remove a profile with its token
    #[command(after_help = commands::profiles::LOGOUT_HELP)]
    Logout,
    /// List the saved profiles
    #[command(after_help = commands::profiles::HELP)]
    Profiles,
    /// Show the scope, permissions and expiry of the token in use
    Whoami(commands::whoami::WhoamiArgs),
    /// Show which settings count, and where they come from
    #[command(after_help = commands::config::HELP)]
    Config,
    /// Check connection, clock, token, permissions and dealers
    #[command(after_help = commands::doctor::HELP)]
    Doctor,
    /// Validate payloads locally
    Validate(commands::validate::ValidateArgs),
    /// Show a sample payload with an explanation of its fields
    New(commands::new::NewArgs),
    /// Write a sheet to fill in and import
    Template(commands::template::TemplateArgs),
    /// Show the fields of a vehicle type
    Fields(commands::fields::FieldsArgs),
    /// Show the allowed values of a field
    Values(commands::values::ValuesArgs),
    /// Show the models of a car brand
    Models(commands::values::ModelsArgs),
    /// Create many ads from a file
    Import(commands::import::ImportArgs),
    /// Make the ads at the service equal to a stock file: create, update and delete
    Sync(commands::sync::SyncArgs),
    /// Let the service compare a whole stock with its ads, and apply the differences
    Stock(commands::stock::StockPlanArgs),
    /// Check whether photos can be fetched
    Photos(commands::photos::PhotosArgs),
    /// Create an ad from a payload
    Create(commands::create::CreateArgs),
    /// Show an ad
    Get(commands::get::GetArgs),
    /// List ads, or find some by words and filters
    #[command(alias = "search", alias = "find")]
    List(commands::list::ListArgs),
    /// Show whether ads are live, and if not, why and what to do
    Status(commands::status::StatusArgs),
    /// Show how good ads are, and how to improve them
    #[command(after_help = commands::quality::HELP)]
    Quality(ShownArgs),
    /// Show the prices of an ad over time
    #[command(after_help = commands::prices::HELP)]
    Prices(TargetArgs),
    /// Show what an ad said before, and who changed it
    #[command(after_help = commands::history::HELP)]
    History(TargetArgs),
    /// Show the calls of marketplaces about an ad
    #[command(after_help = commands::calls::HELP)]
    Calls(TargetArgs),
    /// Save the signed record of an ad, or verify a saved one
    Record(commands::record::RecordArgs),
    /// Count the ads by status
    #[command(after_help = commands::summary::HELP)]
    Summary,
    /// Change some fields of an ad
    Update(commands::update::UpdateArgs),
    /// Change the price of an ad
    Price(commands::price::PriceArgs),
    /// Take ads off the marketplaces
    #[command(after_help = commands::visibility::HIDE_HELP)]
    Hide(commands::visibility::VisibilityArgs),
    /// Publish hidden ads
    #[command(after_help = commands::visibility::SHOW_HELP)]
    Show(commands::visibility::VisibilityArgs),
    /// Restore what an ad said before
    Restore(commands::restore::RestoreArgs),
    /// Edit an ad in a text editor
    Edit(commands::edit::EditArgs),
    /// Delete the ads of sold vehicles
    #[command(after_help = actions::SOLD_HELP)]
    Sold(actions::ActionArgs),
    /// Delete ads
    #[command(after_help = actions::DELETE_HELP)]
    Delete(actions::ActionArgs),
    /// Show what promotions cost, and how much of the budget is left
    Account(commands::account::AccountArgs),
    /// Limit what promotions may cost in a month
    Budget(commands::account::BudgetArgs),
    /// Bump ads, so that they appear as new
    Bump(actions::BumpArgs),
    /// Give ads pole position: first in search results for 3 days
    #[command(after_help = actions::POLE_POSITION_HELP)]
    PolePosition(actions::ActionArgs),
    /// Promote ads by the clock, within a budget
    Promotions(commands::promotions::PromotionsArgs),
    /// Retry an ad's failed steps
    Retry(actions::RetryArgs),
    /// Show the log of an ad
    Log(commands::log::LogArgs),
    /// Show the events of all ads, or follow them
    Events(commands::events::EventsArgs),
    /// Manage webhooks, and develop a receiver
    Webhooks(commands::webhooks::WebhooksArgs),
    /// Serve these commands as tools of an assistant, over the Model Context Protocol
    Mcp(mcp::McpArgs),
    /// Show what has become of a request
    Request(commands::request::RequestArgs),
    /// Wait until the latest request of an ad is finished
    Wait(commands::wait::WaitArgs),
    /// Migrate V3 ads to V4, or show what they lack
    MigrateV4(commands::migrate_v4::MigrateV4Args),
    /// Print all ads, one JSON object per line
    Export(commands::export::ExportArgs),
    /// Open an ad in the console, or the API documentation
    Open(commands::open::OpenArgs),
    /// Print a shell completion script
    Completions(commands::completions::CompletionsArgs),
    /// Print the manual, or write manual pages to a folder
    Man(commands::man::ManArgs),
    /// Print this help, or the help of a command
    Help(commands::help::HelpArgs),
}

impl Command {
    async fn run(self, context: &Context) -> Result<(), Failure> {
        match self {
            Self::Validate(args) => commands::validate::run(context, &args).await,
            Self::New(args) => commands::new::run(context, &args),
            Self::Template(args) => commands::template::run(context, &args),
            Self::Fields(args) => commands::fields::run(context, &args),
            Self::Values(args) => commands::values::run(context, &args),
            Self::Models(args) => commands::values::models(context, &args),
            Self::Login(args) => commands::login::run(context, &args).await,
            Self::Whoami(args) => commands::whoami::run(context, &args).await,
            Self::Import(args) => commands::import::run(context, &args).await,
            Self::Sync(args) => commands::sync::run(context, &args).await,
            Self::Stock(args) => commands::stock::run(context, &args).await,
            Self::Photos(args) => commands::photos::run(context, &args).await,
            Self::Create(args) => commands::create::run(context, &args).await,
            Self::Get(args) => commands::get::run(context, &args).await,
            Self::List(args) => commands::list::run(context, &args).await,
            Self::Status(args) => commands::status::run(context, &args).await,
            Self::Quality(args) => commands::quality::run(context, &args).await,
            Self::Prices(args) => commands::prices::run(context, &args).await,
            Self::History(args) => commands::history::run(context, &args).await,
            Self::Calls(args) => commands::calls::run(context, &args).await,
            Self::Record(args) => commands::record::run(context, &args).await,
            Self::Restore(args) => commands::restore::run(context, &args).await,
            Self::Summary => commands::summary::run(context).await,
            Self::Update(args) => commands::update::run(context, &args).await,
            Self::Price(args) => commands::price::run(context, &args).await,
            Self::Hide(args) => commands::visibility::set(context, &args, false).await,
            Self::Show(args) => commands::visibility::set(context, &args, true).await,
            Self::Edit(args) => commands::edit::run(context, &args).await,
            Self::Delete(args) | Self::Sold(args) => actions::delete(context, &args).await,
            Self::Bump(args) => actions::bump(context, &args).await,
            Self::PolePosition(args) => actions::pole_position(context, &args).await,
            Self::Account(args) => commands::account::account(context, &args).await,
            Self::Budget(args) => commands::account::budget(context, &args).await,
            Self::Promotions(args) => commands::promotions::run(context, &args).await,
            Self::Retry(args) => actions::retry(context, &args).await,
            Self::Log(args) => commands::log::run(context, &args).await,
            Self::Events(args) => commands::events::run(context, &args).await,
            Self::Webhooks(args) => commands::webhooks::run(context, args).await,
            Self::Mcp(args) => mcp::serve(context, &args).await,
            Self::Request(args) => commands::request::run(context, &args).await,
            Self::Wait(args) => commands::wait::run(context, &args).await,
            Self::MigrateV4(args) => commands::migrate_v4::run(context, &args).await,
            Self::Export(args) => commands::export::run(context, &args).await,
            Self::Open(args) => commands::open::run(context, &args).await,
            Self::Completions(args) => commands::completions::run(context, &args),
            Self::Man(args) => commands::man::run(context, &args),
            Self::Help(args) => commands::help::run(context, &args),
            Self::Logout => commands::profiles::logout(context),
            Self::Profiles => commands::profiles::list(context),
            Self::Config => commands::config::run(context),
            Self::Doctor => commands::doctor::run(context).await,
        }
    }
}

/// Reads the command line, runs what it says, and returns how that went.
pub fn main() -> ExitCode {
    complete::complete_if_asked();
    terminal::start(|line: &Cli| &line.global, async |line, context| line.command.run(context).await)
}

/// The whole command line, for completions, manual and documentation.
fn definition() -> clap::Command {
    let mut command = <Cli as clap::CommandFactory>::command();
    command.build();
    command
}

/// The commands, as they are typed: `list`, `sync plan`.
pub fn command_names() -> Vec<String> {
    fn add(before: &str, command: &clap::Command, names: &mut Vec<String>) {
        for command in command.get_subcommands() {
            let name = format!("{before}{}", command.get_name());
            if command.has_subcommands() {
                add(&format!("{name} "), command, names);
            } else {
                names.push(name);
            }
        }
    }
    let mut names = Vec::new();
    add("", &definition(), &mut names);
    names
}

/// docs/cli.md, from the definition that the command line itself reads.
pub fn markdown() -> String {
    terminal::reference_page(include_str!("introduction.md"), definition())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }
}
