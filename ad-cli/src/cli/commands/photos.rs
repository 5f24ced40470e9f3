//! `ad-cli photos`: whether the service can fetch images.

use std::path::{Path, PathBuf};

use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::Value;

use crate::{
    Client, Target,
    bulk::payloads::{Chunks, Source, parse},
    cli::{
        acts::{self, DealerArgs},
        images::{FetchedImage, ImageChecker, service_accepts_http},
        input::{Input, MappingArg},
    },
    terminal::{Cell, Column, Context, Counter, Exit, Failure, Rows, Tone, counted, grouped},
};

/// Number of images that are fetched concurrently.
const AT_ONCE: usize = 8;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ad-cli photos check stock.ndjson\n  ad-cli photos check car-1")]
pub(crate) struct PhotosArgs {
    #[command(subcommand)]
    step: PhotosCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PhotosCommand {
    /// Try to fetch the photos of a file or of ads, as the service would
    #[command(after_help = "\
Fetches every address from this computer: it must begin with https, answer with a complete JPEG or PNG image of at most 15 MB within 20 \
seconds, and redirect at most 5 times. Nothing is changed. The service fetches from its own network; what only your network can reach, it \
cannot.

Exit code 0: all can be fetched. 1: some cannot.

Examples:
  ad-cli photos check stock.ndjson
  ad-cli photos check stock.xlsx --mapping stock.toml
  ad-cli photos check car-1 ABC123
  ad-cli photos check stock.ndjson --output csv > photos.csv")]
    Check {
        /// A file, in any format of `import`, or the source ids or plates of ads
        #[arg(value_name = "FILE|SOURCE_ID", required_unless_present = "ad")]
        what: Vec<String>,
        /// Source id or plate of an ad, even if there is a file of that name
        #[arg(long, value_name = "SOURCE_ID", conflicts_with_all = ["what", "mapping"])]
        ad: Vec<String>,
        #[command(flatten)]
        mapping: MappingArg,
        #[command(flatten)]
        dealer: DealerArgs,
        /// Accept images over http and in private networks, of a service whose operator allows them for tests
        #[arg(long, hide = true)]
        http_images: bool,
    },
}

const COLUMNS: &[Column] = &[
    Column::new("SOURCE ID", "source_id").shortened(),
    Column::new("LINE", "line").rank(3),
    Column::new("RESULT", "problem").shown(result).wrapped(),
    Column::new("TYPE", "media_type").rank(2),
    Column::new("BYTES", "bytes").shown(|bytes| bytes.as_u64().map(grouped).unwrap_or_default().into()).rank(1),
    Column::new("ADDRESS", "url").wrapped(),
    Column::new("REDIRECTED TO", "redirected_to").for_programs(),
];

#[derive(Debug, Clone, Serialize)]
struct Photo {
    source_id: Option<String>,
    line: Option<u64>,
    url: String,
}

/// The result of fetching it.
#[derive(Debug, Serialize)]
struct PhotoRow {
    #[serde(flatten)]
    photo: Photo,
    problem: Option<String>,
    #[serde(flatten)]
    found: FetchedImage,
}

fn result(problem: &Value) -> Cell {
    problem.as_str().map_or_else(|| Cell::toned("fetched", Tone::Good), |problem| Cell::toned(problem, Tone::Bad))
}

pub(crate) async fn run(context: &Context, args: &PhotosArgs) -> Result<(), Failure> {
    let PhotosCommand::Check { what, ad, mapping, dealer, http_images } = &args.step;
    let http_images = *http_images || service_accepts_http(context).await;
    let images = ImageChecker::new(http_images)
        .map_err(|error| Failure::failed(format!("cannot set up the client that fetches images: {error}")))?;
    let progress = Counter::new(context.out, "photo");
    let mut report = Report {
        images,
        rows: context.out.rows(COLUMNS),
        progress: &progress,
        fetched: 0,
        failed: 0,
        without: 0,
        unread: 0,
    };
    match &what[..] {
        [file] if file == "-" || Path::new(file).exists() => {
            let file = PathBuf::from(file);
            explain_files(&file)?;
            let input = Input::open(context, &file, mapping, http_images).await?;
            progress.run(report.of_file(input.source(context)?)).await??;
        }
        source_ids => {
            let client = context.client()?;
            let source_ids = source_ids.iter().chain(ad);
            progress.run(report.of_ads(&client, source_ids, dealer)).await??;
        }
    }
    report.end(context)
}

/// Advice for a folder of images, or for an image file.
fn explain_files(path: &Path) -> Result<(), Failure> {
    let is_image = path.extension().is_some_and(|ending| {
        ["jpg", "jpeg", "png", "heic", "webp"].iter().any(|image| ending.eq_ignore_ascii_case(image))
    });
    if !path.is_dir() && !is_image {
        return Ok(());
    }
    let what = if path.is_dir() { "a folder" } else { "an image file" };
    Err(Failure::usage(format!("{} is {what}; the service takes no files, it fetches images from https addresses", path.display()))
        .hint("put the images on a web server or an image host, and their addresses into image_urls")
        .hint("if your file has only their names, a mapping makes addresses of them: template = \"https://cdn.example/{value}\""))
}

struct Report<'a> {
    images: ImageChecker,
    rows: Rows,
    progress: &'a Counter,
    fetched: u64,
    failed: u64,
    /// Number of ads without images.
    without: u64,
    /// Number of rows that cannot be read.
    unread: u64,
}

impl Report<'_> {
    /// Tries the photos of all payloads of a file.
    async fn of_file(&mut self, source: Source) -> Result<(), Failure> {
        let mut chunks = Chunks::new(source);
        let mut text = Vec::new();
        while let Some(chunk) = chunks.next(text)? {
            let mut photos = Vec::new();
            chunk.each(|piece| {
                let Ok(mut payload) = parse(piece.text) else { return };
                // Of an invalid row, what the mapping makes of it.
                if payload.contains_key("rejected_row") {
                    match payload.remove("payload") {
                        Some(Value::Object(of_row)) => payload = of_row,
                        _ => return self.unread += 1,
                    }
                }
                let urls = payload.get("image_urls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                self.without += u64::from(urls.is_empty());
                let source_id = payload.get("source_id").and_then(Value::as_str).map(str::to_owned);
                photos.extend(urls.iter().filter_map(Value::as_str).map(|url| Photo {
                    source_id: source_id.clone(),
                    line: Some(piece.place.line),
                    url: url.to_owned(),
                }));
            });
            text = chunk.text;
            self.of(photos).await?;
        }
        Ok(())
    }

    /// Tries the photos of ads, whether the service has stored them or not.
    async fn of_ads(
        &mut self,
        client: &Client,
        source_ids: impl Iterator<Item = &String>,
        dealer: &DealerArgs,
    ) -> Result<(), Failure> {
        for source_id in source_ids {
            let target = Target::from(source_id.as_str()).of_dealer(dealer.dealer_code.as_deref());
            let ask = async |target: Target<'_>| client.v4().status(target).await;
            let status = acts::found(client, target, ask).await?.body;
            self.without += u64::from(status.images.is_empty());
            let photo = |url| Photo { source_id: Some(source_id.clone()), line: None, url };
            self.of(status.images.into_iter().map(|image| photo(image.url)).collect()).await?;
        }
        Ok(())
    }

    async fn of(&mut self, photos: Vec<Photo>) -> Result<(), Failure> {
        let tried = stream::iter(photos).map(async |photo| {
            let found = self.images.fetch(&photo.url).await;
            (photo, found)
        });
        let mut tried = std::pin::pin!(tried.buffered(AT_ONCE));
        while let Some((photo, found)) = tried.next().await {
            let problem = found.as_ref().err().cloned();
            self.fetched += u64::from(problem.is_none());
            self.failed += u64::from(problem.is_some());
            self.rows.push(&PhotoRow { photo, problem, found: found.unwrap_or_default() })?;
            self.progress.add();
        }
        Ok(())
    }

    fn end(self, context: &Context) -> Result<(), Failure> {
        let Self { rows, fetched, failed, without, unread, .. } = self;
        if fetched + failed > 0 || !context.out.is_for_people() {
            rows.end()?;
        }
        let photos = counted(fetched + failed, "photo");
        context.out.note(&format!("{photos}: {} can be fetched, {} cannot", grouped(fetched), grouped(failed)));
        if without > 0 {
            context.out.note(&format!("{} without photos", counted(without, "ad")));
        }
        if unread > 0 {
            context.out.note(&format!("{} cannot be read; to see why: ad-cli validate FILE", counted(unread, "row")));
        }
        if failed > 0 { Err(Failure::Shown(Exit::Failed)) } else { Ok(()) }
    }
}
