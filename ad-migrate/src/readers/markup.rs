//! Tells spreadsheets and pages that are written as markup from XML.

/// Bytes from the beginning in which the root element is looked for.
const ROOT: usize = 16 * 1024;

/// Markup that has sheets or tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// XML Spreadsheet 2003.
    Excel,
    /// An `OpenDocument` spreadsheet as one XML document.
    OpenDocument,
    /// HTML, or a part of it with a table.
    Page,
}

/// Elements with which a part of a page begins.
const OF_PAGES: &[&str] = &[
    "html", "head", "body", "meta", "title", "style", "link", "div", "center", "font", "table", "tr", "h1", "h2", "h3",
    "p", "b", "br",
];

/// What a text is whose first byte is `<`, if it is no other XML.
pub(super) fn find(text: &[u8]) -> Option<Markup> {
    let head = String::from_utf8_lossy(&text[..text.len().min(ROOT)]);
    let (root, is_html) = root(&head)?;
    let tag = root.split('>').next().unwrap_or(root);
    let name = tag.split(|letter: char| letter.is_whitespace() || letter == '/').next().unwrap_or_default();
    let local = name.rsplit(':').next().unwrap_or(name);
    if local == "Workbook" && tag.contains("urn:schemas-microsoft-com:office:spreadsheet") {
        return Some(Markup::Excel);
    }
    if local == "document" && tag.contains("application/vnd.oasis.opendocument.spreadsheet") {
        return Some(Markup::OpenDocument);
    }
    let lower = name.to_ascii_lowercase();
    if is_html || lower == "html" {
        return Some(Markup::Page);
    }
    let has = |what: &[u8]| {
        let mut places = memchr::memchr_iter(b'<', text);
        places.any(|at| {
            let tag = text.get(at + 1..at + 1 + what.len());
            let behind = text.get(at + 1 + what.len());
            tag.is_some_and(|tag| tag.eq_ignore_ascii_case(what))
                && behind.is_some_and(|byte| b" \t\r\n>".contains(byte))
        })
    };
    let is_part =
        OF_PAGES.contains(&&*lower) && (has(b"table") || lower == "tr") && has(b"tr") && (has(b"td") || has(b"th"));
    is_part.then_some(Markup::Page)
}

/// What follows the first `<` of an element, and whether the document declares that it is HTML.
fn root(text: &str) -> Option<(&str, bool)> {
    let (mut rest, mut is_html) = (text, false);
    loop {
        rest = rest.trim_start().strip_prefix('<')?;
        let end = if rest.starts_with("!--") {
            "-->"
        } else if rest.starts_with('?') {
            "?>"
        } else if rest.starts_with('!') {
            is_html |= rest.get(..13).is_some_and(|start| start.eq_ignore_ascii_case("!doctype html"));
            ">"
        } else {
            return Some((rest, is_html));
        };
        match rest.split_once(end) {
            Some((_, behind)) => rest = behind,
            None => return is_html.then_some((rest, true)),
        }
        if is_html && rest.trim_start().is_empty() {
            return Some(("", true));
        }
    }
}

/// The encoding that a page says it has.
pub(super) fn page_encoding(head: &[u8]) -> Option<String> {
    let head = &head[..head.len().min(ROOT)];
    if !head.trim_ascii_start().starts_with(b"<") {
        return None;
    }
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let meta = text.split("<meta").skip(1).map(|rest| rest.split('>').next().unwrap_or(rest));
    let value = meta
        .filter_map(|meta| meta.split_once("charset="))
        .map(|(_, value)| value.trim_start_matches(['"', '\'', ' ']))
        .next()?;
    let end =
        value.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_:".contains(letter))).unwrap_or(value.len());
    Some(value[..end].to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreadsheets_and_pages_are_told_from_xml() {
        for (text, what) in [
            (
                "<?xml version=\"1.0\"?>\n<?mso-application progid=\"Excel.Sheet\"?><Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\">",
                Some(Markup::Excel),
            ),
            ("<ss:Workbook xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'>", Some(Markup::Excel)),
            (
                "<office:document office:mimetype=\"application/vnd.oasis.opendocument.spreadsheet\">",
                Some(Markup::OpenDocument),
            ),
            ("<!DOCTYPE html><html>", Some(Markup::Page)),
            ("<!doctype html>", Some(Markup::Page)),
            ("<!-- x --><HTML xmlns:o=\"urn:schemas-microsoft-com:office:office\">", Some(Markup::Page)),
            ("<table><tr><td>1</td></tr></table>", Some(Markup::Page)),
            ("<meta charset=utf-8><TABLE border=1><TR><TH>Nr", Some(Markup::Page)),
            ("<TR><TH>Nr</TH></TR>\n<TR><TD>1</TD></TR>", Some(Markup::Page)),
            ("<table><row><td>1</td></row></table>", None),
            ("<lager><table><tr><td>1</td></tr></table></lager>", None),
            ("<Workbook><Sheet/></Workbook>", None),
            ("<document><bil/></document>", None),
        ] {
            assert_eq!(find(text.as_bytes()), what, "{text}");
        }
    }

    #[test]
    fn pages_say_their_encoding() {
        for (text, name) in [
            (
                "<html><meta http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1252\">",
                Some("windows-1252"),
            ),
            ("<META CHARSET='ISO-8859-15'>", Some("iso-8859-15")),
            ("<lager><bil charset='x'/>", None),
            ("charset=utf-8", None),
        ] {
            assert_eq!(page_encoding(text.as_bytes()).as_deref(), name, "{text}");
        }
    }
}
