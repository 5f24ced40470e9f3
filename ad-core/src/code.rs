//! The codes of everything that the service refuses or warns of (extensions E1): one list, from which answers, `docs/errors.md` and
//! the pages below `/docs/errors/` are made.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

/// What a code stands for, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// A few words.
    pub title: &'static str,
    /// When it is answered.
    pub explanation: &'static str,
    /// What to do.
    pub cure: &'static str,
}

macro_rules! codes {
    ($($code:ident $name:literal: $title:literal, $explanation:literal, $cure:literal;)+) => {
        /// What kind of error or warning it is. A code that was published keeps its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $explanation] #[serde(rename = $name)] $code,)+
            /// A code of a newer service, which this library does not know.
            #[serde(other, rename = "unknown")]
            Unknown,
        }

        impl Code {
            /// Every code, in the order in which they are documented.
            pub const ALL: &'static [Self] = &[$(Self::$code),+];

            /// Its name on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                    Self::Unknown => "unknown",
                }
            }

            /// By its name on the wire; [`Unknown`](Self::Unknown) for one that this library does not know.
            pub fn from_name(name: &str) -> Self {
                Self::ALL.iter().copied().find(|code| code.name() == name).unwrap_or(Self::Unknown)
            }

            /// What it stands for.
            pub const fn about(self) -> About {
                match self {
                    $(Self::$code => About { title: $title, explanation: $explanation, cure: $cure },)+
                    Self::Unknown => About {
                        title: "Unknown code",
                        explanation: "The service is newer than this library and has answered a code that the library does not know.",
                        cure: "Read the text of the error, and update the library.",
                    },
                }
            }
        }
    };
}

codes! {
    ValidationFailed "validation_failed": "Validation failed",
        "At least one field of the payload, or one parameter of the query, is wrong. The answer names all of them.",
        "Correct the fields that `errors` names, and send the request again.";
    Required "required": "Field missing",
        "A required field or parameter is missing.",
        "Send the field. `GET /v4/vehicles/{vehicle_type}/attributes` and `docs/categories.md` list the fields of each vehicle type.";
    Null "null": "Null not allowed",
        "The field is `null`, but must have a value.",
        "Send a value. On updates, leave the field out to keep what is stored.";
    Blank "blank": "Text empty",
        "The text is empty, but must have at least one character.",
        "Send a text, or leave the field out if it is optional.";
    UnknownField "unknown_field": "Unknown field",
        "There is no field or parameter of this name for this category and API version.",
        "Check the spelling; the answer names fields with a similar name. Remove the field if there is none.";
    InvalidType "invalid_type": "Wrong JSON type",
        "The value has another JSON type than the field, such as a text in place of a number.",
        "Send the type that the text of the error names.";
    InvalidChoice "invalid_choice": "Value not allowed",
        "The value is not one of the allowed values.",
        "Choose one of the allowed values. `GET /v4/vehicles/{vehicle_type}/{attribute}` lists them.";
    InvalidFormat "invalid_format": "Wrong format",
        "The text or number is not written as the field requires, such as a date that is not `YYYY-MM-DD`.",
        "Write it in the format that the text of the error names.";
    OutOfRange "out_of_range": "Number out of range",
        "The number is less than the least or greater than the greatest allowed value.",
        "Send a number within the bounds. Check the unit: a mileage may be in `km` or `mil`.";
    TooLong "too_long": "Text too long",
        "The text has more characters than allowed.",
        "Shorten it.";
    TooShort "too_short": "Text too short",
        "The text has fewer characters than required.",
        "Send the complete text.";
    TooMany "too_many": "Too many items",
        "The list has more items than allowed.",
        "Send fewer items.";
    TooDeep "too_deep": "Nested too deeply",
        "Arrays and objects are nested in more levels than allowed.",
        "Flatten the value.";
    TooLarge "too_large": "Too large",
        "The body, or the ad as it would be stored, has more bytes than allowed.",
        "Shorten or clear the largest fields. Images are sent as addresses, not as data.";
    DuplicateItem "duplicate_item": "Duplicate item",
        "The item occurs twice in the list, or the parameter twice in the query.",
        "Remove one of them.";
    Immutable "immutable": "Field cannot change",
        "The field is fixed once the ad exists.",
        "Send the stored value or leave the field out. For another vehicle, create another ad.";
    NotAllowed "not_allowed": "Not allowed here",
        "The field or value is not allowed for this category, API version, method or dealer.",
        "Leave it out, or send what the text of the error names instead.";
    NotSupportedByV3 "not_supported_by_v3": "Field of V4",
        "The field exists in V4 only, and the request was sent to V3.",
        "Send the request to V4, or leave the field out.";
    Conflict "conflict": "Fields contradict each other",
        "Fields that depend on each other do not go together. `rule` names the rule.",
        "Correct one of the fields that the rule is about.";
    DuplicateSourceId "duplicate_source_id": "source_id already used",
        "The dealer has used this `source_id` before, possibly for an ad that was deleted.",
        "Update the ad with PUT or PATCH, or choose another `source_id`.";
    AdDeleted "ad_deleted": "Ad is deleted",
        "The ad has been deleted.",
        "Create another ad with another `source_id`. A registered vehicle that is deleted can be revived by an update.";
    AdHidden "ad_hidden": "Ad is hidden",
        "The ad is not visible, so it cannot be promoted.",
        "Send an update with `visible: true` first.";
    AdNotPublished "ad_not_published": "Ad is not published",
        "No marketplace that the promotion is for lists the ad.",
        "Read the ad's log for the reason, and publish it by `retry`.";
    AdAlreadyV4 "ad_already_v4": "Ad is V4 already",
        "An ad of V4 needs no migration and cannot be updated through V3.",
        "Update the ad with PUT or PATCH through V4.";
    IncompatibleApiVersion "incompatible_api_version": "Ad of V3",
        "The ad was created with V3, and its category has no direct counterpart in V4.",
        "Migrate the ad first. `migration_options` in the default body lists the ways.";
    TrailerCreateDisabled "trailer_create_disabled": "Trailers cannot be created",
        "Trailers can be read, updated and deleted, but not created.",
        "Choose another category.";
    PolePositionActive "pole_position_active": "Pole position is active",
        "The ad has pole position already.",
        "Repeat the request when it has ended; the text of the error says when.";
    PromotionNotPermitted "promotion_not_permitted": "Promotion not permitted",
        "The dealer may not promote ads on the marketplace.",
        "Ask the operator for the permission, or exclude the marketplace.";
    QuotaExceeded "quota_exceeded": "Quota used up",
        "The dealer has as many ads, images or unfinished requests as the operator allows.",
        "Delete what is no longer needed, or ask the operator for more.";
    TooManyRequestsOfAd "too_many_requests_of_ad": "Too many unfinished requests of the ad",
        "The ad has as many unfinished requests as allowed.",
        "Wait until some are finished, then repeat the request. `Retry-After` says when to try.";
    TokenMissing "token_missing": "Token missing",
        "The request has no token.",
        "Send the token in the header `X-Auth-Token`.";
    TokenInvalid "token_invalid": "Token invalid",
        "The token is malformed, expired, revoked or signed by an unknown key.",
        "Request a new token from the operator.";
    PermissionMissing "permission_missing": "Permission missing",
        "The token does not have the permission that the request needs.",
        "Request a token with the permission from the operator.";
    NotFound "not_found": "Not found",
        "There is no such path, or no such ad in the scope of the token.",
        "Check the path, the `source_id` and the token.";
    MethodNotAllowed "method_not_allowed": "Method not allowed",
        "The path exists, but not with this method.",
        "Use one of the methods in the header `Allow`.";
    NotJson "not_json": "Not a JSON object",
        "The body is not a JSON object.",
        "Send a JSON object in UTF-8 with `Content-Type: application/json`.";
    RequestTimeout "request_timeout": "Body came too slowly",
        "The body of the request did not arrive in time.",
        "Send it again over a faster connection.";
    RateLimited "rate_limited": "Too many requests",
        "The dealer has sent more requests, or more at the same time, than allowed.",
        "Wait for as many seconds as `Retry-After` says, then repeat the request.";
    Unavailable "unavailable": "Temporarily unavailable",
        "The service cannot process the request right now. Nothing was done.",
        "Repeat the request after as many seconds as `Retry-After` says.";
    BadRequest "bad_request": "Malformed request",
        "The request could not be read.",
        "Correct what the text of the error names.";
    InternalError "internal_error": "Internal error",
        "The service has failed. The operator finds the cause in the log by the request id.",
        "Repeat the request. If it fails again, report the `X-Request-Id` to the operator.";
    ImageFailed "image_failed": "Image failed",
        "At least one image could not be fetched or is not an image. The log entry names each with its reason.",
        "Make the images available at their addresses and send `retry`, or update `image_urls`.";
    ImageStoreUnavailable "image_store_unavailable": "Image store unavailable",
        "The service could not store images for as long as it retries. Images that were stored before stay.",
        "Send `retry` later. If it fails again, tell the operator.";
    HeldByImages "held_by_images": "Not published for want of images",
        "An image is missing and the ad has `dont_publish_on_failed_images`, so it was not sent to any marketplace.",
        "Make the images available and send `retry`, or set `dont_publish_on_failed_images` to `false`.";
    MarketplaceRefused "marketplace_refused": "Refused by the marketplace",
        "A marketplace does not accept the ad as it is. The log entry names the marketplace and its reason.",
        "Correct what the reason names with an update.";
    MarketplaceUnreachable "marketplace_unreachable": "Marketplace unreachable",
        "A marketplace did not answer, or answered with a server error, for as long as the service retries.",
        "Send `retry` later.";
    MarketplaceBusy "marketplace_busy": "Marketplace busy",
        "A marketplace answered that it gets too many requests (429), for as long as the service retries.",
        "Send `retry` later.";
    MarketplaceCredentials "marketplace_credentials": "Marketplace rejects the service's credentials",
        "A marketplace rejected the credentials of the service (401 or 403), for as long as the service retries.",
        "The operator has to correct the credentials. Send `retry` afterwards.";
    NotListed "not_listed": "Not listed",
        "The ad has no listing on the marketplace, so it cannot be promoted there.",
        "Publish the ad with `retry`, and repeat the promotion.";
    GivenUp "given_up": "Stopped by the operator",
        "An operator has stopped the request before it was finished.",
        "Send `retry`, or ask the operator for the reason.";
    IgnoredField "ignored_field": "Field ignored",
        "Only the service sets this field. What was sent is ignored. This is a warning.",
        "Leave the field out.";
    NoImages "no_images": "No images",
        "The ad has no images. This is a warning.",
        "Send `image_urls`.";
    NoPrice "no_price": "No price",
        "The ad has no price. This is a warning.",
        "Send `price`, or a price of type `call`.";
    LeasingDetailsWithoutPrice "leasing_details_without_price": "Leasing details without a leasing price",
        "The ad has leasing details, but no price of type `leasing`. This is a warning.",
        "Send a price of type `leasing`, or remove `leasing_details`.";
    NoLongerCovered "no_longer_covered": "No longer covered by the dealer directory",
        "A stored value was valid, but the dealer's salespersons or products have changed since. This is a warning.",
        "Send another value, or `null` to remove it.";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// All codes as a page of Markdown, `docs/errors.md`.
pub fn reference() -> String {
    let mut page = "# Error codes\n\n\
        <!-- Written from ad-core/src/code.rs. UPDATE_SNAPSHOTS=1 cargo test -p ad-core error_codes -->\n\n\
        A request whose `Accept` prefers `application/problem+json` to JSON gets errors as problem details (RFC 9457) with a\n\
        code. The texts of errors may change, the codes keep their meaning. The service shows this page at `/docs/errors/`.\n"
        .to_owned();
    for code in Code::ALL {
        let About { title, explanation, cure } = code.about();
        write!(page, "\n## {}\n\n**{title}.** {explanation}\n\n*What to do:* {cure}\n", code.name())
            .expect("text takes any text");
    }
    page
}
