//! What plans say of ads that are invalid: the errors of each, and the reasons of all, counted.

use std::collections::{HashMap, HashSet};

use crate::{
    fields::FieldErrors,
    model::{ChangeError, PlanError},
    violation::{Code, Violation},
};

/// Maximum number of kinds of errors that a plan lists.
const MOST_ERRORS: usize = 50;

/// The reasons for which ads are invalid, counted.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    by_kind: HashMap<(Code, String), usize>,
    listed: Vec<PlanError>,
}

impl Reasons {
    /// Counts the errors of an ad. Items of lists count as one field.
    pub(super) fn add(&mut self, line: Option<u64>, errors: &[ChangeError]) {
        let mut seen = HashSet::new();
        for error in errors {
            let names = error.pointer.split('/').map(|name| if name.parse::<u64>().is_ok() { "*" } else { name });
            let key = (error.code, names.collect::<Vec<_>>().join("/"));
            if !seen.insert(key.clone()) {
                continue;
            }
            match self.by_kind.get(&key) {
                Some(place) => self.listed[*place].count += 1,
                None if self.listed.len() < MOST_ERRORS => {
                    let ChangeError { pointer, code, detail, .. } = error.clone();
                    self.by_kind.insert(key, self.listed.len());
                    self.listed.push(PlanError { code, pointer: Some(pointer), line, detail, count: 1 });
                }
                None => {}
            }
        }
    }

    pub(super) fn into_list(self) -> Vec<PlanError> {
        let mut listed = self.listed;
        listed.sort_by_key(|error| std::cmp::Reverse(error.count));
        listed
    }
}

/// A JSON Pointer to a field.
fn pointer(path: &[String]) -> String {
    path.iter().fold(String::new(), |pointer, name| pointer + "/" + &name.replace('~', "~0").replace('/', "~1"))
}

/// The errors of an ad, as plans list them.
pub(super) fn change_errors(errors: &FieldErrors) -> Vec<ChangeError> {
    let error = |(path, violation): (Vec<String>, &Violation)| ChangeError {
        pointer: pointer(&path),
        code: violation.code().unwrap_or(Code::Unknown),
        detail: violation.texts_for_people().join(" "),
        suggestion: violation.suggestions().first().map(|text| (*text).to_owned()),
        rule: violation.rule().map(str::to_owned),
    };
    errors.located().into_iter().take(ChangeError::MOST).map(error).collect()
}
