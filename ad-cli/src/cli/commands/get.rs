//! `ad-cli get`: one ad as it is now, or as it was.

use ad_core::model::{ImageStatus, StatusReport, Timestamp};
use ad_files::json::leaves;
use futures_util::future::join;
use serde_json::{Value, json};

use crate::{
    Ad, Target,
    bulk::Invocation,
    cli::{acts, acts::TargetArgs},
    terminal::{Cell, Context, Failure, Tone, ad_table, readable},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ad-cli get car-1
  ad-cli get ABC123                     the ad of the vehicle with this plate
  ad-cli get car-1 --output wide        with ids and times
  ad-cli get car-1 --at 2026-05-03T14:00:00Z
  ad-cli get car-1 --revision 3         what it said in a revision of `ad-cli history`
  ad-cli get car-1 --output json | jq .price")]
pub(crate) struct GetArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// The ad as it was at this time, in UTC
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "revision")]
    at: Option<Timestamp>,
    /// The ad as it was in this revision
    #[arg(long, value_name = "N")]
    revision: Option<u64>,
}

fn time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|error: ad_core::model::NotATime| error.to_string())
}

pub(crate) async fn run(context: &Context, GetArgs { target: args, at, revision }: &GetArgs) -> Result<(), Failure> {
    let client = context.client()?;
    let people = context.out.is_for_people();
    if at.is_some() || revision.is_some() {
        let ask = async |target: Target<'_>| match (at, revision) {
            (Some(at), _) => client.v4().read_at(target, *at).await,
            (_, revision) => client.v4().revision(target, revision.unwrap_or_default()).await,
        };
        let ad = acts::found(&client, args.target(), ask).await?.body;
        if !people {
            return Ok(context.out.record(&ad)?);
        }
        show(context, &ad, None)?;
        if let Some(revision) = ad.more.get("revision") {
            let restore =
                Invocation::of_user("restore").with("source_id", &*ad.source_id).with("revision", revision.clone());
            context.out.note(&format!("revision {revision}; to restore it: {}", context.out.command(&restore)));
        }
        return Ok(());
    }
    let ask = async |target: Target<'_>| {
        let status = async { if people { client.v4().status(target).await.ok() } else { None } };
        let ads = client.v4();
        let (read, status) = join(ads.read(target), status).await;
        Ok((read?, status.map(|answer| answer.body)))
    };
    let (read, status) = acts::found(&client, args.target(), ask).await?;
    if let Some(etag) = read.etag.as_ref().filter(|_| !people || context.out.is_wide()) {
        context.out.note(&format!("ETag: {etag}"));
    }
    let mut ad = read.body;
    if !people {
        return Ok(context.out.record(&ad)?);
    }
    let entries = ad.log.take().unwrap_or_default();
    show(context, &ad, status.as_ref())?;
    if let Some(last) = entries.last() {
        let message = crate::message_text(&last.external_message);
        let created = ad_table::minute_of(last.created);
        context.out.note(&format!("latest log entry: {} {} at {created}: {message}", last.action, last.state));
        let log = Invocation::of_user("log").with("source_id", &*args.source_id);
        context.out.note(&format!("to show the log: {}", context.out.command(&log)));
    }
    Ok(())
}

/// What one looks for first, then the vehicle.
fn show(context: &Context, ad: &Ad, status: Option<&StatusReport>) -> Result<(), Failure> {
    let shown = json!(ad);
    let field = |name: &str| Cell::from(readable(&shown[name]));
    let mut head = context.out.styled();
    head.toned(Tone::Strong, ad.title.as_deref().unwrap_or(&ad.source_id)).end_line();
    context.out.show(&head)?;
    let plate = &shown["category_fields"]["registration_number"];
    let is_past = ad.more.contains_key("image_urls");
    // What is known of its listing is how it is now.
    let now = |value: &Value| if is_past { Cell::default() } else { readable_or_nothing(value) };
    let of_state = || if is_past { Cell::default() } else { ad_table::ad_state(&shown["state"]) };
    let mut fields = vec![
        ("status", status.map_or_else(of_state, status_of)),
        ("source id", field("source_id")),
        ("plate", readable_or_nothing(plate)),
        ("price", ad_table::prices(&shown["price"])),
        ("photos", photos(context, ad, status)),
        ("type", ad_table::vehicle_type(&shown["category_id"])),
        ("dealer", field("dealer_code")),
        ("listing", now(&shown["marketplace_ad_id"])),
        ("offer", now(&shown["offer_id"])),
        ("updated", ad_table::minute(&shown["updated"])),
    ];
    if context.out.is_wide() {
        fields.push(("created", ad_table::minute(&shown["created"])));
        fields.push(("id", field("id")));
        fields.push(("api version", field("api_version")));
    }
    for name in ["url", "video_url", "product_declaration", "location", "contact"] {
        fields.push((name, readable_or_nothing(&shown[name])));
    }
    fields.push(("body", ad.body.as_ref().map(|body| body.replace('\n', " ").into()).unwrap_or_default()));
    context.out.named(2, &fields)?;
    // A measure and a list are one field.
    let vehicle = leaves(&shown["category_fields"], |value| value.is_array() || value.get("value").is_some());
    if !vehicle.is_empty() {
        let mut heading = context.out.styled();
        heading.end_line();
        heading.toned(Tone::Strong, "category_fields").end_line();
        context.out.show(&heading)?;
        let paths: Vec<_> = vehicle.iter().map(|(path, _)| path.as_str()).collect();
        let lines: Vec<_> =
            vehicle.iter().flat_map(|(path, value)| lines_of(short_name(path, &paths), value)).collect();
        let lines: Vec<_> = lines.iter().map(|(name, text)| (name.as_str(), text.as_str().into())).collect();
        context.out.named(2, &lines)?;
    }
    Ok(())
}

/// A field as lines of a name and a text. Of a list of objects, each item is a line, with further members indented below it.
fn lines_of(name: &str, value: &Value) -> Vec<(String, String)> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if !items.iter().any(Value::is_object) {
        return vec![(name.to_owned(), readable(value))];
    }
    let mut lines = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let members = item.as_object().filter(|members| members.len() > 2);
        let (Some(members), Some(first)) = (members, item.get("name")) else {
            let name = if index == 0 { name } else { "" };
            lines.push((name.to_owned(), readable(item)));
            continue;
        };
        lines.push((name.to_owned(), readable(first)));
        for (member, value) in members.iter().filter(|(member, _)| *member != "name") {
            match value.as_object().filter(|below| below.values().all(Value::is_object)) {
                Some(below) => {
                    lines.extend(below.iter().map(|(at, value)| (format!("  {member} {at}"), readable(value))));
                }
                None => lines.push((format!("  {member}"), readable(value))),
            }
        }
    }
    lines
}

/// `live`, or the status with the reason of the first marketplace that has one.
fn status_of(status: &StatusReport) -> Cell {
    let Cell { text, mut tone } = ad_table::status(&json!(status.status));
    if tone == Some(Tone::Good) && missing(status) > 0 {
        tone = Some(Tone::Warning);
    }
    let why = status.channels.iter().find(|channel| channel.code.is_some());
    let why = why.map(|channel| format!(": {}: {}", channel.marketplace.name(), channel.text)).unwrap_or_default();
    Cell { text: format!("{text}{why}"), tone }
}

/// Photos that the ad should have and has not.
fn missing(status: &StatusReport) -> usize {
    status.images.iter().filter(|image| image.status != ImageStatus::Stored).count()
}

/// `2 of 5; 3 are missing: ad-cli status car-1`
fn photos(context: &Context, ad: &Ad, status: Option<&StatusReport>) -> Cell {
    let stored = ad.image_refs.len();
    match status.map_or(0, missing) {
        // Of an ad as it was, the service says which photos it had.
        0 if let Some(Value::Array(urls)) = ad.more.get("image_urls") => urls.len().to_string().into(),
        0 if stored == 0 => Cell::toned("none", Tone::Warning),
        0 => stored.to_string().into(),
        missing => {
            let all = stored + missing;
            let why =
                context.out.command(&Invocation::of_user("status").with("source_ids", vec![ad.source_id.clone()]));
            Cell::toned(format!("{stored} of {all}; to see why: {why}"), Tone::Warning)
        }
    }
}

/// The name of a field, where no other field of the vehicle has it; `update --set` takes it too.
fn short_name<'a>(path: &'a str, paths: &[&str]) -> &'a str {
    let name = path.rsplit('.').next().unwrap_or(path);
    let is_only = paths.iter().filter(|other| other.rsplit('.').next() == Some(name)).count() == 1;
    if is_only { name } else { path }
}

fn readable_or_nothing(value: &Value) -> Cell {
    if value.is_null() { Cell::default() } else { readable(value).into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_objects_is_lines_and_no_wall() {
        let tires = json!({"front_left": {"thread_depth": 6.1}, "front_right": {"thread_depth": 6.0}});
        let wheels = json!([{"name": "summer", "rim_size": 19, "tires": tires}]);
        let line = |(name, text): &(String, String)| format!("{name}: {text}");
        assert_eq!(
            lines_of("wheels", &wheels).iter().map(line).collect::<Vec<_>>(),
            [
                "wheels: summer",
                "  rim_size: 19",
                "  tires front_left: thread_depth 6.1",
                "  tires front_right: thread_depth 6.0"
            ]
        );
        let ratings = json!([{"name": "exterior", "value": "good"}, {"name": "engine", "value": "very_good"}]);
        let ratings: Vec<_> = lines_of("vehicle_ratings", &ratings).iter().map(line).collect();
        assert_eq!(ratings, ["vehicle_ratings: exterior good", ": engine very_good"]);
        assert_eq!(lines_of("fuels", &json!(["petrol", "electric"])), [("fuels".into(), "petrol, electric".into())]);
    }
}
