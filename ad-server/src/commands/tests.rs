//! The command line as clap understands it. What the commands do is tested with the binary.

use clap::{CommandFactory, error::ErrorKind};

use super::*;

fn parse(line: &str) -> Result<Cli, ErrorKind> {
    Cli::try_parse_from(line.split(' ')).map_err(|error| error.kind())
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn help_tells_the_defaults_that_are_used() {
    let defaults: toml::Table = toml::from_str(&config::default_file()).unwrap();
    let mut told = 0;
    let cli = Cli::command();
    let serve = cli.find_subcommand("serve").unwrap();
    for argument in cli.get_arguments().chain(serve.get_arguments()) {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let Some((_, default)) = help.split_once("[default: ") else { continue };
        // One that follows from another setting is not in the file.
        let Some(value) = defaults.get(argument.get_id().as_str()) else { continue };
        let used = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Array(items) => items.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        };
        assert_eq!(default.trim_end_matches(']'), used, "{}", argument.get_id());
        told += 1;
    }
    let off = ["allow_private_images", "allow_private_webhooks", "migrate", "sandbox"];
    assert_eq!(told, defaults.len() - off.len(), "all but {off:?}, which are off by default");
}

#[test]
fn every_setting_is_a_flag_and_an_environment_variable() {
    let mut cli = Cli::command();
    cli.build();
    let serve = cli.find_subcommand("serve").unwrap();
    for argument in serve.get_arguments().filter(|argument| argument.get_id() != "help") {
        let name = argument.get_id().as_str();
        assert_eq!(argument.get_long(), Some(name.replace('_', "-").as_str()));
        let variable = argument.get_env().and_then(std::ffi::OsStr::to_str);
        assert_eq!(variable, Some(format!("AD_SERVER_{}", name.to_uppercase()).as_str()));
    }
}

#[test]
fn help_does_not_show_the_password_in_the_address_of_the_database() {
    let cli = Cli::command();
    let address = cli.get_arguments().find(|argument| argument.get_id() == "database_url").unwrap();
    assert!(address.is_hide_env_values_set());
}

#[test]
fn lines_of_the_documents_are_understood() {
    for line in [
        "ad-server serve",
        "ad-server serve --listen 0.0.0.0:80 --database-url sqlite://x.db --media m --public-url https://a.se --dealers d.toml --workers 0 --allow-private-images",
        "ad-server serve --listen 127.0.0.1:1 --listen 127.0.0.1:2 --allow-private-images --allow-private-images",
        "ad-server serve --allow-private-images=false --catalogue c --token-key k --config f.toml --video-hosts a.se,b.se",
        "ad-server token issue --dealer-code C --expires 90d --permissions read,write",
        "ad-server token issue --dealer-group G --database-url sqlite://x.db",
        "ad-server token issue --dealer-code C --expires never",
        "ad-server --database-url sqlite://x.db token list --json",
        "ad-server token revoke 01890a5d-ac96-774b-bcce-b302099a8057",
        "ad-server token revoke -- -vendor/1",
        "ad-server dealers import d.toml",
        "ad-server dealers list --json",
        "ad-server listings import -",
        "ad-server listings list --json",
        "ad-server ads list --status failed,partly_live --code marketplace_unreachable --dealer-code C --limit 5 --json",
        "ad-server ads retry --all --yes",
        "ad-server config",
        "ad-server erase --dealer-code C --source-id S --dry-run --json",
        "ad-server erase --dealer-code C --yes --wait 10m --media m",
        "ad-server check --json --listen 127.0.0.1:1",
        "ad-server migrate --check",
        "ad-server marketplaces",
        "ad-server marketplaces pause primary --reason R",
        "ad-server marketplaces resume secondary",
        "ad-server dealers show C --json",
        "ad-server dealers suspend C --reason R",
        "ad-server dealers resume C",
        "ad-server ads show S --dealer-code C",
        "ad-server ads list --marketplace primary --older-than 1h",
        "ad-server queue retry --code marketplace_busy",
        "ad-server token list --dealer-code C",
        "ad-server token revoke --dealer-code C",
        "ad-server audit list --limit 5 --json",
        "ad-server serve --migrate",
        "ad-server worker",
        "ad-server queue --json",
        "ad-server queue list --dealer-code C --reason R --limit 5",
        "ad-server queue retry --all",
        "ad-server queue drop --yes 01890a5d-ac96-774b-bcce-b302099a8057",
    ] {
        assert!(parse(line).is_ok(), "{line}");
    }
}

#[test]
fn wrong_lines_are_refused() {
    for (line, kind) in [
        ("ad-server", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
        ("ad-server token issue", ErrorKind::MissingRequiredArgument),
        ("ad-server token issue --dealer-code C --dealer-group G", ErrorKind::ArgumentConflict),
        ("ad-server token issue --dealer-code=", ErrorKind::InvalidValue),
        ("ad-server token issue --dealer-code C --permissions admin", ErrorKind::ValueValidation),
        ("ad-server token issue --dealer-code C --expires soon", ErrorKind::ValueValidation),
        ("ad-server token revoke", ErrorKind::MissingRequiredArgument),
        (&format!("ad-server token revoke {}", "x".repeat(256)), ErrorKind::ValueValidation),
        ("ad-server ads list --status sold", ErrorKind::ValueValidation),
        ("ad-server ads list --code sold", ErrorKind::ValueValidation),
        ("ad-server ads retry --all --status failed", ErrorKind::ArgumentConflict),
        ("ad-server serve --workers -1", ErrorKind::UnknownArgument),
        ("ad-server serve --listen here", ErrorKind::ValueValidation),
        ("ad-server serve --image-tries 0", ErrorKind::ValueValidation),
        ("ad-server serve now", ErrorKind::UnknownArgument),
    ] {
        assert_eq!(parse(line).unwrap_err(), kind, "{line}");
    }
}
