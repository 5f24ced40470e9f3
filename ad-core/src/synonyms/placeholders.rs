//! Texts that stand for no value: `-`, `N/A`, `saknas`.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;
use serde::Deserialize;

use super::fold::{fold_into, folded};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceholderFile {
    texts: Vec<String>,
}

static BUILTIN: LazyLock<FxHashSet<String>> = LazyLock::new(|| {
    let file: PlaceholderFile = toml::from_str(include_str!("data/placeholders.toml")).expect("a test reads it");
    file.texts.iter().map(|text| folded(text)).collect()
});

/// The longest text that can be one.
const LONGEST: usize = 40;

/// Fewest zeros that are no number but a placeholder.
const ZEROS: usize = 5;

/// The placeholders of a mapping: the built-in ones and its own.
#[derive(Debug, Default)]
pub struct Placeholders {
    own: FxHashSet<String>,
}

impl Placeholders {
    /// The built-in ones and these.
    pub fn with(own: impl Iterator<Item = impl AsRef<str>>) -> Self {
        Self { own: own.map(|text| text.as_ref().trim().to_lowercase()).collect() }
    }

    /// Whether a text, without spaces around it, stands for no value. `scratch` is where it is compared.
    pub fn contain(&self, text: &str, scratch: &mut String) -> bool {
        if text.len() > LONGEST {
            return false;
        }
        if !self.own.is_empty() && self.own.contains(text.to_lowercase().as_str()) {
            return true;
        }
        // Most values are numbers or begin with one.
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            return false;
        }
        fold_into(text, scratch);
        // Signs of prices such as € are no punctuation, but no value either.
        scratch.is_empty() || BUILTIN.contains(scratch.as_str())
    }
}

/// Whether a text is zeros only, as systems fill in for a plate or a VIN that is not known.
pub fn is_zeros(text: &str) -> bool {
    text.len() >= ZEROS && text.bytes().all(|byte| byte == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_no_values() {
        let all = Placeholders::with(["kommer snart", "999999"].iter());
        let mut scratch = String::new();
        for text in ["-", "--", "?", "N/A", "n.a.", "saknas", "OKÄND", "EJ REG", "k.A.", "Kommer snart", "999999"] {
            assert!(all.contain(text, &mut scratch), "{text}");
        }
        for text in ["0", "ABC123", "Nej", "Natt", "-5", "0,00", "Nabo", "No", "x"] {
            assert!(!all.contain(text, &mut scratch), "{text}");
        }
        assert!(!Placeholders::default().contain("999999", &mut scratch));
        assert!(is_zeros("00000000000000000") && !is_zeros("0") && !is_zeros("00000A"));
    }
}
