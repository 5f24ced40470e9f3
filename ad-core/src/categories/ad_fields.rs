//! The ad table ('Ad'): the fields around `category_fields`, which are the same for all categories.

use std::sync::LazyLock;

use url::Url;

use super::{
    category::{Facts, Heading, Rule},
    location, price,
};
use crate::{
    fields::{
        Field, FieldErrors, Kind, MOST_CHARACTERS, Node, Tree, plain_host,
        row::{boolean, text, text_between, text_up_to, web_address},
    },
    violation::{Code, Violation},
};

/// Maximum number of images of an ad ('Limits').
pub const MOST_IMAGES: usize = 20;

/// Fields that identify an ad. They are sent on create and cannot change.
#[rustfmt::skip]
pub const IDENTITY: &[Field] = &[
    text_between("source_id", 1, 255, "The client's identifier, unique per dealer for ever; any text of 1 to 255 characters").required(),
    text("dealer_code", "The dealer; required when the token's scope is a dealer group"),
    Field::new("category_id", Kind::Integer { min: 1, max: 9999, numeric_text: true }, "The category of the path's vehicle type").required(),
];

/// Fields that the client sends and may change.
#[rustfmt::skip]
pub const WRITTEN: &[Field] = &[
    text_between("title", 1, MOST_CHARACTERS, "Title; required for unregistered categories, generated for registered vehicles, for which it must not be sent"),
    text_up_to("body", 200_000, "Text of the ad; `<` and `>` become `-`"),
    boolean("visible", "`false` prevents publication; `true` if absent"),
    Field::new("price", Kind::Objects { fields: price::FIELDS, max: price::MOST, unique_by: "type" }, "Prices, at most one of each type"),
    Field::new("image_urls", Kind::List { item: &Kind::ImageAddress, max: MOST_IMAGES, unique: true }, "Addresses of JPEG or PNG images in display order, at most 20; replaces the previous list").request_only(),
    web_address("url", "Address of a page about the ad at the seller's site"),
    Field::new("video_url", Kind::Url { schemes: &["https"] }, "Address of a video on YouTube or Vimeo"),
    Field::new("location", Kind::Object { fields: location::FIELDS }, "Where the vehicle is; the dealer's address if absent or null"),
    text("contact.name", "Seller name"),
    Field::new("contact.phone", Kind::Digits { lengths: &[8, 9, 10, 11, 12, 13, 14, 15, 16], plus: true }, "Digits with an optional leading +, 8 to 16 characters"),
    Field::new("contact.email", Kind::Email { or_empty: false }, "E-mail address").required(),
    Field::new("category_fields", Kind::CategoryFields, "Fields of the category").required(),
    boolean("dont_publish_on_failed_images", "`true` prevents publication while an image is missing; `false` if absent"),
    web_address("product_declaration", "Address of a hosted product declaration PDF"),
];

/// Fields that the service adds. They are ignored in a write (decision 3).
#[rustfmt::skip]
pub const ADDED: &[Field] = &[
    text("id", "Internal id (UUID)").response_only(),
    text("state", "`created` or `deleted`").response_only(),
    text("image_refs", "The stored images").response_only(),
    text("marketplace_ad_id", "Id on the primary marketplace, assigned after publishing").response_only(),
    text("offer_id", "Id on the secondary marketplace; registered vehicles only").response_only(),
    text("api_version", "Version that created or last converted the ad").response_only(),
    text("created", "Time of creation").response_only(),
    text("updated", "Time of the last change").response_only(),
    text("log", "The 100 latest log entries").response_only(),
];

/// Rules over the fields of the ad, for every category.
pub const RULES: &[&[Rule]] = &[
    &[
        Rule {
            name: "title",
            doc: "Required for unregistered categories; must not be sent for registered vehicles.",
            check: title,
        },
        Rule {
            name: "contact",
            doc: "Required for unregistered categories; must not be sent for registered vehicles.",
            check: contact,
        },
        Rule { name: "video address", doc: "`video_url` is a page of a supported platform.", check: video },
    ],
    price::RULES,
    location::RULES,
];

/// The table of a create.
pub(crate) static CREATE: LazyLock<Tree> =
    LazyLock::new(|| Tree::new([IDENTITY, WRITTEN, ADDED].into_iter().flatten()));

/// The table of a merged update.
pub(crate) static UPDATE: LazyLock<Tree> = LazyLock::new(|| Tree::new([WRITTEN, ADDED].into_iter().flatten()));

/// Whether an update replaces this object as a whole.
pub(crate) fn replaced_whole(name: &str) -> bool {
    matches!(UPDATE.get(name), Some(Node::Leaf(Field { kind: Kind::Object { .. }, .. }, _)))
}

fn title(facts: &Facts<'_>, errors: &mut FieldErrors) {
    demanded_or_forbidden(
        "title",
        facts.ad.has_title,
        "the title is generated from brand, model, model_type and model_year",
        facts,
        errors,
    );
}

fn contact(facts: &Facts<'_>, errors: &mut FieldErrors) {
    demanded_or_forbidden("contact", facts.ad.has_contact, "the dealer's own contact is shown", facts, errors);
}

fn demanded_or_forbidden(name: &str, sent: bool, instead: &'static str, facts: &Facts<'_>, errors: &mut FieldErrors) {
    match facts.category.heading {
        // Other errors of a field that must not be sent do not matter.
        Heading::Forbidden if sent => {
            errors.replace(name, Violation::Forbidden { category: facts.category.to_string(), instead });
        }
        Heading::Required if !sent => errors.push(name, Violation::Required),
        _ => {}
    }
}

fn video(facts: &Facts<'_>, errors: &mut FieldErrors) {
    let Some(address) = facts.ad.video_url else { return };
    let hosts = &facts.settings.video_hosts;
    let is_known = |host: &str| {
        hosts
            .iter()
            .any(|known| host == known || host.strip_suffix(known.as_str()).is_some_and(|sub| sub.ends_with('.')))
    };
    let known = match plain_host(&["https"], address) {
        Some(host) => is_known(host),
        // The check of the table reports a value that is no address.
        None => Url::parse(address).map_or(true, |url| url.host_str().is_some_and(is_known)),
    };
    if !known {
        let text = format!("Send an address at one of: {}.", hosts.join(", "));
        errors.push("video_url", Violation::stated(Code::InvalidChoice, text));
    }
}
