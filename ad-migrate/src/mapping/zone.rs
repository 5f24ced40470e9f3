//! The time zone of a mapping.

use jiff::tz::TimeZone;
use serde::Deserialize;

/// A time zone, by its name such as `Europe/Stockholm`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Zone(pub(crate) TimeZone);

impl TryFrom<String> for Zone {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let zone = TimeZone::get(&text).map(Self);
        zone.map_err(|_| format!("\"{text}\" is not a time zone; use a name such as \"Europe/Stockholm\""))
    }
}

#[cfg(test)]
mod tests {
    use ad_core::written::date;

    use super::*;

    #[test]
    fn a_time_is_on_the_date_of_its_zone() {
        let zone = Zone::try_from("Europe/Stockholm".to_owned()).unwrap();
        let read = |text, form: Option<&str>| {
            let form = form.map(|form| date::DateFormat::try_from(form.to_owned()).unwrap());
            date::read(text, form.as_ref(), Some(&zone.0)).unwrap().to_string()
        };
        assert_eq!(read("2019-05-03T22:00:00Z", None), "2019-05-04");
        assert_eq!(read("2019-05-04T00:00:00+02:00", None), "2019-05-04");
        assert_eq!(read("2019-05-04", None), "2019-05-04");
        assert_eq!(read("1556920800", Some("unix")), "2019-05-04");
        assert!(Zone::try_from("Stockholm".to_owned()).is_err());
    }
}
