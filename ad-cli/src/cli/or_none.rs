//! Values that an option can also remove.

use std::str::FromStr;

/// A value, or `none`, which removes it.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct OrNone<T>(pub(in crate::cli) Option<T>);

impl<T: FromStr> FromStr for OrNone<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        if text == "none" { Ok(Self(None)) } else { text.parse().map(|value| Self(Some(value))) }
    }
}
