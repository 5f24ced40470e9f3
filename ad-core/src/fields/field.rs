//! The rows of a table.

use crate::model::ApiVersion;

/// The release that added a field (tags of the category fields document).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Since {
    /// Untagged: in both API versions.
    V3,
    /// Tagged `(V4)`: only in V4.
    V4,
    /// Tagged `(V4.3)`: only in V4, since 4.3.
    V43,
    /// Tagged `(V4.4)`: only in V4, since 4.4.
    V44,
}

impl Since {
    /// Whether a client of this API version may send the field: V3 refuses every tagged one (decision 3).
    pub fn allows(self, version: ApiVersion) -> bool {
        self == Self::V3 || version == ApiVersion::V4
    }

    /// The tag as the documents write it; nothing for untagged fields.
    pub fn tag(self) -> Option<&'static str> {
        match self {
            Self::V3 => None,
            Self::V4 => Some("V4"),
            Self::V43 => Some("V4.3"),
            Self::V44 => Some("V4.4"),
        }
    }
}

/// Who sends a field (column 'Direction' of the ad table).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Sent by the client and returned by the service.
    Both,
    /// Sent by the client only.
    Request,
    /// Returned by the service only; known and ignored in a write (decision 3).
    Response,
}

/// One allowed value of a fixed list of the documents: the id on the wire and the name to display.
pub type ChoiceValue = (&'static str, &'static str);

/// The kind of value of a field. [`Display`](std::fmt::Display) describes it in words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Text of `min` to `max` characters.
    Text {
        /// Fewest characters, inclusive.
        min: usize,
        /// Most characters, inclusive.
        max: usize,
        /// A character that it may not hold.
        without: Option<char>,
    },
    /// A whole number within inclusive bounds.
    Integer {
        /// Least value, inclusive.
        min: i64,
        /// Greatest value, inclusive.
        max: i64,
        /// Whether a numeric string is accepted and stored as a number (decision 5).
        numeric_text: bool,
    },
    /// A number within inclusive bounds.
    Decimal {
        /// Least value, inclusive.
        min: f64,
        /// Greatest value, inclusive.
        max: f64,
        /// Most digits behind the decimal point, where the contract limits them.
        decimals: Option<u8>,
        /// Whether a numeric string is accepted and stored as a number (decision 5).
        numeric_text: bool,
    },
    /// JSON `true` or `false`.
    Boolean,
    /// A calendar date of the form `YYYY-MM-DD`.
    Date,
    /// An absolute address with one of these schemes.
    Url {
        /// Allowed schemes, such as `https`.
        schemes: &'static [&'static str],
    },
    /// The https address of an image; http too where the operator permits it for development.
    ImageAddress,
    /// A licence plate: stored in upper case without spaces (decision 18).
    Plate {
        /// Most characters, spaces not counted.
        max: usize,
    },
    /// A bare e-mail address, such as `anna@example.se`.
    Email {
        /// Whether an empty text is accepted too and unsets the field.
        or_empty: bool,
    },
    /// Digits only, in a number of characters, with an optional leading `+` where `plus` allows it.
    Digits {
        /// Allowed lengths, the `+` counted.
        lengths: &'static [usize],
        /// Whether a leading `+` is allowed.
        plus: bool,
    },
    /// An ISO 4217 currency code.
    Currency,
    /// One of a fixed list of the documents.
    Choice {
        /// The values, in the order of the documents.
        values: &'static [ChoiceValue],
        /// Whether any case matches; stored in the documents' spelling (decision 5).
        any_case: bool,
    },
    /// A value of a catalogue list, such as `car.brand`.
    Slug {
        /// Name of the list in the [`Catalogue`](crate::catalogue::Catalogue).
        list: &'static str,
    },
    /// A model of the ad's brand in the catalogue. A rule over several fields checks it.
    Model {
        /// Name of the list of models by brand.
        list: &'static str,
    },
    /// An object `{unit, value}` with a value of at least `min`.
    Measure {
        /// Allowed units in the documents' spelling; any case matches.
        units: &'static [&'static str],
        /// Least value, inclusive, in any of the units.
        min: f64,
    },
    /// An array of at most `max` values of one kind.
    List {
        /// The kind of each item.
        item: &'static Kind,
        /// Most items, inclusive.
        max: usize,
        /// Whether equal items are refused.
        unique: bool,
    },
    /// An array of at most `max` objects, each described by its own rows.
    Objects {
        /// The rows of each object.
        fields: &'static [Field],
        /// Most objects, inclusive.
        max: usize,
        /// Member that may not repeat.
        unique_by: &'static str,
    },
    /// An object that is described by its own rows and that an update replaces whole instead of merging it.
    Object {
        /// The rows of the object.
        fields: &'static [Field],
    },
    /// An object checked against the category's own table (`category_fields`).
    CategoryFields,
}

/// One row of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Dotted path within the object that the table describes.
    pub path: &'static str,
    /// The kind of value that it takes.
    pub kind: Kind,
    /// The release that added it.
    pub since: Since,
    /// Whether it is required in the object that contains it.
    pub required: bool,
    /// Whether `null` clears it on update.
    pub nullable: bool,
    /// Whether the client or the service sends it.
    pub direction: Direction,
    /// The value that is stored if the field is absent.
    pub default: Option<&'static str>,
    /// Description for the field reference and the OpenAPI document.
    pub doc: &'static str,
}

impl Field {
    /// A row without tag, optional and nullable.
    pub const fn new(path: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            path,
            kind,
            since: Since::V3,
            required: false,
            nullable: true,
            direction: Direction::Both,
            default: None,
            doc,
        }
    }

    /// Required, and so not nullable.
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, nullable: false, ..self }
    }

    /// The same row, added by this release.
    #[must_use]
    pub const fn since(self, since: Since) -> Self {
        Self { since, ..self }
    }

    /// Whether it is required or has a default.
    pub(super) fn is_expected(&self) -> bool {
        self.required || self.default.is_some()
    }

    /// Never returned by the service.
    #[must_use]
    pub const fn request_only(self) -> Self {
        Self { direction: Direction::Request, ..self }
    }

    /// Only returned by the service.
    #[must_use]
    pub const fn response_only(self) -> Self {
        Self { direction: Direction::Response, ..self }
    }

    /// Stored with this value if absent.
    #[must_use]
    pub const fn default(self, value: &'static str) -> Self {
        Self { default: Some(value), ..self }
    }
}

/// Maximum length of a text in characters, where the contract has no limit.
pub const MOST_CHARACTERS: usize = 10_000;
/// Maximum of an integer where the contract has no limit.
pub const GREATEST_COUNT: i64 = 1_000_000_000;
/// Maximum value of a measure, for which the contract has no limit.
pub const MOST_MEASURED: f64 = 1e12;

/// Weight units, in the documents' spelling.
pub const WEIGHT: &[&str] = &["g", "kg", "t"];
/// Length units, in the documents' spelling.
pub const LENGTH: &[&str] = &["mm", "cm", "m"];
/// Volume units, in the documents' spelling.
pub const VOLUME: &[&str] = &["m3", "l"];
/// Units of engine power, in the documents' spelling.
pub const POWER: &[&str] = &["hp", "kw"];
/// Units of engine displacement, in the documents' spelling.
pub const DISPLACEMENT: &[&str] = &["cc", "l"];
/// Units of mileage, in the documents' spelling; `mil` is the Swedish one of 10 km.
pub const MILEAGE: &[&str] = &["km", "mil"];

/// The unit in which people usually state a value: kilograms, although the documents begin with grams.
pub fn usual_unit<'u>(units: &[&'u str]) -> Option<&'u str> {
    if units == WEIGHT {
        Some("kg")
    } else if units == VOLUME {
        Some("l")
    } else {
        units.first().copied()
    }
}
