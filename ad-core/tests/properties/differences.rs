//! Whatever an ad is changed to, each of its earlier contents is what the differences make out of the present one.

use ad_core::{
    model::Content,
    revisions::{apply, checksum, difference},
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value};

use crate::{
    kinds::Kind,
    odd::{Change, any_object, changed, changes},
};

/// How many changes are made in a row, in each of so many cases: 300 in all for each.
const CASES: u32 = 30;
const CHANGES: usize = 10;

/// Contents that follow each other from that of a full ad.
fn contents(kind: Kind, steps: &[Vec<Change>]) -> Vec<Content> {
    let mut fields = kind.full();
    let mut contents = vec![Content::from(fields.clone())];
    for step in steps {
        fields = changed(&fields, step);
        contents.push(fields.clone().into());
    }
    contents
}

fn text(content: &Content) -> String {
    content.stored_text().unwrap()
}

fn check(contents: &[Content]) -> Result<(), TestCaseError> {
    let mut present = Content::stored(text(contents.last().unwrap())).unwrap();
    for pair in contents.windows(2).rev() {
        let [before, after] = pair else { continue };
        prop_assert_eq!(checksum(&text(&present)), checksum(&text(after)));
        if let Some(back) = difference(after, before) {
            present = apply(&back, present).unwrap();
        }
        prop_assert_eq!(text(&present), text(before));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn every_earlier_content_of_an_ad_is_rebuilt(
        kind in select(Kind::all()), steps in vec(changes(), CHANGES),
    ) {
        check(&contents(kind, &steps))?;
    }

    #[test]
    fn every_earlier_content_of_any_kind_is_rebuilt(fields in vec(any_object(), CHANGES)) {
        let contents: Vec<_> = fields.into_iter().map(|fields: Map<String, Value>| Content::from(fields)).collect();
        check(&contents)?;
    }
}
