//! `ad-cli edit`: an ad in a text editor.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Write},
    path::Path,
    process::Command,
};

use ad_core::{
    categories::{self, Category, ad_fields},
    model::ApiVersion,
    rulebook::{Rulebook, WriteContext},
    stock::put,
};
use ad_files::Place;
use serde_json::{Map, Value};

use super::new::written;
use crate::{
    Ad, ErrorKind,
    bulk::{
        Invocation,
        check::{Checker, Verdict},
        desired::{self, difference, differences},
        payload_of,
        payloads::{Piece, parse},
    },
    cli::{
        acts::{self, Done},
        change::{ChangeArgs, doubtful_price},
    },
    terminal::{Context, Exit, Failure, Findings, can_ask, confirm},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Opens the ad as JSON in the editor of VISUAL or EDITOR. When the editor is closed, the changes are validated, shown, and sent after a \
confirmation. If they are invalid, the editor opens again. An unchanged file changes nothing. Removed fields are cleared.

Examples:
  ad-cli edit car-1
  ad-cli edit ABC123 --wait")]
pub(crate) struct EditArgs {
    #[command(flatten)]
    change: ChangeArgs,
}

/// What the editor shows and what it is compared with.
struct EditedAd<'a> {
    context: &'a Context,
    ad: &'a Ad,
    category: &'static Category,
    before: Map<String, Value>,
}

pub(crate) async fn run(context: &Context, args: &EditArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let read = acts::read(&client, args.change.target.target()).await?;
    let ad = &read.body;
    let Some((category, vehicle_type)) = categories::by_id(ad.category_id)
        .filter(|_| ad.api_version == ApiVersion::V4)
        .and_then(|category| Some((category, category.vehicle_type?)))
    else {
        return Err(Failure::usage(format!("{} is a V3 ad, which cannot be edited", ad.source_id))
            .hint(("to migrate it", Invocation::of_user("migrate-v4").with("source_id", &*ad.source_id))));
    };
    let mut done = Done::new(context, &client, &args.change.wait)?;
    let edited = EditedAd { context, ad, category, before: payload_of(ad) };
    let Some(patch) = edited.patch().await? else {
        context.out.note("nothing was changed");
        return Ok(());
    };
    if args.change.dry_run {
        let patch = serde_json::to_string_pretty(&patch).map_err(io::Error::other)?;
        return Ok(context.out.text(&format!("{patch}\n"))?);
    }
    if let Some(doubt) = doubtful_price(&ad.price, &patch) {
        context.out.warning(&doubt);
    }
    confirm(context, "Send these changes?", args.change.yes).await?;
    let ads = args.change.wait.of(client.typed(vehicle_type)).if_match(read.etag.as_deref());
    let answer = ads.update(ad, &patch).await.map_err(|error| match error.kind() {
        ErrorKind::PreconditionFailed(_) => Failure::rejected("nothing was changed: the ad has changed meanwhile")
            .hint(("edit it again", Invocation::of_user("edit").with("source_id", &*ad.source_id))),
        _ => error.into(),
    })?;
    done.accepted(&answer).await?;
    done.end()
}

impl EditedAd<'_> {
    /// What was changed, once it is valid; `None` if nothing was.
    async fn patch(&self) -> Result<Option<Map<String, Value>>, Failure> {
        let failed = |error: io::Error| Failure::failed(format!("cannot use a temporary file: {error}"));
        let mut file = tempfile::Builder::new().prefix("ad-").suffix(".json").tempfile().map_err(failed)?;
        let original = written(&self.before, self.category);
        file.write_all(original.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
        loop {
            let path = file.path().to_owned();
            tokio::task::spawn_blocking(move || open(&path)).await.map_err(io::Error::other)??;
            let text = std::fs::read(file.path()).map_err(failed)?;
            if text == original.as_bytes() {
                return Ok(None);
            }
            match self.decide(&text) {
                Ok(changes) => return Ok(Some(changes).filter(|changes| !changes.is_empty())),
                Err(verdict) => {
                    let mut findings = Findings::new(&self.ad.source_id, self.context.out);
                    findings.show(&verdict)?;
                    findings.end()?;
                    if !can_ask() {
                        return Err(Failure::Shown(Exit::Rejected));
                    }
                    confirm(self.context, "The ad is invalid. Edit it again?", false).await?;
                }
            }
        }
    }

    /// The patch that makes the ad what the text says; its changes are shown.
    fn decide(&self, text: &[u8]) -> Result<Map<String, Value>, Verdict> {
        let piece = Piece { text, place: Place { line: 1, column: 1 }, problem: None };
        let checker = Checker::new(ApiVersion::V4, Some(self.category)).with_http_images();
        let Ok(after) = parse(text) else { return Err(checker.check(piece, 0).0) };
        let changes = differences(self.category, &self.before, &after);
        let mut patch = Map::new();
        for change in &changes {
            put(&mut patch, &change.field, change.new.clone());
        }
        // What cannot change and fields that no table knows are rejected with the others.
        let is_written = |name: &str| ad_fields::WRITTEN.iter().any(|row| row.path.split('.').next() == Some(name));
        let others = after.iter().filter(|(name, value)| !is_written(name) && self.before.get(*name) != Some(*value));
        patch.extend(others.map(|(name, value)| (name.clone(), value.clone())));
        let write = WriteContext { category: self.category, version: ApiVersion::V4, dealer: None };
        let mut rulebook = Rulebook::default();
        rulebook.settings.http_images = true;
        if let Err(errors) = rulebook.update(write, &desired::stored(self.ad), patch.clone()) {
            let source_id = Some(self.ad.source_id.clone());
            return Err(Verdict { source_id, ..checker.rejected(&errors, piece, 0) });
        }
        for change in &changes {
            self.context.out.note(&format!("{}: {}: {}", self.ad.source_id, change.field, difference(change)));
        }
        Ok(patch)
    }
}

fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Opens a file in the editor of the user, and waits until it is closed.
fn open(path: &Path) -> Result<(), Failure> {
    let set = |name| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR"));
    if editor.is_none() && !io::stdin().is_terminal() {
        return Err(Failure::usage("no editor").hint("set EDITOR, such as EDITOR=nano"));
    }
    // Whoever knows another editor has set it.
    let default = if cfg!(windows) {
        "notepad"
    } else if is_installed("nano") {
        "nano"
    } else {
        "vi"
    };
    let editor = editor.map_or_else(|| default.to_owned(), |editor| editor.to_string_lossy().into_owned());
    // Options may follow the program, as in `code --wait`.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(default);
    let status = Command::new(program).args(words).arg(path).status();
    let status = status.map_err(|error| {
        let known =
            ["nano", "vi", "code", "notepad"].into_iter().find(|known| *known != program && is_installed(known));
        let example = known.map_or_else(String::new, |known| format!(", such as EDITOR={known}"));
        Failure::usage(format!("cannot start the editor {program:?}: {error}"))
            .hint(format!("set EDITOR to an editor of this computer{example}"))
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::failed(format!("the editor {program:?} failed ({status}); nothing was changed")))
}
