//! Reads the weighted lists of `Accept` and `Accept-Encoding` (RFC 9110, 12.4 and 12.5).

use poem::http::{HeaderMap, HeaderName};

/// The items of a header, each with its weight in thousandths. One whose weight cannot be read has none.
pub(super) fn weighted(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = (&str, u16)> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
        (name, weight.map_or(1000, thousandths))
    })
}

fn thousandths(weight: &str) -> u16 {
    let weight = weight.parse::<f32>().unwrap_or(0.0).clamp(0.0, 1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    let thousandths = (weight * 1000.0).round() as u16;
    thousandths
}
