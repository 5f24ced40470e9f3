//! Spreadsheets of each format that the test builds, with a hostile number or name at each place where the format has one: what a file
//! declares or repeats is read within bounds, or refused.

use std::io::{Cursor, Write as _};

use zip::{ZipWriter, write::SimpleFileOptions};

use super::cells::MOST_COLUMNS;
use crate::readers::{Reader, Settings, testing::file};

/// Rows that are read of each file; what a file repeats costs the same for each further one.
const ROWS: usize = 3000;

const HOSTILE: &[&str] = &[
    "",
    "0",
    "1",
    "-1",
    "1000",
    "16384",
    "16385",
    "65536",
    "1048576",
    "1048577",
    "2147483648",
    "4294967295",
    "4294967296",
    "99999999999999999999",
    "1e308",
    "NaN",
    "x",
    "A0",
    "A1048577",
    "XFD1",
    "XFE1",
    "ZZZZZZZ1",
    "ZZZZZZZZZZZZZZ9",
    "&#0;",
    "&x;",
];

/// The parts of an .xlsx workbook; hostile values replace what is between `§`.
const XLSX: &[(&str, &str)] = &[
    ("[Content_Types].xml", "<Types/>"),
    ("_rels/.rels", "<r><Relationship Id='m' Type='x/officeDocument' Target='§xl/workbook.xml§'/></r>"),
    (
        "xl/workbook.xml",
        "<w xmlns:r='r'><workbookPr date1904='§0§'/><sheets><sheet name='§a§' state='§visible§' r:id='§s§'/></sheets></w>",
    ),
    (
        "xl/_rels/workbook.xml.rels",
        "<r><Relationship Id='s' Type='x/worksheet' Target='s.xml'/><Relationship Id='t' Type='x/sharedStrings' Target='§t.xml§'/>\
         <Relationship Id='f' Type='x/styles' Target='f.xml'/></r>",
    ),
    ("xl/t.xml", "<sst count='§1§' uniqueCount='§1§'><si><t>id</t></si></sst>"),
    (
        "xl/f.xml",
        "<s><numFmts count='§1§'><numFmt numFmtId='§164§' formatCode='§00000§'/></numFmts><cellXfs><xf/><xf numFmtId='§164§'/></cellXfs></s>",
    ),
    (
        "xl/s.xml",
        "<worksheet><dimension ref='§A1:C3§'/><sheetData><row r='§1§' spans='§1:3§'><c r='§A1§' t='s'><v>§0§</v></c><c r='§B1§' t='inlineStr'><is>\
         <t>b</t></is></c><c t='inlineStr'><is><t>c</t></is></c></row><row r='§2§'><c r='§A2§' s='§1§'><v>§7§</v></c><c t='§n§'><v>§8§</v></c><c>\
         <f>§1+1§</f></c></row></sheetData><mergeCells count='§1§'><mergeCell ref='§A1:C1§'/></mergeCells></worksheet>",
    ),
];

const FODS: &str = "<office:document office:mimetype='application/vnd.oasis.opendocument.spreadsheet'><number:number-style style:name='n'>\
    <number:number number:min-integer-digits='§5§' number:decimal-places='§0§'><number:embedded-text number:position='§2§'> </number:embedded-text>\
    </number:number></number:number-style><style:style style:name='§s§' style:family='table-cell' style:data-style-name='n'/><table:table \
    table:name='§a§'><table:table-column table:number-columns-repeated='§3§' table:default-cell-style-name='§s§'/><table:table-row \
    table:number-rows-repeated='§1§'><table:table-cell table:number-columns-repeated='§3§' office:value-type='string'><text:p>id<text:s \
    text:c='§1§'/></text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated='§2§'><table:table-cell \
    table:number-columns-repeated='§2§' table:number-columns-spanned='§1§' table:number-rows-spanned='§1§' office:value-type='§float§' \
    office:value='§7§'/><table:table-cell office:value-type='date' office:date-value='§2019-05-04§'/></table:table-row></table:table></office:document>";

const XML_2003: &str = "<Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'><Styles><Style ID='§s§' Parent='§s§'><NumberFormat \
    Format='§00000§'/></Style></Styles><Worksheet Name='§a§'><Table ExpandedColumnCount='§3§' ExpandedRowCount='§2§'><Row Index='§1§' \
    Span='§1§'><Cell Index='§1§' MergeAcross='§1§' MergeDown='§1§'><Data Type='String'>id</Data></Cell><Cell><Data Type='String'>b</Data></Cell><Cell>\
    <Data Type='String'>c</Data></Cell></Row><Row><Cell StyleID='§s§'><Data Type='§Number§'>§7§</Data></Cell><Cell Formula='§=1+1§'/></Row></Table>\
    </Worksheet></Workbook>";

const HTML: &str = "<html xmlns:x='urn:schemas-microsoft-com:office:excel'><table><tr><td colspan='§1§' rowspan='§2§'>id<td rowspan='§1§'>b<td>c<tr><td \
    x:num='§7§'>7<td sdval='§8§' sdnum='§1053;0;00000§'>8<td data-t='n' data-v='§9§' data-z='§000§'>9</table></html>";

/// A text with its `§` removed; at the place of this number, with a hostile value.
fn with(text: &str, place: &mut isize, hostile: &str) -> String {
    let parts = text.split('§').enumerate().map(|(number, part)| {
        if number % 2 == 0 {
            return part;
        }
        *place -= 1;
        if *place == -1 { hostile } else { part }
    });
    parts.collect()
}

fn places(text: &str) -> isize {
    (text.matches('§').count() / 2).cast_signed()
}

/// Reads a file as far as wanted. Whether all of it was read, or an error that says something.
#[track_caller]
fn is_read_or_refused(bytes: &[u8], what: &str) {
    let file = file(bytes);
    let mut reader = match Reader::open(file.path(), &Settings::default()) {
        Ok(reader) => reader,
        Err(error) => return assert!(error.message.len() > 20, "{what}: {error}"),
    };
    let mut rows = 0;
    loop {
        match reader.next(None) {
            Ok(Some(batch)) => {
                rows += batch.rows().count();
                let widest = batch.rows().map(|row| row.cells().count()).max();
                assert!(widest.unwrap_or_default() <= MOST_COLUMNS as usize, "{what}");
                if rows > ROWS {
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => return assert!(error.message.len() > 20, "{what}: {error}"),
        }
    }
}

#[test]
fn hostile_values_in_documents_of_text_are_read_or_refused() {
    for text in [FODS, XML_2003, HTML] {
        for place in 0..places(text) {
            for hostile in HOSTILE {
                let file = with(text, &mut place.clone(), hostile);
                is_read_or_refused(file.as_bytes(), &file);
            }
        }
    }
}

#[test]
fn hostile_values_in_workbooks_are_read_or_refused() {
    for place in 0..XLSX.iter().map(|(_, text)| places(text)).sum() {
        for hostile in HOSTILE {
            let (mut archive, mut left) = (ZipWriter::new(Cursor::new(Vec::new())), place);
            for (name, text) in XLSX {
                archive.start_file(*name, SimpleFileOptions::default()).unwrap();
                archive.write_all(with(text, &mut left, hostile).as_bytes()).unwrap();
            }
            let bytes = archive.finish().unwrap().into_inner();
            is_read_or_refused(&bytes, &format!("{hostile:?} at place {place}"));
            // Cut off, and with other bytes in the directory.
            if place == 0 {
                is_read_or_refused(&bytes[..bytes.len() - 30], "cut off");
            }
        }
    }
}
