//! The codes of all errors and warnings (extensions E1). Answers, `docs/errors.md` and the pages below `/docs/errors/` are made
//! from this list.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// The description of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// The code in a few words, without its context.
    pub title: &'static str,
    /// When the service answers with the code.
    pub explanation: &'static str,
    /// What the receiver of the code can do.
    pub cure: &'static str,
}

macro_rules! codes {
    ($($code:ident $name:literal: $title:literal, $explanation:literal, $cure:literal;)+) => {
        /// The kind of an error or warning. A published code keeps its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, derive_more::Display)]
        #[display("{}", self.name())]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $explanation] #[serde(rename = $name)] $code,)+
            /// A code of a newer service, unknown to this library.
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

            /// Title, explanation and cure of the code.
            pub const fn about(self) -> About {
                match self {
                    $(Self::$code => About { title: $title, explanation: $explanation, cure: $cure },)+
                    Self::Unknown => About {
                        title: "Unknown code",
                        explanation: "The service is newer than this library and uses a code that the library does not know.",
                        cure: "Read the error message, and update the library.",
                    },
                }
            }
        }
    };
}

codes! {
    ValidationFailed "validation_failed": "Validation failed",
        "At least one field of the payload or parameter of the query is invalid. The answer lists all of them.",
        "Correct the fields listed in `errors` and send the request again.";
    Required "required": "Field missing",
        "A required field or parameter is missing.",
        "Send the field. `GET /v4/vehicles/{vehicle_type}/attributes` and `docs/categories.md` list the fields of each vehicle type.";
    Null "null": "Null not allowed",
        "The field must have a value and is `null`.",
        "Send a value. On updates, omit the field to keep the stored value.";
    Blank "blank": "Text empty",
        "The text is empty and must have at least one character.",
        "Send a text, or omit the field if it is optional.";
    UnknownField "unknown_field": "Unknown field",
        "This category and API version have no field or parameter of this name.",
        "Check the spelling; the answer suggests similar names. Remove the field if none of them is meant.";
    MisplacedField "misplaced_field": "Field at the wrong level",
        "The ad has a field of this name at another level, for example in `category_fields` or beside it.",
        "Send the field at the path that the error message names.";
    InvalidType "invalid_type": "Wrong JSON type",
        "The value does not have the JSON type of the field, such as a text instead of a number.",
        "Send the JSON type named in the error message.";
    InvalidChoice "invalid_choice": "Value not allowed",
        "The value is not one of the allowed values.",
        "Choose one of the allowed values. `GET /v4/vehicles/{vehicle_type}/{attribute}` lists them.";
    InvalidFormat "invalid_format": "Wrong format",
        "The text or number does not have the required format, such as `YYYY-MM-DD` for a date.",
        "Use the format named in the error message.";
    OutOfRange "out_of_range": "Number out of range",
        "The number is below the minimum or above the maximum.",
        "Send a number within the limits. Check the unit: a mileage may be in `km` or `mil`.";
    TooLong "too_long": "Text too long",
        "The text has more characters than allowed.",
        "Shorten the text.";
    TooShort "too_short": "Text too short",
        "The text has fewer characters than required.",
        "Send the complete text.";
    TooMany "too_many": "Too many items",
        "The list has more items than allowed.",
        "Send fewer items.";
    TooDeep "too_deep": "Nested too deeply",
        "Arrays and objects are nested more deeply than allowed.",
        "Use fewer levels.";
    TooLarge "too_large": "Too large",
        "The body, or the ad to be stored, has more bytes than allowed.",
        "Shorten or clear the largest fields. Send images as URLs, not as data.";
    DuplicateItem "duplicate_item": "Duplicate item",
        "An item occurs twice in a list, or a parameter twice in the query.",
        "Remove the duplicate.";
    Immutable "immutable": "Field cannot change",
        "The field cannot change after the ad was created.",
        "Send the stored value or omit the field. For another vehicle, create another ad.";
    NotAllowed "not_allowed": "Not allowed here",
        "The field or value is not allowed for this category, API version, method or dealer.",
        "Omit it, or follow the advice in the error message.";
    NotSupportedByV3 "not_supported_by_v3": "V4 field",
        "The request was sent to V3, and the field exists in V4 only.",
        "Send the request to V4, or omit the field.";
    Conflict "conflict": "Fields contradict each other",
        "The values of fields that depend on each other are inconsistent. `rule` names the rule.",
        "Correct one of the fields of this rule.";
    DuplicateSourceId "duplicate_source_id": "source_id already used",
        "The dealer has used this `source_id` before, possibly for an ad that was deleted.",
        "Update the ad with PUT or PATCH, or choose another `source_id`.";
    IdempotencyKeyReused "idempotency_key_reused": "Idempotency key used for another request",
        "The `Idempotency-Key` was sent before with another query or body. The request had no effect.",
        "Send a new key with each new request, and the same key only to repeat the same request.";
    AdDeleted "ad_deleted": "Ad is deleted",
        "The ad has been deleted.",
        "An update with PUT or PATCH revives a deleted ad of an unregistered category. For a registered vehicle, create another ad with another `source_id`.";
    AdHidden "ad_hidden": "Ad is hidden",
        "The ad is not visible and therefore cannot be promoted.",
        "Send an update with `visible: true` first.";
    AdNotPublished "ad_not_published": "Ad is not published",
        "The ad is not published on any marketplace of the promotion.",
        "Read the reason in the ad's log, and publish the ad with `retry`.";
    AdAlreadyV4 "ad_already_v4": "Already a V4 ad",
        "A V4 ad needs no migration and cannot be updated through V3.",
        "Update the ad with PUT or PATCH through V4.";
    IncompatibleApiVersion "incompatible_api_version": "Incompatible V3 ad",
        "The ad was created with V3, and its category has no direct counterpart in V4.",
        "Migrate the ad first. `migration_options` in the default body lists the options.";
    TrailerCreateDisabled "trailer_create_disabled": "Trailers cannot be created",
        "Trailers can be read, updated and deleted, but not created.",
        "Choose another category.";
    PolePositionActive "pole_position_active": "Pole position is active",
        "The ad already has pole position.",
        "Repeat the request after it has ended; the error message contains the time.";
    DealerSuspended "dealer_suspended": "Dealer suspended by the operator",
        "An operator of the service has suspended the dealer: its ads are shown and read as before, and can be deleted, but not created or changed.",
        "Ask the operator for the reason. Send the request again when the suspension has ended.";
    PromotionNotPermitted "promotion_not_permitted": "Promotion not permitted",
        "The dealer may not promote ads on the marketplace.",
        "Ask the operator of the service for the permission, or exclude the marketplace.";
    BudgetExceeded "budget_exceeded": "Budget exceeded",
        "The promotion costs more than what is left of the dealer's budget of the month. The message names both amounts.",
        "Wait for the next month, raise the dealer's own limit with `PUT /v4/account/budget`, or ask the operator for a higher budget.";
    AlreadyPromoted "already_promoted": "Already promoted",
        "Another schedule promotes the ad at the same time, or the same promotion of the ad is not finished.",
        "Nothing needs to be done: the ad is promoted once, and costs once. Select the ad in one schedule.";
    TooManyPromotions "too_many_promotions": "Too many schedules",
        "The dealer has the maximum number of promotion schedules.",
        "Delete a schedule with `DELETE /v4/promotions/{id}`, or select more ads in one.";
    QuotaExceeded "quota_exceeded": "Quota exceeded",
        "The dealer has reached the quota of ads, image bytes, unfinished requests, idempotency keys or webhooks that the operator has set.",
        "Delete ads or webhooks, wait until requests are finished, or ask the operator of the service for a higher quota.";
    PreconditionFailed "precondition_failed": "Ad was changed meanwhile",
        "`If-Match` names no tag with the ad's current revision, so the ad has been changed since it was read. The request had no effect.",
        "Read the ad, apply the change to what it shows now, and send the request with the `ETag` of that answer.";
    NotRecorded "not_recorded": "Not recorded",
        "What the ad said at that time or in that revision is not recorded: the ad did not exist then, the service did not record changes yet, or the retention time is over. The message names the earliest time that is recorded.",
        "List the revisions that are recorded with `GET /v4/ad/{source_id}/revisions`.";
    TooManyRequestsOfAd "too_many_requests_of_ad": "Too many unfinished requests of the ad",
        "The ad has the maximum number of unfinished requests.",
        "Wait as many seconds as `Retry-After` says, then repeat the request.";
    TokenMissing "token_missing": "Token missing",
        "The request has no token.",
        "Send the token in the header `X-Auth-Token`.";
    TokenInvalid "token_invalid": "Token invalid",
        "The token is malformed, expired, revoked or signed by an unknown key.",
        "Ask the operator of the service for a new token.";
    PermissionMissing "permission_missing": "Permission missing",
        "The token does not have the permission that the request needs.",
        "Ask the operator of the service for a token with the permission.";
    NotFound "not_found": "Not found",
        "The path does not exist, or the scope of the token contains no such ad.",
        "Check the path, the `source_id` and the token.";
    MethodNotAllowed "method_not_allowed": "Method not allowed",
        "The path does not support this method.",
        "Use one of the methods in the header `Allow`.";
    NotJson "not_json": "Not a JSON object",
        "The body is not a JSON object.",
        "Send a JSON object in UTF-8 with `Content-Type: application/json`.";
    InvalidCursor "invalid_cursor": "Not a cursor of the scope",
        "The text is not a cursor, or one of the events of another dealer or group.",
        "Send a cursor from an answer to a token of the same dealer or group, or `now`, or none.";
    CursorBeyondEnd "cursor_beyond_end": "Cursor beyond the newest event",
        "The database was restored from a backup, or a standby has taken over, and events before the cursor are lost.",
        "Read all events again without a cursor, or send `now`, and compare your data with the ads.";
    UnsupportedContentEncoding "unsupported_content_encoding": "Content coding not supported",
        "The body is in a content coding other than gzip.",
        "Send the body in gzip, or without a `Content-Encoding`.";
    RequestTimeout "request_timeout": "Body not received in time",
        "The body of the request arrived too slowly or not completely.",
        "Send it again over a faster connection.";
    RateLimited "rate_limited": "Too many requests",
        "The dealer has sent more requests per time, or more concurrent requests, than allowed.",
        "Wait as many seconds as `Retry-After` says, then repeat the request.";
    Unavailable "unavailable": "Temporarily unavailable",
        "The service cannot process the request at the moment. The request had no effect.",
        "Wait as many seconds as `Retry-After` says, then repeat the request.";
    BadRequest "bad_request": "Malformed request",
        "The request could not be parsed.",
        "Correct the problem named in the error message.";
    InternalError "internal_error": "Internal error",
        "An error in the service. The operator can find the cause in the log by the request id.",
        "Repeat the request. If it fails again, report the `X-Request-Id` to the operator of the service.";
    WebhookDisabled "webhook_disabled": "Webhook is disabled",
        "Nothing is sent to a webhook that is disabled. `disabled_reason` says why it is.",
        "Correct the receiver, then send PATCH with `enabled: true`.";
    ImageFailed "image_failed": "Image failed",
        "At least one image could not be fetched or is not an image. The log entry names each with its reason.",
        "Make the images available at their addresses and send `retry`, or update `image_urls`.";
    ImageStoreUnavailable "image_store_unavailable": "Image store unavailable",
        "The service could not store images until the last retry. Images stored earlier are kept.",
        "Send `retry` later. If it fails again, tell the operator.";
    HeldByImages "held_by_images": "Not published because an image is missing",
        "An image is missing and the ad has `dont_publish_on_failed_images`, so it was not sent to any marketplace.",
        "Make the images available and send `retry`, or set `dont_publish_on_failed_images` to `false`.";
    SlotsExceeded "slots_exceeded": "Waits for a free slot",
        "The dealer may have a certain number of ads live at once, its slots, and none is free for this ad. The ad waits and is not published.",
        "Hide or delete another ad, or ask the operator for more slots. The service then publishes the ad by itself; ads that have waited longer come first.";
    MarketplaceRefused "marketplace_refused": "Refused by the marketplace",
        "A marketplace does not accept the ad as it is. The log entry names the marketplace and its reason.",
        "Update the ad: correct the problem that the reason names.";
    MarketplaceUnreachable "marketplace_unreachable": "Marketplace unreachable",
        "A marketplace did not answer, or answered with a server error, until the last retry.",
        "Send `retry` later.";
    MarketplaceBusy "marketplace_busy": "Marketplace busy",
        "A marketplace kept answering 429 (too many requests) until the last retry.",
        "Send `retry` later.";
    MarketplaceCredentials "marketplace_credentials": "Marketplace rejects the service's credentials",
        "A marketplace rejected the credentials of the service (401 or 403) until the last retry.",
        "The operator has to correct the credentials. Send `retry` afterwards.";
    MarketplacePaused "marketplace_paused": "Marketplace paused by the operator",
        "An operator of the service has paused calls to the marketplace. Requests wait, and nothing is given up meanwhile.",
        "Wait: the service goes on by itself when the operator ends the pause.";
    NotListed "not_listed": "Not listed",
        "The ad has no listing on the marketplace, so it cannot be promoted there.",
        "Publish the ad with `retry`, and repeat the promotion.";
    GivenUp "given_up": "Stopped by the operator",
        "An operator has stopped the request before it was finished.",
        "Send `retry`, or ask the operator for the reason.";
    EmptyStock "empty_stock": "Stock empty",
        "The body of a stock plan contains no ads. That does not mean an empty stock, so nothing is removed.",
        "Send the ads of the stock. To remove ads, delete them.";
    NoValidAd "no_valid_ad": "No valid ad",
        "None of the ads in the body of a stock plan is valid, so the body is probably not the stock.",
        "Correct the errors that the plan lists, and send the stock again.";
    EmptySelection "empty_selection": "No ad selected",
        "The filters in `select` of a stock plan match no ads, apart from deleted ones, so there is nothing to change.",
        "Correct the filters. `GET /v4/ad` with the same filters lists the ads.";
    IncompleteBody "incomplete_body": "Body incomplete",
        "The body of a stock plan ended before it was complete.",
        "Send the whole stock again.";
    PlanInterrupted "plan_interrupted": "Plan interrupted",
        "The service stopped while it computed the stock plan.",
        "Send the same body again.";
    TooManyPlans "too_many_plans": "Too many unfinished plans",
        "The dealer has the maximum number of stock plans that are computing, ready or applying.",
        "Apply or cancel one of them.";
    PlanNotReady "plan_not_ready": "Plan cannot be applied",
        "The stock plan is still computed, was refused or cancelled, or has expired.",
        "Wait until it is ready, or make another plan.";
    OtherPlanApplying "other_plan_applying": "Another plan is being applied",
        "Another stock plan of the same dealer is being applied.",
        "Wait until that plan has ended, or cancel it.";
    TooManyRemovals "too_many_removals": "Too many removals",
        "The stock plan hides or deletes more ads than the guard allows.",
        "Check the changes of the plan. If they are right, send `allow_removals` with the number of removals.";
    IgnoredField "ignored_field": "Field ignored",
        "Only the service sets this field; the sent value is ignored. This is a warning.",
        "Omit the field.";
    NoImages "no_images": "No images",
        "The ad has no images. This is a warning.",
        "Send `image_urls`.";
    NoPrice "no_price": "No price",
        "The ad has no price. This is a warning.",
        "Send `price`, or a price of type `call`.";
    ReducedWithoutList "reduced_without_list": "Reduced price without a list price",
        "The ad has a price of type `reduced`, but no price of type `list` that it reduces. This is a warning.",
        "Send the regular price too, with type `list`.";
    ReducedNotBelowList "reduced_not_below_list": "Reduced price not below the list price",
        "The price of type `reduced` is not less than the price of type `list`. This is a warning.",
        "Correct one of the two amounts, or remove the reduced price.";
    SourceIdSpaces "source_id_spaces": "Spaces at the ends of source_id",
        "The `source_id` begins or ends with spaces, which are part of it: every path of the ad must have them. This is a warning.",
        "Send it without them, unless they are meant.";
    PriceDropped "price_dropped": "A stored price is removed",
        "`price` is replaced as a whole, and the update has no price of a type that the ad had. This is a warning.",
        "Send all prices of the ad whenever one changes.";
    DuplicateKey "duplicate_key": "Key sent twice",
        "A key occurs twice in the same JSON object; the last value counts. This is a warning.",
        "Send each key once.";
    LeasingDetailsWithoutPrice "leasing_details_without_price": "Leasing details without a leasing price",
        "The ad has leasing details, but no price of type `leasing`. This is a warning.",
        "Send a price of type `leasing`, or remove `leasing_details`.";
    NoLongerCovered "no_longer_covered": "No longer covered by the dealer directory",
        "A stored value is no longer valid because the dealer's salespersons or products have changed. This is a warning.",
        "Send another value, or `null` to remove it.";
    VinLetter "vin_letter": "VIN contains I, O or Q",
        "The VIN contains the letter I, O or Q, which VINs do not use.",
        "Read the VIN again: it is probably the digit 1 or 0.";
    VinFormat "vin_format": "Not the form of a VIN",
        "The VIN does not have 17 letters and digits.",
        "Read the VIN again, for example from the registration certificate.";
    VinCheckDigit "vin_check_digit": "Wrong check digit in the VIN",
        "The VIN is from North America or China, where the ninth character is a check digit, and it does not match.",
        "Read the VIN again; one of its characters is wrong.";
    PlateFormat "plate_format": "Not an ordinary Swedish plate",
        "The registration number does not have the form `ABC123` or `ABC12D`.",
        "Read the plate again. Nothing is wrong if it is a personal or a foreign plate; the finding says which countries have plates of this form.";
    ModelYearInFuture "model_year_in_future": "Model year in the future",
        "The model year is more than one year ahead.",
        "Correct the model year.";
    MileageUnlikely "mileage_unlikely": "Mileage unlikely for the age",
        "The vehicle was driven more per year than is usual for its category, or not at all although it is old.",
        "Check value and unit: a Swedish mil is 10 km. Omit a mileage that is not known; 0 means a new vehicle.";
    NewVehicleDriven "new_vehicle_driven": "New vehicle with a mileage",
        "The vehicle is said to be new and has a mileage of more than 200 km.",
        "Correct the mileage, or `condition.is_new_vehicle`.";
    PriceUnlikely "price_unlikely": "Price outside of what is usual",
        "The price is far below or above what is usual for the category.",
        "Check amount and currency.";
    PriceInOre "price_in_ore": "Price probably in öre",
        "The price is unusually high and ends in two zeros, so it may be in öre.",
        "Send the amount in kronor.";
    TextDamaged "text_damaged": "Text damaged on its way",
        "The text has characters that a wrong conversion leaves behind: UTF-8 that was encoded twice (`Ã¤`), characters that were lost (U+FFFD), HTML entities (`&auml;`), escapes that were not read (`\\n`), or NUL. Buyers see them as they are.",
        "Send the text as it was before: `suggestion` has it as far as it can be known. Read and write texts as UTF-8 everywhere, and encode them once.";
    DateUnlikely "date_unlikely": "Date unlikely",
        "The date is so long ago that a program has probably sent it for a date that is not set.",
        "Leave the field out if the date is not known.";
    ImageUnreachable "image_unreachable": "Image cannot be fetched from this address",
        "The address cannot lead to an image: its host is private or this machine, it has a user name and password or a part behind `#`, it has `&amp;` in the place of `&`, or it is several addresses in one text.",
        "Send the public https address of each image as an item of its own.";
    BodyCapitals "body_capitals": "Description in capital letters",
        "The description is in capital letters throughout.",
        "Write it in ordinary letters, which are easier to read.";
    BodyMarkup "body_markup": "Markup in the description",
        "The description contains HTML tags, which marketplaces show as they are, with hyphens in the place of `<` and `>`.",
        "Send plain text with line breaks.";
    BodyContact "body_contact": "Contact details in the description",
        "The description contains a phone number, an e-mail address or a link.",
        "Remove it; marketplaces show the dealer's contact beside the ad.";
    TitleIncomplete "title_incomplete": "Generated title lacks brand or model",
        "The title is generated from brand, model, trim and model year, and the ad has no brand or no model.",
        "Send brand and model.";
    ElectricIncomplete "electric_incomplete": "Electric vehicle without range or battery",
        "The vehicle runs on electricity alone, and its driving range or battery capacity is missing.",
        "Send `driving_range` and `battery_capacity`.";
    EmissionsMissing "emissions_missing": "New vehicle without consumption or emission",
        "The vehicle is new and has an engine, and its fuel consumption or CO2 emission is missing.",
        "Send `fuel_consumption` and `co2_emission`.";
    FewPhotos "few_photos": "Few photos",
        "The ad has fewer photos than buyers of its category expect.",
        "Send more addresses in `image_urls`.";
    PhotoMissing "photo_missing": "Photo missing",
        "A photo of `image_urls` could not be fetched or stored, so the ad is shown without it.",
        "Make the photo available at its address and send `retry`, or send another address in `image_urls`.";
    PhotoUndecodable "photo_undecodable": "Photo cannot be decoded",
        "A stored photo is damaged, has too many pixels or is of an uncommon kind, so it has no renditions. Buyers may not see it.",
        "Save the photo again as an ordinary JPEG of at most 24 megapixels, and send it at another address.";
    PhotoRepeated "photo_repeated": "The same photo twice",
        "Two photos of the ad look the same, even if their files differ.",
        "Remove one of them from `image_urls`.";
    PhotoSmall "photo_small": "Photo too small",
        "A photo is smaller than 1024 × 768 pixels, so it looks blurred on a large screen.",
        "Send the photo as the camera took it; the service makes smaller versions itself.";
    PhotoUpright "photo_upright": "First photo upright",
        "The first photo is higher than wide. Lists of ads crop it above and below.",
        "Put a photo first that is wider than high.";
    PhotoDark "photo_dark": "Photo dark",
        "A photo is dark throughout.",
        "Take the photo by daylight, or brighten it.";
    PhotoBlurred "photo_blurred": "Photo blurred",
        "No edge in a photo is sharp.",
        "Take the photo again with a steady hand and a clean lens.";
    PhotoInOtherAd "photo_in_other_ad": "Photo in another ad",
        "Another ad of the dealer, which is not deleted, shows a photo that looks the same, even if their files differ.",
        "Check which vehicle the photo shows. Nothing is wrong if it shows the dealer's premises or any vehicle of the model.";
    PlateInOtherAd "plate_in_other_ad": "Registration number in another ad",
        "Another ad of the dealer, which is not deleted, has the same registration number.",
        "Delete the ad that is out of date, or correct the registration number.";
    VinSerial "vin_serial": "VIN does not end in digits",
        "The last four characters of a VIN are digits (ISO 3779), and those of this one are not.",
        "Read the VIN again; one of its last characters is wrong.";
    VinModelYear "vin_model_year": "VIN of another model year",
        "The VIN is from North America or China, where the tenth character tells the model year, and the ad has another one.",
        "Correct the VIN or the model year.";
    ModelYearUnlikely "model_year_unlikely": "Model year unlikely",
        "The model year is earlier than vehicles of the category have been made.",
        "Correct the model year.";
    EngineRuntimeUnlikely "engine_runtime_unlikely": "Working hours beyond the age",
        "The engine is said to have run for longer than the time since the beginning of its model year.",
        "Check value and unit: `hour` or `min`.";
    PowerUnlikely "power_unlikely": "Power outside of what is usual",
        "The power is far below or above what is usual for the category.",
        "Check value and unit: 100 kW are 136 hp.";
    DisplacementUnlikely "displacement_unlikely": "Displacement outside of what is usual",
        "The displacement is far below or above what engines of the category have.",
        "Check value and unit: 1 l are 1000 cc.";
    MileageFraction "mileage_fraction": "Mileage with decimals of a kilometre",
        "The mileage is no whole number of kilometres, so a separator of thousands may have been taken for the decimal separator.",
        "Check the value: `351,500` km are 351500, not 351.5.";
    VinInOtherAd "vin_in_other_ad": "VIN in another ad",
        "Another ad of the dealer, which is not deleted, has the same VIN.",
        "Delete the ad that is out of date, or correct the VIN.";
    RegistryDiffers "registry_differs": "Vehicle register has another value",
        "The register of vehicles that the operator has configured has another value than the ad.",
        "Compare both with the vehicle, and send the right value.";
    RegistryProposes "registry_proposes": "Vehicle register knows more",
        "The register of vehicles that the operator has configured has a value of a field that the ad does not have.",
        "Send the value if it is right.";
    ReducedNotBelowLowest "reduced_not_below_lowest": "Reduced price not below the lowest price before",
        "The price of type `reduced` is not less than the lowest price of the 30 days before the reduction, with which Directive 98/6/EC, Article 6a, compares reductions that are announced.",
        "Read the prices of the ad with `GET /v4/ad/{source_id}/prices`. Lower the price, or send it as the price of type `list`.";
}

/// All codes as a page of Markdown, `docs/errors.md`.
pub fn reference() -> String {
    let mut page = "# Error codes\n\n\
        <!-- Generated from ad-core/src/violation/code.rs. UPDATE_SNAPSHOTS=1 cargo test -p ad-core error_codes -->\n\n\
        A request whose `Accept` prefers `application/problem+json` to JSON gets errors as problem details (RFC 9457) with a\n\
        code. Error messages may change; codes keep their meaning. Some are of warnings and of [findings about quality](quality.md), which reject nothing.\n\
        The service shows this page at `/docs/errors/`.\n"
        .to_owned();
    for code in Code::ALL {
        let About { title, explanation, cure } = code.about();
        write!(page, "\n## {}\n\n**{title}.** {explanation}\n\n*What to do:* {cure}\n", code.name())
            .expect("text takes any text");
    }
    page
}
