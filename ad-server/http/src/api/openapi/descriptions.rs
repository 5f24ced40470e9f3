//! Descriptions for people: the guide at the top of the document, and what an operation's summary does not say.

use ad_core::categories::{Category, Heading};

use super::fields::is_sent;
use crate::api::operations::{Act, BasePath};
use crate::sandbox;
use ad_server_access::auth::Permission;

/// The guide, for a service at this address without a slash at its end.
pub(super) fn guide(service: &str, first_request: &str) -> String {
    let guide = include_str!("guide.md").replace("{service}", service).replace("{sandbox}", sandbox::GUIDE);
    guide.replace("{first_request}", first_request)
}

/// The description of an operation on these paths, after its first sentences.
pub(super) fn more(base: BasePath, act: Act) -> String {
    let category = base.category();
    let paragraphs = match act {
        Act::Create => vec![FOLLOW.to_owned(), fields(category), REJECTED.to_owned()],
        Act::Validate => vec![VALIDATE.to_owned(), REJECTED.to_owned()],
        Act::Update => vec![update(category), REJECTED.to_owned()],
        Act::Migrate => vec![MIGRATE.to_owned()],
        Act::List => vec![LIST.to_owned()],
        Act::Read => vec![READ.to_owned()],
        Act::Status => vec![STATUS.to_owned()],
        Act::Revisions | Act::Revision => vec![RECORD.to_owned()],
        Act::Record => vec![SIGNED.to_owned()],
        Act::Restore => vec![RESTORE.to_owned(), REJECTED.to_owned()],
        Act::Prices => vec![PRICES.to_owned()],
        Act::Log => vec![LOG.to_owned()],
        Act::Delete => vec![delete(category)],
        Act::Bump => vec![BUMP.to_owned()],
        Act::PolePosition => vec![POLE_POSITION.to_owned()],
        Act::Retry => vec![RETRY.to_owned()],
        _ => Vec::new(),
    };
    let paragraphs = paragraphs.iter().filter(|text| !text.is_empty());
    paragraphs.flat_map(|text| ["\n\n", text]).collect()
}

/// The sentence about the permission that an operation needs.
pub(super) fn needs(permission: Option<Permission>) -> Option<String> {
    permission.map(|permission| format!("Needs the permission `{permission}`."))
}

const FOLLOW: &str = "The `X-Request-Id` of the answer is the `request_id` of these entries. If the answer is lost, send the same \
    request again: a 409 says that the ad exists, and with the same `Idempotency-Key` you get the first answer.";

const REJECTED: &str = "A 400 names every invalid field at its path, with the nearest allowed values.";

const VALIDATE: &str = "The answer shows the ad as it would be stored, and warnings about what is allowed but probably unintended, such as an \
    ad without images.";

const MIGRATE: &str = "Needed once for an ad that was created through V3 and whose category cannot be converted by an update. Afterwards \
    the ad is a V4 ad and published again. A V4 ad is rejected with `ad_already_v4`.";

const LIST: &str = "Without parameters: the 50 newest ads, complete but without `log`. `fields` limits the members of each ad, which makes \
    long lists fast. `next` is the address of the next page, or `null` on the last one.\n\nTo find what has changed, keep the time of your \
    last list and send it as `updated__gte`.";

const READ: &str = "`image_refs` has the stored images, `marketplace_ad_id` and `offer_id` the ids on the marketplaces once the ad is \
    published. A deleted ad can be read as well; its `state` is `deleted`.";

const STATUS: &str = "Programs read `status`, `code` and `who_acts`; texts may change. `outdated` means that the marketplace lists the ad, but \
    the latest update of the listing failed; the ad is then `partly_live`.";

const PRICES: &str = "The applied price of a time is that of type `reduced` or, without one, that of type `list`. At most the latest 500 changes are kept; \
    `recorded_since` says since when the history has no gaps. The service computes, and gives no legal advice.";

const RECORD: &str = "Updates that changed nothing are left out. The latest 500 changes are recorded, for as long as the operator keeps them (two years by \
    default), from the ad's first update by a version of the service that records them on. Images and ids of listings are those of today. What is not \
    recorded is answered with `not_recorded`.";

const SIGNED: &str = "The signature is of the bytes of `record` as they stand in the answer, so keep these: `ad-cli record` saves them, and \
    `ad-cli record verify` says whether a saved record is whole and unchanged, without the service.";

const RESTORE: &str = "It is an update in every respect: bound by `If-Match`, logged as `update`, and published again. A deleted ad is published again where an \
    update does that.";

const LOG: &str = "Each action of a request has an entry with state `processing` when it begins, and one with `done` or `error` when it \
    ends. `request_id` limits the log to one request, `state=error` to failures.";

const BUMP: &str = "The marketplaces confirm the renewal in the log, with action `bump`. Exclude one of them with `exclude_primary` or \
    `exclude_secondary`.";

const POLE_POSITION: &str =
    "The log confirms it with action `boost`. While a pole position is active, another is rejected.";

const RETRY: &str = "The service repeats by itself what may succeed later. Use `retry` when the cause of an `error` entry is removed, such \
    as a missing image.";

fn update(category: Option<&Category>) -> String {
    let deleted = match category {
        Some(category) if !category.registered => "Updating a deleted ad publishes it again.",
        Some(_) => "A deleted ad cannot be updated.",
        None => {
            "A deleted ad can be updated, and is published again, if its category is not that of registered vehicles."
        }
    };
    format!(
        "The merged ad is validated as a whole. To replace photos send the complete `image_urls`; those that the ad has already are \
         not fetched again. The log shows the progress with the actions `update`, `handle_media` and `publish`. An update does not make \
         the ad appear as new: that is `bump`. {deleted}"
    )
}

fn delete(category: Option<&Category>) -> String {
    let revived = match category {
        Some(category) if !category.registered => " An update publishes a deleted ad again.",
        _ => "",
    };
    format!(
        "The ad is removed from all marketplaces. Its data stays readable, and its `source_id` remains in use. Deleting a deleted ad \
         changes nothing.{revived}"
    )
}

/// Which fields a payload of a category has, by name: the search of the pages finds them here.
fn fields(category: Option<&Category>) -> String {
    let Some(category) = category else { return String::new() };
    let rows: Vec<_> = category.fields().filter(|row| is_sent(row)).collect();
    let list = |required: bool| {
        let rows = rows.iter().filter(|row| row.required == required);
        rows.map(|row| row.path).collect::<Vec<_>>().join(", ")
    };
    let heading = if category.heading == Heading::Required { ", title, contact" } else { "" };
    let identified = if category.registered { " Send registration_number, vin, or both." } else { "" };
    let required = match list(true) {
        none if none.is_empty() => String::new(),
        required => format!(" with {required}"),
    };
    format!(
        "Required: source_id, category_id ({}){heading}, and category_fields{required}.{identified} Optional in category_fields: {}.",
        category.id,
        list(false)
    )
}
