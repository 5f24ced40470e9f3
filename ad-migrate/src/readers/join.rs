//! Columns of a second file, added to the rows whose key it has; or names of images from a folder or a list, by the key that each begins with.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::{
    Batch, ColumnId, Columns, Detected, ReadError, Reader, Records, Settings, packing, quoted, short,
    source::{self, OpenedSource, SourceFile},
    too_long,
};
use ad_core::{synonyms::fold::folded, violation::nearest};

/// Bytes of a second file that are kept.
const MOST: usize = 256 << 20;

/// Values that rows get which earlier rows have got, too. Without a limit, a short file of which all rows have the same key would add all of its
/// values to each row.
const MOST_AGAIN: u64 = 20_000_000;

/// The column of image names.
const NAME: &str = "name";

/// A second file: `[file.join.NAME]` of a mapping. Its columns are named `NAME:column`. Paths are relative to the first file, in its archive or
/// beside it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The column of the first file.
    by: String,
    /// The second file, in any format.
    file: Option<PathBuf>,
    /// The column of the second file that has the same values.
    key: Option<String>,
    /// Instead: a folder of images, or a text file with a name on each line.
    names: Option<PathBuf>,
}

/// Values of a second file by key.
type Values = FxHashMap<Box<str>, KeyValues>;

/// The values of a key: each a column and a text.
#[derive(Debug, Default)]
struct KeyValues {
    values: Vec<(ColumnId, Box<str>)>,
    /// Whether a row has got them.
    is_used: bool,
}

#[derive(Debug)]
struct Joined {
    inner: Box<dyn Records>,
    joins: Vec<(String, Values)>,
    /// Values that further rows may get of those that earlier rows have got.
    again: u64,
}

/// Adds the columns of other files to rows.
pub(super) fn with(
    mut inner: Box<dyn Records>,
    path: &Path,
    settings: &Settings,
    detected: &Detected,
) -> Result<Box<dyn Records>, ReadError> {
    if settings.join.is_empty() {
        return Ok(inner);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let archive = ArchiveList::of(path, detected)?;
    let mut joins = Vec::new();
    for (name, join) in &settings.join {
        let values = match (&join.file, &join.key, &join.names) {
            (Some(file), Some(key), None) => match archive.as_ref().and_then(|archive| archive.member(file)) {
                Some(member) => of_file(name, path, Some(member), key, inner.as_mut())?,
                None => of_file(name, &folder.join(file), None, key, inner.as_mut())?,
            },
            (None, None, Some(names)) => {
                let listed = archive.as_ref().and_then(|archive| archive.names(path, names).transpose()).transpose()?;
                let listed = listed.map_or_else(|| names_beside(&folder.join(names)), Ok)?;
                of_names(name, listed, inner.as_mut())
            }
            _ => {
                return Err(ReadError::new(format!(
                    "[file.join.{}] needs either file and key, or names.",
                    short(name)
                ))
                .hint("Set file = \"prices.csv\" and key = \"Nr\", or names = \"images\"."));
            }
        };
        joins.push((join.by.clone(), values));
    }
    Ok(Box::new(Joined { inner, joins, again: MOST_AGAIN }))
}

/// The values of a file by those of its key column.
fn of_file(
    name: &str,
    path: &Path,
    member: Option<String>,
    key: &str,
    inner: &mut dyn Records,
) -> Result<Values, ReadError> {
    let mut reader = Reader::open(path, &Settings { member, ..Settings::default() })?;
    let mut values = Values::default();
    let (mut size, mut batch) = (0, None);
    let mut ids: FxHashMap<String, ColumnId> = FxHashMap::default();
    while let Some(next) = reader.next(batch.take())? {
        let columns = next.columns();
        let Some(key_column) = columns.id(key) else {
            let error =
                ReadError::new(format!("{} has no column {}, the key of its join.", path.display(), quoted(key)));
            let hint = nearest::did_you_mean(key, columns.names());
            return Err(
                error.hint(hint.as_deref().unwrap_or("Set key to the column that has the same values as \"by\"."))
            );
        };
        for column in columns.names() {
            if !ids.contains_key(column) {
                ids.insert(column.to_owned(), inner.add_column(&format!("{name}:{column}")));
            }
        }
        for row in next.rows() {
            let Some(key) = row.value(key_column).map(folded).filter(|key| !key.is_empty()) else { continue };
            let of_row: Vec<(ColumnId, Box<str>)> =
                row.cells().filter_map(|(id, text)| Some((*ids.get(columns.name(id))?, text.into()))).collect();
            size += of_row.iter().map(|(_, text)| text.len() + 24).sum::<usize>();
            // Several rows of a key add values to the same columns.
            values.entry(key.into()).or_default().values.extend(of_row);
        }
        if size > MOST {
            let message = format!("{} is too long to be joined: it has more than {} MiB.", path.display(), MOST >> 20);
            return Err(ReadError::new(message).hint("Join the files in the program that writes them."));
        }
        batch = Some(next);
    }
    Ok(values)
}

/// The names of the files in the archive of the first file, which may have further files and images in it.
struct ArchiveList {
    names: Vec<String>,
    /// The folder of the first file in it.
    folder: String,
}

impl ArchiveList {
    fn of(path: &Path, detected: &Detected) -> Result<Option<Self>, ReadError> {
        let Some(member) = detected.member.as_ref().filter(|_| path.as_os_str() != "-") else { return Ok(None) };
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| ReadError::io(&error, &format!("Cannot read {name}")))?;
        let folder = member.rfind('/').map_or("", |end| &member[..=end]).to_owned();
        Ok(Some(Self { names: packing::list(&name, file)?, folder }))
    }

    /// The file of a name in the archive, relative to the first file or to the archive.
    fn member(&self, file: &Path) -> Option<String> {
        let name = file.to_str()?;
        let wanted = [format!("{}{name}", self.folder), name.to_owned()];
        wanted.into_iter().find(|wanted| self.names.contains(wanted))
    }

    /// Names of images: those that a file of the archive lists, or those of a folder in it; `.` is the one of the first file.
    fn names(&self, path: &Path, names: &Path) -> Result<Option<Vec<String>>, ReadError> {
        if let Some(member) = self.member(names) {
            return lines_of(path, &member).map(Some);
        }
        let Some(name) = names.to_str() else { return Ok(None) };
        let folder =
            if name == "." { self.folder.clone() } else { format!("{}{}/", self.folder, name.trim_end_matches('/')) };
        let within =
            self.names.iter().filter_map(|known| known.strip_prefix(&folder)).filter(|rest| !rest.contains('/'));
        let within: Vec<String> = within.map(str::to_owned).collect();
        Ok((!within.is_empty()).then_some(within))
    }
}

/// The lines of a text file of an archive.
fn lines_of(path: &Path, member: &str) -> Result<Vec<String>, ReadError> {
    let settings = Settings { member: Some(member.to_owned()), ..Settings::default() };
    let OpenedSource::Text(SourceFile { head, mut rest, name, .. }) = source::open(path, &settings)? else {
        return Ok(Vec::new());
    };
    let mut bytes = head;
    let read = rest.by_ref().take(MOST as u64).read_to_end(&mut bytes);
    read.map_err(|error| ReadError::io(&error, &format!("Cannot read {} in {name}", quoted(member))))?;
    Ok(String::from_utf8_lossy(&bytes)
        .lines()
        .map(|line| line.trim_start_matches('\u{feff}').trim().to_owned())
        .collect())
}

/// The names of images in a folder, or in a text file with a name on each line.
fn names_beside(path: &Path) -> Result<Vec<String>, ReadError> {
    let unreadable = |error: std::io::Error| {
        ReadError::new(format!("Cannot read the names of images in {}: {error}.", path.display()))
            .hint("Set names to a folder, or to a text file with a name on each line.")
    };
    if path.is_dir() {
        let files = fs::read_dir(path).map_err(unreadable)?;
        let names = files.map(|file| file.map(|file| file.file_name().to_string_lossy().into_owned()));
        return names.collect::<Result<_, _>>().map_err(unreadable);
    }
    Ok(fs::read_to_string(path).map_err(unreadable)?.lines().map(|line| line.trim().to_owned()).collect())
}

/// The names of images by the letters and digits that they begin with: `ABC123_1.jpg` belongs to `abc 123`.
fn of_names(name: &str, mut names: Vec<String>, inner: &mut dyn Records) -> Values {
    names.retain(|name| !name.is_empty() && !name.starts_with('.'));
    names.sort_by_cached_key(|name| natural(name));
    let column = inner.add_column(&format!("{name}:{NAME}"));
    let mut values = Values::default();
    for name in names {
        let file = name.rsplit(['/', '\\']).next().unwrap_or(&name);
        let key = folded(file.split(['_', '-', '.', ' ', '(']).next().unwrap_or(file));
        values.entry(key.into()).or_default().values.push((column, name.into()));
    }
    values
}

/// A name by which `car_2` comes before `car_10`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let after = &rest[digits..];
        let end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        parts.push((rest[..digits].to_owned(), after[..end].parse().unwrap_or(u64::MAX)));
        rest = &after[end..];
    }
    parts
}

/// The error that a join would add values without end.
fn too_often(by: &str) -> ReadError {
    let message = format!(
        "The join by {} adds more than {MOST_AGAIN} values of the second file to rows again: many of its rows have the same key.",
        quoted(by)
    );
    ReadError::new(message).hint("Set by and key to columns that identify a vehicle.")
}

impl Records for Joined {
    fn row(&mut self, batch: &mut Batch) -> Result<bool, ReadError> {
        let has_row = self.inner.row(batch)?;
        if has_row {
            let columns = self.inner.columns().clone();
            for (by, of_keys) in &mut self.joins {
                let key = columns.id(by).and_then(|column| batch.last_value(column)).map(folded);
                let Some(of_key) = key.and_then(|key| of_keys.get_mut(key.as_str())) else { continue };
                if of_key.is_used {
                    let Some(again) = self.again.checked_sub(of_key.values.len() as u64) else {
                        // The row would lack what the join adds.
                        batch.undo();
                        return Err(too_often(by));
                    };
                    self.again = again;
                }
                of_key.is_used = true;
                for (column, text) in &of_key.values {
                    if !batch.has_room(text) {
                        batch.error(too_long());
                        break;
                    }
                    batch.push(*column, text);
                }
            }
        }
        Ok(has_row)
    }

    fn columns(&mut self) -> &mut Arc<Columns> {
        self.inner.columns()
    }

    fn late_notes(&mut self) -> Vec<String> {
        self.inner.late_notes()
    }

    fn add_column(&mut self, name: &str) -> ColumnId {
        self.inner.add_column(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::testing::rows_of_path;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn settings(join: &str) -> Settings {
        toml::from_str(&format!("[join.extra]\n{join}")).unwrap()
    }

    #[test]
    fn a_row_gets_the_columns_of_the_row_with_its_key() {
        let folder = folder(&[
            ("stock.csv", "Nr;Regnr\n1;ABC 123\n2;DEF456\n3;\n"),
            ("prices.json", r#"[{"plate": "abc123", "price": 100}, {"plate": "XYZ999", "price": 5}]"#),
        ]);
        let settings = settings("by = 'Regnr'\nfile = 'prices.json'\nkey = 'plate'");
        assert_eq!(
            rows_of_path(&folder.path().join("stock.csv"), &settings),
            [
                "1@2 Nr=1; Regnr=ABC 123; extra:plate=abc123; extra:price=100",
                "2@3 Nr=2; Regnr=DEF456",
                "3@4 Nr=3; Regnr="
            ]
        );
    }

    #[test]
    fn images_of_a_folder_or_a_list_belong_to_the_key_they_begin_with() {
        let names = ["ABC123_10.jpg", "ABC123_2.jpg", "DEF456.jpg", "img/abc123-1.jpg"];
        let folder = folder(&[
            ("stock.ndjson", "{\"plate\": \"ABC 123\"}\n{\"plate\": \"X\", \"more\": 1}\n"),
            ("images.txt", &names.join("\n")),
            ("images/ABC123_10.jpg", ""),
            ("images/ABC123_2.jpg", ""),
            ("images/.hidden", ""),
        ]);
        let read = |names: &str| {
            let settings = settings(&format!("by = 'plate'\nnames = '{names}'"));
            rows_of_path(&folder.path().join("stock.ndjson"), &settings)
        };
        assert_eq!(
            read("images"),
            ["1@1 plate=ABC 123; extra:name=ABC123_2.jpg; extra:name=ABC123_10.jpg", "2@2 plate=X; more=1"]
        );
        let first = "1@1 plate=ABC 123; extra:name=ABC123_2.jpg; extra:name=ABC123_10.jpg; extra:name=img/abc123-1.jpg";
        assert_eq!(read("images.txt"), [first, "2@2 plate=X; more=1"]);
    }

    #[test]
    fn values_of_the_same_key_are_added_to_a_bounded_number_of_rows() {
        let rows = "Regnr\n".to_owned() + &"a\n".repeat(20_000);
        let folder = folder(&[("stock.csv", &rows)]);
        let settings = settings("by = 'Regnr'\nfile = 'stock.csv'\nkey = 'Regnr'");
        let mut reader = Reader::open(&folder.path().join("stock.csv"), &settings).unwrap();
        let (mut rows, mut widest, mut batch) = (0, 0, None);
        let error = loop {
            match reader.next(batch.take()) {
                Ok(Some(next)) => {
                    rows += next.rows().len() as u64;
                    widest = next.rows().map(|row| row.cells().count()).max().unwrap().max(widest);
                    batch = Some(next);
                }
                Ok(None) => panic!("{rows} rows were read"),
                Err(error) => break error,
            }
        };
        assert!(error.message.contains("The join by \"Regnr\" adds more than 20000000 values"), "{error}");
        assert!((1..=MOST_AGAIN / 20_000 + 1).contains(&rows) && widest == 20_001, "{rows} rows of {widest} values");
        // A row that gets more than a row may have is no vehicle.
        let rows = "Regnr\n".to_owned() + &"a\n".repeat(200_000);
        fs::write(folder.path().join("stock.csv"), rows).unwrap();
        let mut reader = Reader::open(&folder.path().join("stock.csv"), &settings).unwrap();
        let batch = reader.next(None).unwrap().unwrap();
        let row = batch.rows().next().unwrap();
        assert!(row.cells().count() < 200_000);
        assert_eq!(row.findings().iter().map(|finding| &*finding.reason).collect::<Vec<_>>(), ["the row is too long"]);
    }

    #[test]
    fn what_cannot_be_joined_says_why() {
        let folder = folder(&[("stock.csv", "Nr;Regnr\n1;ABC123\n"), ("prices.csv", "Plate;Price\nABC123;5\n")]);
        for (join, message) in [
            ("by = 'Regnr'\nfile = 'prices.csv'\nkey = 'Plat'", "has no column \"Plat\", the key of its join."),
            ("by = 'Regnr'\nfile = 'none.csv'\nkey = 'Plate'", "there is no such file."),
            ("by = 'Regnr'", "[file.join.extra] needs either file and key, or names."),
        ] {
            let error = Reader::open(&folder.path().join("stock.csv"), &settings(join)).unwrap_err();
            assert!(error.message.ends_with(message), "{error}");
        }
    }
}
