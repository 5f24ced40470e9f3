//! The styles of a document.

use quick_xml::events::{BytesStart, Event};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::{
    parser::{Kept, Malformed, Parser, add_text, attribute, count},
    value::{LONGEST_CODE, NumberFormat, Piece},
};

/// What styles say: which sheets are hidden, and how numbers are shown.
#[derive(Debug, Default)]
pub(super) struct Styles {
    pub(super) hidden: FxHashSet<String>,
    /// The formats of numbers, by their names.
    numbers: FxHashMap<String, NumberFormat>,
    /// The format of numbers of each style of cells.
    pub(super) cells: FxHashMap<String, NumberFormat>,
    pub(super) kept: Kept,
}

impl Styles {
    /// Reads the styles of a document, and shows the sheets in it.
    pub(super) fn read(
        &mut self,
        mut parser: Parser<'_>,
        mut sheet: impl FnMut(&BytesStart<'_>, &mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let (mut style, mut format): (String, Option<(String, Vec<Piece>, bool)>) = (String::new(), None);
        let (mut depth, mut text, mut is_text) = (0_u32, String::new(), false);
        loop {
            let event = parser.next()?;
            let is_start = matches!(event, Event::Start(_));
            match &event {
                Event::Start(start) | Event::Empty(start) => match start.name().as_ref() {
                    b"table:table" => {
                        // A table within a cell is none of its own.
                        if depth == 0 {
                            sheet(start, self)?;
                        }
                        depth += u32::from(is_start);
                    }
                    b"style:style" => {
                        style = attribute(start, "style:name").unwrap_or_default().into_owned();
                        self.kept.add(style.len())?;
                        if attribute(start, "style:family").is_some_and(|family| family == "table-cell") {
                            let of = attribute(start, "style:data-style-name")
                                .and_then(|name| self.numbers.get(&*name).cloned());
                            let of =
                                of.or_else(|| self.cells.get(&*attribute(start, "style:parent-style-name")?).cloned());
                            self.cells.extend(of.map(|format| (style.clone(), format)));
                        }
                    }
                    b"style:table-properties"
                        if attribute(start, "table:display").is_some_and(|display| display == "false") =>
                    {
                        self.hidden.insert(style.clone());
                    }
                    b"number:number-style" => {
                        let name = attribute(start, "style:name").unwrap_or_default().into_owned();
                        format = is_start.then_some((name, Vec::new(), true));
                    }
                    b"number:number" => {
                        if let Some((_, pieces, is_whole)) = &mut format {
                            *is_whole &= count(start, "number:decimal-places").unwrap_or_default() == 0
                                && attribute(start, "number:grouping").is_none_or(|grouping| grouping != "true");
                            let digits = count(start, "number:min-integer-digits").unwrap_or_default().min(20);
                            pieces.extend((0..digits).map(|_| Piece::Digit));
                            pieces.truncate(LONGEST_CODE);
                        }
                    }
                    b"number:text" => (is_text, text) = (is_start, String::new()),
                    b"number:embedded-text" => {
                        // It stands before as many digits.
                        let position = count(start, "number:position").unwrap_or_default() as usize;
                        (is_text, text) = (is_start, format!("{position}:"));
                    }
                    b"number:scientific-number" | b"number:fraction" => {
                        if let Some((_, _, is_whole)) = &mut format {
                            *is_whole = false;
                        }
                    }
                    _ => {}
                },
                Event::End(end) => match end.name().as_ref() {
                    b"table:table" => depth = depth.saturating_sub(1),
                    b"number:text" if is_text => {
                        is_text = false;
                        if let Some((_, pieces, _)) = &mut format {
                            pieces.extend(text.chars().map(Piece::Sign));
                            pieces.truncate(LONGEST_CODE);
                        }
                    }
                    b"number:embedded-text" if is_text => {
                        is_text = false;
                        if let (Some((_, pieces, _)), Some((position, text))) = (&mut format, text.split_once(':')) {
                            embed(pieces, position.parse().unwrap_or_default(), text);
                        }
                    }
                    b"number:number" if is_text => {}
                    b"number:number-style" => {
                        if let Some((name, pieces, is_whole)) = format.take() {
                            let digits = pieces.iter().filter(|piece| **piece == Piece::Digit).count();
                            let of = if is_whole && digits > 1 {
                                NumberFormat::Zeros(pieces.into())
                            } else {
                                NumberFormat::Plain
                            };
                            self.kept.add(name.len())?;
                            self.numbers.insert(name, of);
                        }
                    }
                    _ => {}
                },
                Event::Eof => return Ok(()),
                _ if is_text => add_text(&mut text, &event)?,
                _ => {}
            }
        }
    }
}

/// Puts a text before the last `position` digits.
fn embed(pieces: &mut Vec<Piece>, position: usize, text: &str) {
    let (mut at, mut digits) = (pieces.len(), 0);
    while at > 0 && digits < position {
        at -= 1;
        digits += usize::from(pieces[at] == Piece::Digit);
    }
    pieces.splice(at..at, text.chars().map(Piece::Sign));
    pieces.truncate(LONGEST_CODE);
}
