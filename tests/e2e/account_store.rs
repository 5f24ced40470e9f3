//! What every store has to do with charges and budgets (`ad_core::ports::AccountStore`), in memory, in SQLite, and in PostgreSQL.

use ad_core::{
    model::{
        Ad, Amount, ChargeQuery, ChargeState, Market, MonthlyCharges, Page, Plan, PromotionKind, Request, StatusWords,
        Timestamp,
    },
    ports::{Outcome, Record, Reservation, Revision, Scope, Store, StoreError},
};
use futures_util::future::join_all;
use uuid::Uuid;

use crate::store_contract::{ad, at, claim, create, id, on_every_store, record};

on_every_store!(
    what_is_reserved_is_charged_or_released,
    a_budget_is_kept_with_each_charge,
    of_many_at_once_those_within_the_budget_are_accepted,
    months_and_currencies_have_sums_of_their_own,
    charges_are_filtered_and_paged,
    a_dealer_limits_itself,
);

const NORTH: Scope<'_> = Scope::Dealer("north");

fn amount(whole: i64) -> Amount {
    Amount::from_hundredths(whole * 100)
}

fn reservation(price: i64, budget: Option<i64>) -> Reservation {
    Reservation {
        kind: PromotionKind::Bump,
        markets: vec![Market::Primary, Market::Secondary],
        price: amount(price),
        currency: "SEK".to_owned(),
        month: "2026-11".parse().unwrap(),
        budget: budget.map(amount),
    }
}

/// Bumps an ad that has so many writes already.
async fn bump(
    store: &dyn Store,
    ad: &Ad,
    revision: i64,
    number: u128,
    wanted: &Reservation,
) -> Result<Uuid, StoreError> {
    let action = wanted.kind.action();
    let plan = Plan { actions: vec![action], markets: wanted.markets.clone() };
    let mut request = Request::new(id(number), Some(plan), at(500 + i64::try_from(number).unwrap()));
    request.progress.origin.asked_by = Some("token-1".to_owned());
    let revision = Revision {
        ad: ad.id,
        dealer_code: &ad.dealer_code,
        revision,
        content: None,
        quality_score: None,
        price_before: None,
        replaced: None,
        version: None,
        intent: None,
        pole_position_until: None,
        words: StatusWords::default(),
        updated: request.accepted,
        request: &request,
        coalesces: true,
        reservation: Some(wanted),
        answer: None,
    };
    store.revise(revision).await.map(|()| request.id)
}

/// Ends the oldest request of each ad; the marketplaces have confirmed what it promotes.
async fn end(store: &dyn Store, confirmed: Option<&[Market]>) {
    for claimed in claim(store, at(10_000)).await {
        let confirmed = confirmed.map(<[Market]>::to_vec);
        store.record(Record { confirmed, ..record(&claimed, Outcome::Finished) }).await.unwrap();
    }
}

async fn published(store: &dyn Store, number: u128, source_id: &str) -> Ad {
    let ad = ad(number, "north", source_id);
    create(store, &ad).await.unwrap();
    end(store, None).await;
    ad
}

async fn sums(store: &dyn Store) -> MonthlyCharges {
    store.monthly_charges("north", "2026-11".parse().unwrap(), "SEK").await.unwrap()
}

async fn states(store: &dyn Store) -> Vec<(Market, ChargeState)> {
    let charges = store.charges(NORTH, &ChargeQuery::default()).await.unwrap();
    assert_eq!(charges.count, charges.rows.len() as u64);
    charges.rows.into_iter().map(|charge| (charge.marketplace, charge.state)).collect()
}

async fn what_is_reserved_is_charged_or_released(store: &dyn Store) {
    let ad = published(store, 1, "a").await;
    assert_eq!(sums(store).await, MonthlyCharges::default());
    let request = bump(store, &ad, 0, 2001, &reservation(10, None)).await.unwrap();
    assert_eq!(sums(store).await, MonthlyCharges { reserved: amount(20), ..MonthlyCharges::default() });
    let charge = store.charges(NORTH, &ChargeQuery::default()).await.unwrap().rows.pop().unwrap();
    assert_eq!((charge.id, charge.request_id), (format!("{request}:bump:primary"), request));
    assert_eq!((charge.source_id.as_deref(), charge.dealer_code.as_str()), (Some("a"), "north"));
    assert_eq!((charge.amount, charge.currency.as_str(), charge.at), (amount(10), "SEK", at(2501)));
    assert_eq!(charge.asked_by.as_deref(), Some("token-1"));
    // Whoever has lost the lease settles nothing.
    let stale = claim(store, at(10_000)).await.pop().unwrap();
    let later = at(10_000_000);
    let claimed = claim(store, later).await.pop().unwrap();
    let settled = |claimed| Record { confirmed: Some(vec![Market::Primary]), ..record(claimed, Outcome::Finished) };
    assert!(matches!(store.record(settled(&stale)).await, Err(StoreError::LeaseLost)));
    assert_eq!(sums(store).await.reserved, amount(20));
    store.record(settled(&claimed)).await.unwrap();
    let after = MonthlyCharges { spent: amount(10), bumps: 1, ..MonthlyCharges::default() };
    assert_eq!(sums(store).await, after);
    assert_eq!(
        states(store).await,
        [(Market::Secondary, ChargeState::Released), (Market::Primary, ChargeState::Charged)]
    );
    assert!(matches!(store.record(settled(&claimed)).await, Err(StoreError::LeaseLost)));
    assert_eq!(sums(store).await, after);
    // A pole position is counted by itself.
    let pole =
        Reservation { kind: PromotionKind::PolePosition, markets: vec![Market::Primary], ..reservation(3, None) };
    bump(store, &ad, 1, 2002, &pole).await.unwrap();
    end(store, Some(&[Market::Primary])).await;
    assert_eq!(sums(store).await, MonthlyCharges { spent: amount(13), pole_positions: 1, ..after });
}

async fn a_budget_is_kept_with_each_charge(store: &dyn Store) {
    let (ad, other) = (published(store, 1, "a").await, published(store, 2, "b").await);
    let wanted = reservation(10, Some(50));
    bump(store, &ad, 0, 2001, &wanted).await.unwrap();
    // Another one that does the same costs nothing, and says so first.
    let same = bump(store, &ad, 1, 2002, &reservation(10, Some(20))).await;
    assert!(matches!(same, Err(StoreError::Underway(it)) if it == id(2001)), "{same:?}");
    end(store, Some(&wanted.markets)).await;
    bump(store, &ad, 1, 2003, &wanted).await.unwrap();
    for revision in [0, 7] {
        let refused = bump(store, &other, revision, 2004, &wanted).await;
        assert!(matches!(refused, Err(StoreError::BudgetExceeded(left)) if left == amount(10)), "{refused:?}");
    }
    assert_eq!(sums(store).await.reserved, amount(20));
    // What is released can be spent again.
    end(store, Some(&[])).await;
    bump(store, &other, 0, 2005, &wanted).await.unwrap();
    // Exactly the rest.
    end(store, Some(&wanted.markets)).await;
    bump(store, &other, 1, 2006, &reservation(5, Some(50))).await.unwrap();
    // The budget is lowered: nothing is left, but what is free is accepted.
    let refused = bump(store, &ad, 2, 2007, &reservation(1, Some(49))).await;
    assert!(matches!(refused, Err(StoreError::BudgetExceeded(Amount::ZERO))), "{refused:?}");
    bump(store, &ad, 2, 2008, &reservation(0, Some(49))).await.unwrap();
}

async fn of_many_at_once_those_within_the_budget_are_accepted(store: &dyn Store) {
    let mut ads = Vec::new();
    for number in 1..=24 {
        ads.push(published(store, number, &format!("a{number}")).await);
    }
    let wanted = reservation(10, Some(200));
    let bumps = ads.iter().zip(2001..).map(|(ad, number)| {
        let wanted = &wanted;
        async move {
            loop {
                match bump(store, ad, 0, number, wanted).await {
                    Ok(_) => return true,
                    Err(StoreError::BudgetExceeded(left)) => {
                        assert_eq!(left, Amount::ZERO);
                        return false;
                    }
                    // As the service does.
                    Err(StoreError::Conflict) => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
    });
    let accepted = join_all(bumps).await.into_iter().filter(|is_accepted| *is_accepted).count();
    assert_eq!(accepted, 10);
    assert_eq!(sums(store).await.reserved, amount(200));
    end(store, Some(&wanted.markets)).await;
    let after = sums(store).await;
    assert_eq!((after.reserved, after.spent, after.bumps), (Amount::ZERO, amount(200), 20));
}

async fn months_and_currencies_have_sums_of_their_own(store: &dyn Store) {
    let ad = published(store, 1, "a").await;
    let full = reservation(10, Some(20));
    bump(store, &ad, 0, 2001, &full).await.unwrap();
    end(store, Some(&full.markets)).await;
    bump(store, &ad, 1, 2002, &Reservation { currency: "EUR".to_owned(), ..full.clone() }).await.unwrap();
    end(store, Some(&full.markets)).await;
    bump(store, &ad, 2, 2003, &Reservation { month: "2026-12".parse().unwrap(), ..full.clone() }).await.unwrap();
    let of = |month: &str, currency: &'static str| {
        let month = month.parse().unwrap();
        async move { store.monthly_charges("north", month, currency).await.unwrap() }
    };
    assert_eq!(of("2026-11", "SEK").await.spent, amount(20));
    assert_eq!(of("2026-11", "EUR").await.spent, amount(20));
    assert_eq!(of("2026-12", "SEK").await.reserved, amount(20));
    // It is settled in the month of its acceptance.
    end(store, Some(&full.markets)).await;
    assert_eq!(of("2026-12", "SEK").await.spent, amount(20));
    assert_eq!(
        store.monthly_charges("south", "2026-11".parse().unwrap(), "SEK").await.unwrap(),
        MonthlyCharges::default()
    );
}

async fn charges_are_filtered_and_paged(store: &dyn Store) {
    let (one, other) = (published(store, 1, "a").await, published(store, 2, "b").await);
    bump(store, &one, 0, 2001, &reservation(1, None)).await.unwrap();
    end(store, Some(&[Market::Primary])).await;
    let pole =
        Reservation { kind: PromotionKind::PolePosition, markets: vec![Market::Primary], ..reservation(2, None) };
    bump(store, &other, 0, 2002, &pole).await.unwrap();
    let found = async |scope: Scope<'_>, query: ChargeQuery| {
        let page = store.charges(scope, &query).await.unwrap();
        let row = |charge: &ad_core::model::Charge| format!("{} {}", charge.kind, charge.marketplace);
        (page.count, page.rows.iter().map(row).collect::<Vec<_>>())
    };
    let all = ChargeQuery::default;
    let names = |names: &[&str]| (names.len() as u64, names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    assert_eq!(found(NORTH, all()).await, names(&["pole_position primary", "bump secondary", "bump primary"]));
    let kind = Some(PromotionKind::Bump);
    assert_eq!(found(NORTH, ChargeQuery { kind, ..all() }).await, names(&["bump secondary", "bump primary"]));
    let source_id = Some("b".to_owned());
    assert_eq!(found(NORTH, ChargeQuery { source_id, ..all() }).await, names(&["pole_position primary"]));
    let state = Some(ChargeState::Released);
    assert_eq!(found(NORTH, ChargeQuery { state, ..all() }).await, names(&["bump secondary"]));
    let of_second: Timestamp = at(2502);
    assert_eq!(found(NORTH, ChargeQuery { from: Some(of_second), ..all() }).await.0, 1);
    assert_eq!(found(NORTH, ChargeQuery { before: Some(of_second), ..all() }).await.0, 2);
    let page = Page { limit: 1, offset: 1 };
    assert_eq!(found(NORTH, ChargeQuery { page, ..all() }).await, (3, vec!["bump secondary".to_owned()]));
    let page = Page { limit: 1, offset: 9 };
    assert_eq!(found(NORTH, ChargeQuery { page, ..all() }).await, (3, Vec::new()));
    assert_eq!(found(Scope::Dealers(&[]), all()).await, names(&[]));
    assert_eq!(found(Scope::Dealer("south"), all()).await, names(&[]));
}

async fn a_dealer_limits_itself(store: &dyn Store) {
    let ad = published(store, 1, "a").await;
    store.set_own_budget("north", Some(amount(15)), at(1)).await.unwrap();
    assert_eq!(sums(store).await.own, Some(amount(15)));
    for budget in [None, Some(1000)] {
        let refused = bump(store, &ad, 0, 2001, &reservation(10, budget)).await;
        assert!(matches!(refused, Err(StoreError::BudgetExceeded(left)) if left == amount(15)), "{refused:?}");
    }
    store.set_own_budget("north", Some(amount(20)), at(2)).await.unwrap();
    let refused = bump(store, &ad, 0, 2001, &reservation(10, Some(19))).await;
    assert!(matches!(refused, Err(StoreError::BudgetExceeded(left)) if left == amount(19)), "{refused:?}");
    bump(store, &ad, 0, 2001, &reservation(10, None)).await.unwrap();
    store.set_own_budget("north", None, at(3)).await.unwrap();
    assert_eq!(sums(store).await.own, None);
    end(store, Some(&[])).await;
    bump(store, &ad, 1, 2002, &reservation(1000, None)).await.unwrap();
}
