//! Workbooks of Excel (.xlsx): the parts that name its sheets, texts and formats, and the cells of a sheet.

mod sheet;

use std::borrow::Cow;

use quick_xml::events::Event;
use rustc_hash::FxHashMap;
use sheet::{Sheet, Values};

use super::{
    Book, SheetName,
    cells::{Cells, Stopped},
    package::Package,
    parser::{Kept, Malformed, Parser, attribute, count, is_set},
    strings::Strings,
    value::NumberFormat,
};
use crate::readers::{ReadError, source::Workbook};

pub(super) struct Xlsx {
    package: Package,
    sheets: Vec<SheetName>,
    /// The part of each sheet.
    parts: Vec<String>,
    strings: Strings,
    /// The formats of numbers by the style of a cell.
    formats: Vec<NumberFormat>,
    is_1904: bool,
    /// Whether all formulas are computed when the workbook is opened, so that a value of zero may mean none.
    is_computed_later: bool,
}

impl Xlsx {
    /// Reads all but the sheets.
    pub(super) fn open(workbook: Workbook) -> Result<Self, ReadError> {
        let mut package = Package::open(workbook)?;
        let of_all = package.read("_rels/.rels", |parser| relations(parser, ""))?.unwrap_or_default();
        let main = of_all.into_values().find(|relation| relation.of.ends_with("/officeDocument"));
        let main = main.map_or_else(|| "xl/workbook.xml".to_owned(), |relation| relation.target);
        let (folder, file) = main.rsplit_once('/').unwrap_or(("", &main));
        let path = format!("{folder}/_rels/{file}.rels");
        let relations =
            package.read(path.trim_start_matches('/'), |parser| relations(parser, folder))?.unwrap_or_default();
        let Some((sheets, parts, is_1904, is_computed_later)) =
            package.read(&main, |parser| book_of(parser, &relations))?
        else {
            return Err(package.unreadable(&format!("it has no part {main}")));
        };
        let path = |what: &str| {
            let relation = relations.values().find(|relation| relation.of.ends_with(what));
            relation.map_or("", |relation| relation.target.as_str())
        };
        let formats = package.read(path("/styles"), formats)?.unwrap_or_default();
        let strings = package.read(path("/sharedStrings"), Strings::read)?.unwrap_or_default();
        Ok(Self { package, sheets, parts, strings, formats, is_1904, is_computed_later })
    }
}

/// What a part is related to.
struct Relation {
    /// The kind of relation, an address.
    of: String,
    /// The path of the other part.
    target: String,
}

/// The relations of a part in a folder, by their ids.
fn relations(mut parser: Parser<'_>, folder: &str) -> Result<FxHashMap<String, Relation>, Malformed> {
    let (mut found, mut kept) = (FxHashMap::default(), Kept::default());
    loop {
        match parser.next()? {
            Event::Start(start) | Event::Empty(start) if start.local_name().as_ref() == b"Relationship" => {
                let text = |name: &str| attribute(&start, name).map(Cow::into_owned).unwrap_or_default();
                let target = text("Target").replace('\\', "/");
                let target = match target.strip_prefix('/') {
                    Some(absolute) => absolute.to_owned(),
                    None => resolved(folder, &target),
                };
                let (id, of) = (text("Id"), text("Type"));
                kept.add(id.len() + of.len() + target.len())?;
                found.insert(id, Relation { of, target });
            }
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}

/// A path that is relative to a folder.
fn resolved(folder: &str, path: &str) -> String {
    let mut names: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "." => {}
            ".." => _ = names.pop(),
            name => names.push(name),
        }
    }
    names.join("/")
}

type Main = (Vec<SheetName>, Vec<String>, bool, bool);

/// Reads the part that names the sheets.
fn book_of(mut parser: Parser<'_>, relations: &FxHashMap<String, Relation>) -> Result<Main, Malformed> {
    let (mut sheets, mut parts, mut is_1904, mut is_computed_later) = (Vec::new(), Vec::new(), false, false);
    let mut kept = Kept::default();
    loop {
        match parser.next()? {
            Event::Start(start) | Event::Empty(start) => match start.local_name().as_ref() {
                b"sheet" => {
                    let relation = start.attributes().with_checks(false).flatten().find_map(|it| {
                        let is_id = it.key.local_name().as_ref() == b"id" && it.key.prefix().is_some();
                        is_id.then(|| relations.get(&*String::from_utf8_lossy(&it.value))).flatten()
                    });
                    // Charts are sheets, too.
                    if let Some(relation) = relation.filter(|relation| relation.of.ends_with("/worksheet")) {
                        let name = attribute(&start, "name").unwrap_or_default().into_owned();
                        let is_hidden = attribute(&start, "state").is_some_and(|state| state != "visible");
                        kept.add(name.len() + relation.target.len())?;
                        sheets.push(SheetName { name, is_hidden });
                        parts.push(relation.target.clone());
                    }
                }
                b"workbookPr" => is_1904 = is_set(&start, "date1904"),
                b"calcPr" => is_computed_later = is_set(&start, "fullCalcOnLoad"),
                _ => {}
            },
            Event::Eof => return Ok((sheets, parts, is_1904, is_computed_later)),
            _ => {}
        }
    }
}

/// Reads the formats of numbers, by the style of a cell.
fn formats(mut parser: Parser<'_>) -> Result<Vec<NumberFormat>, Malformed> {
    let (mut codes, mut styles, mut is_of_cells) = (FxHashMap::<u32, NumberFormat>::default(), Vec::new(), false);
    let mut kept = Kept::default();
    loop {
        match parser.next()? {
            Event::Start(start) | Event::Empty(start) => match start.local_name().as_ref() {
                b"numFmt" => {
                    if let (Some(id), Some(code)) = (count(&start, "numFmtId"), attribute(&start, "formatCode")) {
                        kept.add(code.len())?;
                        codes.insert(id, NumberFormat::of_code(&code));
                    }
                }
                b"cellXfs" => is_of_cells = true,
                b"xf" if is_of_cells => {
                    let id = count(&start, "numFmtId").unwrap_or_default();
                    kept.add(0)?;
                    styles.push(codes.get(&id).cloned().unwrap_or_else(|| NumberFormat::of_id(id)));
                }
                _ => {}
            },
            Event::End(end) if end.local_name().as_ref() == b"cellXfs" => is_of_cells = false,
            Event::Eof => return Ok(styles),
            _ => {}
        }
    }
}

impl Book for Xlsx {
    fn sheets(&self) -> &[SheetName] {
        &self.sheets
    }

    fn read(&mut self, index: usize, out: &mut dyn Cells) -> Result<(), Stopped> {
        let Self { package, parts, strings, formats, is_1904, is_computed_later, .. } = self;
        let part = package.needed(&parts[index]).map_err(Stopped::Failed)?;
        let mut values = Values { strings, formats, is_1904: *is_1904, is_computed_later: *is_computed_later };
        Sheet::default().read(Parser::new(part), &mut values, out)
    }
}

/// A text whose characters may be written as `_x000D_`.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains("_x") {
        return text.into();
    }
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let code = rest.strip_prefix("_x").and_then(|code| Some((code.get(..4)?, code.get(4..)?.strip_prefix('_')?)));
        let unit = code.and_then(|(code, behind)| Some((u16::from_str_radix(code, 16).ok()?, behind)));
        if let Some((unit, behind)) = unit {
            units.push(unit);
            rest = behind;
        } else {
            units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
            rest = &rest[letter.len_utf8()..];
        }
    }
    String::from_utf16_lossy(&units).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_cannot_have_are_escaped() {
        assert_eq!(unescaped("a_x000D_\nb_x005F_x0041_"), "a\r\nb_x0041_");
        assert_eq!(unescaped("_xD83D__xDE97_ _xZZZZ_ _x00"), "🚗 _xZZZZ_ _x00");
    }
}
