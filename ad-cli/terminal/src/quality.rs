//! The quality of an ad as people read it.

use ad_core::model::{Level, Quality, Severity};

use super::output::{Styled, Tone, wrapped};

/// The tone of a level.
pub fn tone(level: Level) -> Tone {
    match level {
        Level::Basic => Tone::Bad,
        Level::Good => Tone::Warning,
        Level::Excellent => Tone::Good,
    }
}

/// Score, what would raise it and by how much, and what is probably wrong, in lines of at most this width:
///
/// ```text
/// car-1: 62 of 100 (good)
///   +15 image_urls
///       Show all sides, the interior, the instruments, the wheels, and each
///       damage.
///   warning: category_fields.vin
///       The VIN "YV1UZH5V1M100000I" contains I. VINs do not use I, O and Q; it is
///       probably a digit. Send "YV1UZH5V1M1000001" instead?
/// ```
pub fn write(text: &mut Styled, heading: &str, quality: &Quality, width: usize) {
    write_score(text, heading, quality);
    text.end_line();
    for goal in quality.goals.iter().filter(|goal| !goal.met) {
        let points = quality.points(goal);
        text.push("  ").toned(Tone::Good, &format!("+{points:<2}")).push(" ").push(&goal.field).end_line();
        write_wrapped(text, &goal.how, width);
    }
    for finding in &quality.findings {
        let (tone, severity) = match finding.severity {
            Severity::Warning => (Tone::Warning, "warning:"),
            Severity::Info => (Tone::Faint, "hint:"),
        };
        text.push("  ").toned(tone, severity).push(" ").push(&finding.field).end_line();
        let instead = finding.suggestion.as_ref().map(|it| format!(" Send \"{it}\" instead?")).unwrap_or_default();
        write_wrapped(text, &format!("{}{instead}", finding.text), width);
    }
}

/// `car-1: 62 of 100 (good)`
pub fn write_score(text: &mut Styled, heading: &str, quality: &Quality) {
    text.toned(Tone::Strong, heading).push(&format!(" {} of 100 (", quality.score));
    text.toned(tone(quality.level), quality.level.name()).push(")");
}

/// Writes a text below what it is about, in lines that fit.
fn write_wrapped(text: &mut Styled, long: &str, width: usize) {
    const INDENT: &str = "      ";
    for line in wrapped(long, width.saturating_sub(INDENT.len())) {
        text.push(INDENT).push(&line).end_line();
    }
}
