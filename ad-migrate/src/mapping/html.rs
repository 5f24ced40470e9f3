//! Converts HTML to plain text: removes tags, inserts line breaks, decodes entities. One pass over the text.

use std::borrow::Cow;

/// Tags that begin a new line.
const BREAKS: &[&str] = &["br", "p", "li", "div", "tr", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "table", "hr"];
/// Elements whose content is not text.
const SILENT: &[&str] = &["script", "style"];

/// The text of a piece of HTML; without tags and entities, the same text.
pub(crate) fn to_text(html: &str) -> Cow<'_, str> {
    if !is_html(html) {
        return Cow::Borrowed(html);
    }
    let stripped = without_tags(html);
    let decoded = htmlize::unescape(stripped);
    Cow::Owned(tidied(&decoded))
}

/// Whether a text may contain a tag or an entity.
fn is_html(text: &str) -> bool {
    let begins = |pair: &[u8]| match pair {
        [b'<', next] => next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'),
        [b'&', next] => next.is_ascii_alphanumeric() || *next == b'#',
        _ => false,
    };
    text.as_bytes().windows(2).any(begins)
}

/// The text without tags, which become line breaks or nothing.
fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some((name, length)) = tag(rest) else {
            // A less-than sign.
            text.push('<');
            rest = &rest[1..];
            continue;
        };
        if is_one_of(name.trim_start_matches('/'), BREAKS) {
            text.push('\n');
        }
        if is_one_of(name, SILENT) {
            let end = end_of(&rest[length..], name);
            rest = &rest[length + end..];
        } else {
            rest = &rest[length..];
        }
    }
    text.push_str(rest);
    text
}

/// The name of the tag at the beginning of a text (with its `/` where it ends an element), and how long it is.
fn tag(text: &str) -> Option<(&str, usize)> {
    if let Some(comment) = text.strip_prefix("<!--") {
        return Some(("!", comment.find("-->").map_or(text.len(), |end| end + 7)));
    }
    let inside = &text[1..];
    let begins = inside.strip_prefix('/').unwrap_or(inside);
    if !begins.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '!' || letter == '?') {
        return None;
    }
    let slash = inside.len() - begins.len();
    let name = begins.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(begins.len());
    // Without an end it is not a tag, so that the rest of the text is kept.
    let end = inside.find(['>', '<'])?;
    (inside.as_bytes()[end] == b'>').then_some((&inside[..slash + name], end + 2))
}

/// The end of the content of a silent element: its closing tag, or the end of the text.
fn end_of(text: &str, name: &str) -> usize {
    let is_end = |at: &usize| text[at + 2..].get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
    text.match_indices("</").map(|(at, _)| at).find(is_end).unwrap_or(text.len())
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Lines without spaces around them, and at most one empty line between two others.
fn tidied(text: &str) -> String {
    let mut tidy = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() {
            empty += 1;
            continue;
        }
        if !tidy.is_empty() {
            tidy.push_str(if empty > 0 { "\n\n" } else { "\n" });
        }
        empty = 0;
        tidy.push_str(line);
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_go_and_their_line_breaks_stay() {
        for (html, text) in [
            ("Svensksåld. <b>Fullservad</b> hos verkstad.", "Svensksåld. Fullservad hos verkstad."),
            ("Rymlig.<br>Drag.<BR/>Värmare.", "Rymlig.\nDrag.\nVärmare."),
            ("<p>Ett.</p><p>Två.</p>", "Ett.\n\nTvå."),
            ("<ul><li>Drag</li>\n<li>Värmare</li></ul>", "Drag\n\nVärmare"),
            ("Nyservad &amp; besiktigad &ndash; 5&nbsp;&euro;", "Nyservad & besiktigad – 5\u{a0}€"),
            ("<!-- inget --><style>p {}</STYLE>Text", "Text"),
            ("<a href=\"x\">länk</a>", "länk"),
        ] {
            assert_eq!(to_text(html), text, "{html}");
        }
    }

    #[test]
    fn what_only_looks_like_html_stays() {
        for text in ["Nyservad & besiktigad", "under < 5 och > 3", "a <b", "x <3 y", "R&D; och & så"] {
            assert_eq!(to_text(text), text);
        }
        assert!(matches!(to_text("plain text"), Cow::Borrowed(_)));
    }

    #[test]
    fn hostile_texts_take_no_longer_than_others() {
        for hostile in ["<".repeat(200_000), "<b".repeat(100_000), "<script>".repeat(50_000), "<!--".repeat(50_000)] {
            assert!(to_text(&hostile).len() <= hostile.len());
        }
    }
}
