//! The bounds on creation time and last change.

use serde_json::json;

use super::{Stock, refuses};
use crate::conformance::{
    pattern::MORE,
    rule::{Rule, interface},
};

pub(super) fn rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    for name in ["created", "updated"] {
        for (bound, before, at, after) in [
            ("gt", true, false, false),
            ("gte", true, true, false),
            ("lt", false, false, true),
            ("lte", false, true, true),
        ] {
            let parameter = format!("{name}__{bound}");
            rules.push(interface("List parameters", &parameter, "Format YYYY-MM-DD HH:MM:SS, UTC.").decided(&[2]).by(
                move |trial| {
                    Box::pin(async move {
                        let stock = Stock::new(trial).await;
                        let parameter = format!("{name}__{bound}");
                        let time = stock.read(trial, 1).await[name].as_str().unwrap_or_default().to_owned();
                        let query =
                            |time: &str| format!("category_id=1020&source_id={}&{parameter}={time}", stock.ids[1]);
                        let all = |holds: bool| if holds { &[1][..] } else { &[] };
                        stock.finds(trial, &query("2001-02-03 04:05:06"), all(before)).await;
                        stock.finds(trial, &query(&time), all(at)).await;
                        stock.finds(trial, &query("2101-02-03T04:05:06Z"), all(after)).await;
                        for wrong in ["yesterday", "2024-13-01%2000:00:00", "03/02/2024", ""] {
                            refuses(trial, &parameter, wrong, json!([MORE])).await;
                        }
                    })
                },
            ));
        }
    }
    rules
}
