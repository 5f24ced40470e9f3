//! The lists that are compared: each filter by itself, each order, pages far behind, typed lists, and the log included.

use super::{
    stock::{Dealer, Samples},
    words,
};

/// A time as a list parameter takes it.
fn time(millis: i64) -> String {
    ad_core::model::Timestamp::from_millis(millis).to_string()
}

/// The lists of a dealer: what each is called, and its path. The values are those of an ad in the middle of its stock.
pub(super) fn of(dealer: Dealer) -> Vec<(String, String)> {
    let samples = Samples::new();
    let middle = dealer.ads() / 2;
    let (car, other) = (samples.ad(dealer, middle), samples.ad(dealer, middle + 1));
    let plate = car.plate.expect("the middle one is a car");
    let part = &other.source_id[9..18];
    let far = dealer.ads() * 4 / 5;
    let mut lists: Vec<(String, String)> = Vec::new();
    let mut add =
        |name: &str, query: &str| lists.push((name.to_owned(), format!("/v4/ad?{}", query.replace(' ', "%20"))));
    add("default", "");
    add("id", &format!("id={}", car.id));
    for value in ["created", "deleted"] {
        add(&format!("state={value}"), &format!("state={value}"));
    }
    for value in ["live", "failed", "failed,partly_live"] {
        add(&format!("status={value}"), &format!("status={value}"));
    }
    add("source_id", &format!("source_id={}", car.source_id));
    add("source_id__in, of 2", &format!("source_id__in={},{}", car.source_id, other.source_id));
    add("source_id__icontains, of half", "source_id__icontains=LAGER");
    add("source_id__icontains, of one", &format!("source_id__icontains={part}"));
    add("source_id__icontains, 2 letters", "source_id__icontains=-0");
    add("dealer_code", &format!("dealer_code={}", dealer.code()));
    add("category_id", "category_id=1060");
    add("category_id__in, of 2", "category_id__in=1060,1020");
    add("search, in half", &format!("search={}", words::COMMON));
    add("search, in 5 of 1,000", "search=SAMLAROBJEKT");
    add("search, in none", "search=traktorgrävare");
    add("search, in all", "search=Ref");
    add("search, 2 letters", "search=v6");
    add("q, a plate", &format!("q={plate}"));
    add("q, a title", &format!("q={}", car.content["title"].as_str().expect("it has one")));
    add("q, in all", "q=20");
    add("marketplace_ad_id", &format!("marketplace_ad_id={}", car.listing));
    add("marketplace_ad_id__in, of 2", &format!("marketplace_ad_id__in={},{}", car.listing, other.listing));
    add("registration_number", &format!("registration_number={plate}"));
    for (name, bound) in [("created", car.created), ("updated", car.updated)] {
        for operator in ["gt", "gte", "lt", "lte"] {
            let name = format!("{name}__{operator}");
            add(&name, &format!("{name}={}", time(bound)));
        }
    }
    for order in ["created", "-updated", "updated", "-source_id", "source_id"] {
        add(&format!("ordering={order}"), &format!("ordering={order}"));
    }
    add("offset at 4/5", &format!("offset={far}"));
    for order in ["-updated", "source_id"] {
        add(&format!("offset at 4/5, ordering={order}"), &format!("offset={far}&ordering={order}"));
    }
    add("include=log", "include=log");
    lists.push(("typed list".to_owned(), "/v4/boat".to_owned()));
    lists
}
