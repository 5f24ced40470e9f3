//! What is quick agrees with what is thorough: plain addresses are not given to a parser, and are what it would say.

use ad_core::{
    fields::{CategoryTable, Check, Field, Kind, Mode, Tree},
    model::ApiVersion,
};
use email_address::{EmailAddress, Options};
use proptest::prelude::*;
use serde_json::{Map, json};
use url::Url;

use crate::kinds::RULEBOOK;

const FIELDS: &[Field] = &[
    Field::new("url", Kind::Url { schemes: &["http", "https"] }, "An address"),
    Field::new("email", Kind::Email { or_empty: false }, "An e-mail address"),
];

fn accepts(name: &str, text: &str) -> bool {
    let mut payload = Map::from_iter([(name.to_owned(), json!(text))]);
    let mut check = Check::new(&RULEBOOK.catalogue, ApiVersion::V4, Mode::Create, CategoryTable::Unknown);
    check.object(&Tree::new(FIELDS), &mut payload).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn an_address_is_what_the_parser_takes(text in "(https?|ftp|HTTPS)://[a-z0-9.:@å-]{0,9}(/[a-zå .]{0,3})?(\\?x)?(#y)?") {
        let parsed = Url::parse(&text).ok().filter(|url| url.host().is_some() && ["http", "https"].contains(&url.scheme()));
        prop_assert_eq!(accepts("url", &text), parsed.is_some(), "{}", text);
    }

    #[test]
    fn an_email_address_is_what_the_parser_takes(text in "[a-z0-9.+\"A@å -]{0,6}@[a-z0-9.A-]{0,9}|[a-z]{60,66}@([a-z]{60,66}[.])?se") {
        let options = Options::default().without_display_text().without_domain_literal().with_required_tld();
        let parsed = EmailAddress::parse_with_options(&text, options).is_ok();
        prop_assert_eq!(accepts("email", &text), parsed, "{}", text);
    }
}
