//! Suggestions for the errors of a refused payload (decision 4). The tables and the rules only say what is wrong; this module
//! then adds what was probably meant, so that a valid payload does not pay for it.

mod values;

use std::cell::OnceCell;

use serde_json::{Map, Value};

use super::Rulebook;
use crate::{
    categories::{Category, Heading, ad_fields},
    fields::{Direction, Field, FieldErrors, Kind, Mode, Node, Tree},
    model::ApiVersion,
    synonyms::{fold::folded, names::Names},
    violation::{Code, Violation, nearest},
};

/// Number of unknown fields of a payload that get suggestions. Finding them is slow, and a payload with more unknown fields is
/// not a typing error.
const MOST_NAMES: usize = 20;

const CATEGORY_FIELDS: &str = "category_fields.";

/// Suggestions for the errors of a refused payload.
pub(super) struct Hints<'a> {
    rulebook: &'a Rulebook,
    version: ApiVersion,
    mode: Mode,
    category: Option<&'static Category>,
    /// The payload. Invalid values are in it as they were sent.
    ad: &'a Map<String, Value>,
    example: OnceCell<Value>,
}

/// The object in which a field stands: a table, and the path of its object, which ends in a dot if it is not empty.
struct EnclosingTable {
    root: &'static Tree,
    prefix: String,
}

impl<'a> Hints<'a> {
    /// Of a payload of this category; `None` if the category is an error itself.
    pub(super) fn new(
        rulebook: &'a Rulebook,
        version: ApiVersion,
        mode: Mode,
        category: Option<&'static Category>,
        ad: &'a Map<String, Value>,
    ) -> Self {
        Self { rulebook, version, mode, category, ad, example: OnceCell::new() }
    }

    /// Adds suggestions to the errors of the payload.
    pub(super) fn add(&self, errors: &mut FieldErrors) {
        let mut names = 0;
        // Fields that are no longer missing if these errors are corrected.
        let mut found = Vec::new();
        errors.each_mut(&mut |path, violation| match violation {
            Violation::UnknownField { .. } if names < MOST_NAMES => {
                names += 1;
                if let Some((better, fields)) = self.field(path) {
                    *violation = better;
                    found.extend(fields);
                }
            }
            Violation::Required if path == ["category_id"] => {
                if let Some(category) = self.category {
                    let note = format!("Send {}, the number of the category of this path.", category.id);
                    *violation = Violation::stated(Code::Required, "This field is required.").with_note(Some(note));
                }
            }
            Violation::WrongType(_)
            | Violation::NotAChoice { .. }
            | Violation::WrongFormat(_)
            | Violation::TooShort(_)
            | Violation::TooLong(_) => self.value_error(path, violation),
            _ => {}
        });
        for path in found {
            errors.forgive(&path);
        }
    }

    fn value(&self, path: &[String]) -> Option<&Value> {
        let (first, below) = path.split_first()?;
        below.iter().try_fold(self.ad.get(first)?, |value, name| match value {
            Value::Object(members) => members.get(name),
            Value::Array(items) => items.get(name.parse::<usize>().ok()?),
            _ => None,
        })
    }

    // Names of fields.

    fn ad_table(&self) -> &'static Tree {
        if self.mode == Mode::Create { &ad_fields::CREATE } else { &ad_fields::UPDATE }
    }

    fn level(&self, path: &[String]) -> Option<EnclosingTable> {
        let mut level = EnclosingTable { root: self.ad_table(), prefix: String::new() };
        let (mut tree, mut below) = (level.root, String::new());
        for name in path.iter().filter(|name| name.parse::<usize>().is_err()) {
            below = format!("{below}{name}.");
            match tree.get(name)? {
                Node::Branch(branch) => tree = branch,
                Node::Leaf(field, inside) => {
                    tree = if field.kind == Kind::CategoryFields { self.category?.tree() } else { inside.as_ref()? };
                    level = EnclosingTable { root: tree, prefix: below.clone() };
                }
            }
        }
        Some(level)
    }

    /// What an unknown field was probably meant to be, and the paths of fields that are present then.
    fn field(&self, path: &[String]) -> Option<Better> {
        let (name, parents) = path.split_last()?;
        if parents.is_empty()
            && let Some(members) = self.wrapped(name)
        {
            return Some((Violation::Wrapped { name: name.clone() }, members));
        }
        let Some(level) = self.level(parents) else { return member_of_measure(path) };
        let other = match level.prefix.as_str() {
            "" => self
                .category
                .map(|category| EnclosingTable { root: category.tree(), prefix: CATEGORY_FIELDS.to_owned() }),
            CATEGORY_FIELDS => Some(EnclosingTable { root: self.ad_table(), prefix: String::new() }),
            _ => None,
        };
        // In the object itself, and in the other one of ad and category fields.
        let here = |inner| (self.paths(&level, inner), false);
        let there = |inner| {
            let other = other.as_ref();
            let paths = other.map_or_else(Vec::new, |other| {
                let paths = self.paths(other, inner).into_iter();
                paths.map(|path| format!("{}{path}", other.prefix)).collect()
            });
            (paths, !level.prefix.is_empty())
        };
        let misplaced = |(paths, of_ad): &Paths| {
            let paths = paths.iter().filter(|path| path.rsplit('.').next() == Some(name)).take(nearest::MOST);
            let paths: Vec<String> = paths.cloned().collect();
            (!paths.is_empty()).then_some((Violation::MisplacedField { paths, of_ad: *of_ad }, Vec::new()))
        };
        let present =
            |path: &str, of_ad: bool| vec![if of_ad { path.to_owned() } else { format!("{}{path}", level.prefix) }];
        let flattened = |(paths, of_ad): &Paths| {
            let dotted = dotted(name)?;
            let path = paths.iter().find(|path| path.eq_ignore_ascii_case(&dotted))?;
            Some((Violation::Flattened { path: path.clone(), of_ad: *of_ad }, present(path, *of_ad)))
        };
        // Names that differ in case and punctuation alone.
        let same = |(paths, of_ad): &Paths| {
            let wanted = folded(name);
            let path = paths.iter().find(|path| folded(path.rsplit('.').next().unwrap_or(path)) == wanted)?;
            Some((Violation::UnknownField { meant: vec![path.clone()], of_ad: *of_ad }, present(path, *of_ad)))
        };
        let similar = |(paths, of_ad): Paths| {
            let meant = similar(name, &paths);
            (!meant.is_empty()).then_some((Violation::UnknownField { meant, of_ad }, Vec::new()))
        };
        let inner = [here(true), there(true)];
        let first = |find: FindField<'_>| inner.iter().find_map(find);
        first(&misplaced)
            .or_else(|| first(&flattened).filter(|_| name.len() <= nearest::LONGEST))
            .or_else(|| first(&same).filter(|_| name.len() <= nearest::LONGEST))
            .or_else(|| Some((self.called(name, &level, other.is_some())?, Vec::new())))
            .or_else(|| similar(here(false)))
            .or_else(|| similar(there(false)))
    }

    /// The members of the ad that stand inside of a member of another name, if they do.
    fn wrapped(&self, name: &str) -> Option<Vec<String>> {
        let inner = match self.ad.get(name)? {
            Value::Array(items) => items.first()?,
            value => value,
        };
        let known = |name: &&String| ad_fields::CREATE.get(name).is_some();
        let members: Vec<String> = inner.as_object()?.keys().filter(known).cloned().collect();
        (members.len() > 1).then_some(members)
    }

    /// The field that the tables of synonyms have for a name.
    fn called(&self, name: &str, level: &EnclosingTable, has_other: bool) -> Option<Violation> {
        if name.len() > nearest::LONGEST {
            return None;
        }
        let known = self.rulebook.settings.names.field(name).or_else(|| Names::builtin().field(name))?;
        let path = self.existing(known)?;
        let is_outside = !path.starts_with(&level.prefix);
        if is_outside && !has_other {
            return None;
        }
        let meant = path.strip_prefix(&level.prefix).unwrap_or(&path).to_owned();
        Some(Violation::UnknownField { meant: vec![meant], of_ad: is_outside })
    }

    /// The path of a field of the synonyms in this category, where the field may have another one: boats have
    /// `powertrain.fuel`, not `powertrain.fuels`.
    fn existing(&self, known: &str) -> Option<String> {
        let Some(below) = known.strip_prefix(CATEGORY_FIELDS) else {
            let ad = EnclosingTable { root: self.ad_table(), prefix: String::new() };
            let all = self.paths(&ad, true);
            // The prices are one field.
            let outer = known.split('.').next().unwrap_or(known);
            return [known, outer].into_iter().find(|path| all.iter().any(|one| one == path)).map(str::to_owned);
        };
        let fields = EnclosingTable { root: self.category?.tree(), prefix: CATEGORY_FIELDS.to_owned() };
        let all = self.paths(&fields, true);
        let name = below.rsplit('.').next().unwrap_or(below);
        let exact = all.iter().find(|path| *path == below).cloned();
        let found = exact.or_else(|| similar(name, &all).into_iter().next())?;
        Some(format!("{CATEGORY_FIELDS}{found}"))
    }

    /// The paths of the fields that may be sent, with those inside of arrays and locations if `inner`.
    fn paths(&self, level: &EnclosingTable, inner: bool) -> Vec<String> {
        let mut found = Vec::new();
        self.walk(level.root, &mut level.prefix.clone(), &mut |path, is_inner| {
            if inner || !is_inner {
                found.push(path[level.prefix.len()..].to_owned());
            }
        });
        found
    }

    /// Visits the paths of the fields that may be sent, and whether they are inside of another field. `path` is that of the object.
    fn walk(&self, tree: &'static Tree, path: &mut String, visit: &mut dyn FnMut(&str, bool)) {
        let length = path.len();
        for (name, node) in tree.iter() {
            path.push_str(name);
            match node {
                Node::Branch(branch) => self.walk_below(branch, path, visit),
                Node::Leaf(field, _) if self.is_refused(path, field) => {}
                Node::Leaf(_, inside) => {
                    visit(path, false);
                    if let Some(inside) = inside {
                        self.walk_below(inside, path, &mut |path, _| visit(path, true));
                    }
                }
            }
            path.truncate(length);
        }
    }

    fn walk_below(&self, tree: &'static Tree, path: &mut String, visit: &mut dyn FnMut(&str, bool)) {
        path.push('.');
        self.walk(tree, path, visit);
    }

    /// Whether a field must not be sent for this category and version, and so is not suggested.
    fn is_refused(&self, path: &str, field: &Field) -> bool {
        let of_category = self.category.is_some_and(|category| match path.split('.').next() {
            Some("title" | "contact") => category.heading == Heading::Forbidden,
            Some("location") => category.registered && path == "location.lkf",
            _ => false,
        });
        of_category || field.direction == Direction::Response || !field.since.allows(self.version)
    }
}

/// The member of a measure that a name is in another case.
fn member_of_measure(path: &[String]) -> Option<Better> {
    let (name, parents) = path.split_last()?;
    let member = ["unit", "value"].into_iter().find(|member| member.eq_ignore_ascii_case(name))?;
    let present = vec![format!("{}.{member}", parents.join("."))];
    Some((Violation::UnknownField { meant: vec![member.to_owned()], of_ad: false }, present))
}

/// Finds what an unknown field was probably meant to be among some paths.
type FindField<'f> = &'f dyn Fn(&Paths) -> Option<Better>;

/// Paths of fields, and whether they are of the ad around the category fields that are looked at.
type Paths = (Vec<String>, bool);

/// A better error of an unknown field, and the paths of fields that are present if it is corrected.
type Better = (Violation, Vec<String>);

/// A name of several parts, joined by dots: `condition__mileage`, `condition[mileage]` and `condition/mileage` are
/// `condition.mileage`.
fn dotted(name: &str) -> Option<String> {
    let dotted = name.replace("__", ".").replace(['/', '['], ".").replace(']', "");
    dotted.contains('.').then_some(dotted)
}

fn similar(name: &str, paths: &[String]) -> Vec<String> {
    nearest::similar_paths(name, paths.iter().map(String::as_str)).into_iter().map(str::to_owned).collect()
}
