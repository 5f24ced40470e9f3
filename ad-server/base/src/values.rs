//! Types of settings that are written as text, with the same syntax in flags, environment and file.

use std::{fmt, net::IpAddr, num::NonZeroU32, str::FromStr, time::Duration};

use ipnet::IpNet;
use jiff::{SpanRelativeTo, Unit};
use url::Url;

/// Implements `Deserialize` by `FromStr` for a type that is a text in a file, and defines the error of both.
#[macro_export]
macro_rules! text_value {
    ($($type:ident: $error:ident = $expected:literal;)+) => {$(
        /// The text is not of this type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
        #[error($expected)]
        pub struct $error;

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub use text_value;

text_value! {
    Period: InvalidPeriod = "expected a duration such as 90d, 12h, 30m or 60s, at most 36500d";
    RetentionTime: InvalidRetentionTime = "expected a duration such as 730d or 12h, at most 36500d, or forever";
    PublicUrl: InvalidPublicUrl = "expected an http(s) address such as https://ads.example.com, without query and fragment";
    OtlpEndpoint: InvalidEndpoint = "expected an http(s) address such as http://127.0.0.1:4318, without /v1/traces and without credentials; set credentials in OTEL_EXPORTER_OTLP_HEADERS";
    Origin: InvalidOrigin = "expected an origin such as https://shop.example.com, without path";
    Rate: InvalidRate = "expected a number of requests per s, m or h, such as 600/m or 20/s burst 100";
    AddressRange: InvalidAddressRange = "expected an IP address or a network such as 127.0.0.1, 10.0.0.0/8 or fd00::/8";
    ByteSize: InvalidByteSize = "expected an amount of memory such as 512KiB, 64MiB or 2GiB";
}

/// Longest [`Period`], so that every end of one can be written as a date.
const LONGEST: Duration = Duration::from_hours(36_500 * 24);

/// A length of time: `90d`, `12h`, `1h 30m`, up to 36,500 days. A day has 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(Duration);

impl Period {
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromStr for Period {
    type Err = InvalidPeriod;

    fn from_str(text: &str) -> Result<Self, InvalidPeriod> {
        let span: jiff::Span = text.parse().map_err(|_| InvalidPeriod)?;
        let whole = span.total((Unit::Second, SpanRelativeTo::days_are_24_hours())).map_err(|_| InvalidPeriod)?;
        let duration = Duration::try_from_secs_f64(whole).map_err(|_| InvalidPeriod)?;
        if duration.is_zero() || duration > LONGEST { Err(InvalidPeriod) } else { Ok(Self(duration)) }
    }
}

/// How long something is kept: a [`Period`], or `forever`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionTime(Option<Duration>);

impl RetentionTime {
    /// `None`: for ever.
    pub const fn duration(self) -> Option<Duration> {
        self.0
    }
}

impl FromStr for RetentionTime {
    type Err = InvalidRetentionTime;

    fn from_str(text: &str) -> Result<Self, InvalidRetentionTime> {
        match text {
            "forever" => Ok(Self(None)),
            _ => text.parse().map(|period: Period| Self(Some(period.0))).map_err(|_| InvalidRetentionTime),
        }
    }
}

/// The address under which clients reach the service, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq, derive_more::Display)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// The address; append a path that begins with a slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PublicUrl {
    type Err = InvalidPublicUrl;

    fn from_str(text: &str) -> Result<Self, InvalidPublicUrl> {
        let url = Url::parse(text).map_err(|_| InvalidPublicUrl)?;
        let plain = url.query().is_none() && url.fragment().is_none() && url.password().is_none();
        if plain && matches!(url.scheme(), "http" | "https") && url.username().is_empty() {
            Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
        } else {
            Err(InvalidPublicUrl)
        }
    }
}

/// The origin of web pages: scheme, host and port, as browsers send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// As in the header `Origin`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Origin {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Self, InvalidOrigin> {
        let url: PublicUrl = text.parse().map_err(|_| InvalidOrigin)?;
        let url = Url::parse(url.as_str()).map_err(|_| InvalidOrigin)?;
        if url.path() == "/" { Ok(Self(url.origin().ascii_serialization())) } else { Err(InvalidOrigin) }
    }
}

/// A collector of traces that speaks OTLP over HTTP, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpEndpoint(PublicUrl);

impl OtlpEndpoint {
    /// Address to which spans are sent.
    pub fn traces(&self) -> String {
        format!("{}/v1/traces", self.0)
    }
}

impl FromStr for OtlpEndpoint {
    type Err = InvalidEndpoint;

    fn from_str(text: &str) -> Result<Self, InvalidEndpoint> {
        let url: PublicUrl = text.parse().map_err(|_| InvalidEndpoint)?;
        if url.as_str().ends_with("/v1/traces") { Err(InvalidEndpoint) } else { Ok(Self(url)) }
    }
}

/// A number of requests per second, minute or hour, and a burst: `600/m`, `20/s burst 100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Number of requests per [`per`](Self::per).
    pub requests: NonZeroU32,
    pub per: Duration,
    /// The burst; by default as many as in the whole time.
    pub burst: NonZeroU32,
}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let number = |text: &str| text.trim().parse::<NonZeroU32>().map_err(|_| InvalidRate);
        let (requests, rest) = text.split_once('/').ok_or(InvalidRate)?;
        let (unit, burst) = match rest.split_once("burst") {
            Some((unit, burst)) => (unit, Some(number(burst)?)),
            None => (rest, None),
        };
        let per = match unit.trim() {
            "s" => Duration::from_secs(1),
            "m" => Duration::from_mins(1),
            "h" => Duration::from_hours(1),
            _ => return Err(InvalidRate),
        };
        let requests = number(requests)?;
        Ok(Self { requests, per, burst: burst.unwrap_or(requests) })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.per.as_secs() {
            1 => "s",
            60 => "m",
            _ => "h",
        };
        write!(formatter, "{}/{unit}", self.requests)?;
        if self.burst == self.requests { Ok(()) } else { write!(formatter, " burst {}", self.burst) }
    }
}

/// IP addresses: one, or a network in CIDR notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange(IpNet);

impl AddressRange {
    pub const fn network(self) -> IpNet {
        self.0
    }
}

impl FromStr for AddressRange {
    type Err = InvalidAddressRange;

    fn from_str(text: &str) -> Result<Self, InvalidAddressRange> {
        let one = || text.parse::<IpAddr>().map(IpNet::from);
        text.parse().or_else(|_| one()).map(Self).map_err(|_| InvalidAddressRange)
    }
}

/// An amount of memory in whole units: `512KiB`, `64MiB`, `2GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(usize);

impl ByteSize {
    pub const fn bytes(self) -> usize {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = InvalidByteSize;

    fn from_str(text: &str) -> Result<Self, InvalidByteSize> {
        let (number, unit) = text.split_at(text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len()));
        let unit = match unit.trim() {
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(InvalidByteSize),
        };
        let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
        bytes.filter(|bytes| *bytes > 0).map(Self).ok_or(InvalidByteSize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_kept_for_a_time_or_for_ever() {
        let read = |text: &str| text.parse().map(RetentionTime::duration);
        assert_eq!((read("forever"), read("1d")), (Ok(None), Ok(Some(Duration::from_hours(24)))));
        for text in ["", "0s", "never", "Forever", "2y", "-1d"] {
            assert_eq!(read(text), Err(InvalidRetentionTime), "{text}");
        }
    }

    #[test]
    fn periods_are_read_as_people_write_them() {
        let hour = 3600;
        let table = [
            ("90d", 90 * 24 * hour),
            ("12h", 12 * hour),
            ("30m", 1800),
            ("60s", 60),
            ("1h 30m", 5400),
            ("2w", 1_209_600),
        ];
        for (text, seconds) in table {
            assert_eq!(text.parse::<Period>().map(Period::duration), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "90", "0s", "-5m", "soon", "1 month", "2y", "1h ago", "36501d", "99999999999999d"] {
            assert_eq!(text.parse::<Period>(), Err(InvalidPeriod), "{text}");
        }
    }

    #[test]
    fn public_urls_take_a_path() {
        for (text, expected) in [
            ("https://ads.example.com", "https://ads.example.com"),
            ("https://ads.example.com/", "https://ads.example.com"),
            ("http://127.0.0.1:8080/import//", "http://127.0.0.1:8080/import"),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().as_str(), expected);
        }
        for text in ["", "ads.example.com", "ftp://x", "https://x/?a=1", "https://x/#a", "https://u:p@x", "https://u@x"]
        {
            assert_eq!(text.parse::<PublicUrl>(), Err(InvalidPublicUrl), "{text}");
        }
    }

    #[test]
    fn origins_are_written_as_browsers_send_them() {
        for (text, expected) in [
            ("https://shop.example.com", "https://shop.example.com"),
            ("HTTPS://Shop.example.com:443/", "https://shop.example.com"),
            ("http://localhost:5173", "http://localhost:5173"),
        ] {
            assert_eq!(text.parse::<Origin>().unwrap().as_str(), expected);
        }
        for text in ["", "*", "null", "shop.example.com", "https://shop.example.com/ads", "file:///x"] {
            assert_eq!(text.parse::<Origin>(), Err(InvalidOrigin), "{text}");
        }
    }

    #[test]
    fn collectors_are_named_by_their_base() {
        for text in ["http://collector:4318", "http://collector:4318/"] {
            assert_eq!(text.parse::<OtlpEndpoint>().unwrap().traces(), "http://collector:4318/v1/traces");
        }
        for text in ["collector:4318", "http://collector:4318/v1/traces", "https://user:secret@collector"] {
            assert_eq!(text.parse::<OtlpEndpoint>(), Err(InvalidEndpoint), "{text}");
        }
    }

    #[test]
    fn ranges_are_addresses_and_networks() {
        for (text, expected) in
            [("10.0.0.0/8", "10.0.0.0/8"), ("127.0.0.1", "127.0.0.1/32"), ("::1", "::1/128"), ("fd00::/8", "fd00::/8")]
        {
            assert_eq!(text.parse::<AddressRange>().unwrap().network().to_string(), expected);
        }
        for text in ["", "10.0.0", "10.0.0.0/33", "proxy.example", "127.0.0.1:80"] {
            assert_eq!(text.parse::<AddressRange>(), Err(InvalidAddressRange), "{text}");
        }
    }

    #[test]
    fn sizes_have_a_unit() {
        for (text, bytes) in [("512KiB", 512 << 10), ("64MiB", 64 << 20), ("2 GiB", 2 << 30)] {
            assert_eq!(text.parse::<ByteSize>().map(ByteSize::bytes), Ok(bytes), "{text}");
        }
        for text in ["", "64", "MiB", "0MiB", "-1MiB", "1.5GiB", "64MB", "99999999999999999999GiB"] {
            assert_eq!(text.parse::<ByteSize>(), Err(InvalidByteSize), "{text}");
        }
    }

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, requests, seconds, burst) in
            [("600/m", 600, 60, 600), ("20/s burst 100", 20, 1, 100), (" 5 / h ", 5, 3600, 5), ("1/sburst2", 1, 1, 2)]
        {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(
                (rate.requests.get(), rate.per.as_secs(), rate.burst.get()),
                (requests, seconds, burst),
                "{text}"
            );
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        for text in ["", "600", "0/s", "-1/s", "5/d", "5/s burst", "5/s burst 0", "1.5/s", "5/s 3"] {
            assert_eq!(text.parse::<Rate>(), Err(InvalidRate), "{text}");
        }
    }
}
