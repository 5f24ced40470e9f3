//! What promotions cost: reserved when they are accepted, charged when they are confirmed, never beyond the budget (extensions E9).

use std::time::Duration;

use ad_core::{
    model::{
        Account, Amount, Charge, ChargeQuery, ChargeState, Dealer, Exclusions, Market, PromotionKind, Tariff, Timestamp,
    },
    ports::MarketplaceError,
    service::ServiceError,
    violation::Code,
};
use serde_json::json;

use crate::support::{DEALER, House, access, car, dealer, with};

const NONE: Exclusions = Exclusions { primary: false, secondary: false };
const NO_SECONDARY: Exclusions = Exclusions { primary: false, secondary: true };

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn tariff() -> Tariff {
    Tariff {
        bump: Some(amount("29.5")),
        pole_position: Some(amount("199")),
        budget: Some(amount("300")),
        ..Tariff::default()
    }
}

fn agreed(house: &House, tariff: Tariff) {
    house.kit.directory.put(Dealer { tariff: Some(tariff), ..dealer() });
}

/// A published car of a dealer with a tariff.
async fn house() -> House {
    let (house, _) = House::with("car", car()).await;
    agreed(&house, tariff());
    house
}

async fn account(house: &House) -> Account {
    house.kit.service.account(DEALER).await.unwrap()
}

/// Spent, reserved and left.
async fn sums(house: &House) -> [String; 3] {
    let budget = account(house).await.budget;
    let left = budget.left.map_or_else(|| "any".to_owned(), |left| left.to_string());
    [budget.spent.to_string(), budget.reserved.to_string(), left]
}

async fn charges(house: &House) -> Vec<Charge> {
    house.kit.service.charges(&access(), &ChargeQuery::default()).await.unwrap().rows
}

async fn states(house: &House) -> Vec<(PromotionKind, Market, ChargeState)> {
    charges(house).await.into_iter().map(|it| (it.kind, it.marketplace, it.state)).collect()
}

/// The code and the text of a refusal.
fn refusal<T: std::fmt::Debug>(result: Result<T, ServiceError>) -> (Code, String) {
    match result {
        Err(ServiceError::Refused(mut denials)) if denials.len() == 1 => {
            let denial = denials.remove(0);
            (denial.code, denial.text)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_bump_is_reserved_then_charged_on_each_marketplace() {
    let house = house().await;
    house.bump("car-1", NONE).await.unwrap();
    assert_eq!(sums(&house).await, ["0", "59", "241"]);
    house.run().await;
    assert_eq!(sums(&house).await, ["59", "0", "241"]);
    assert_eq!(account(&house).await.charges.bump, 2);
    let [second, first] = &charges(&house).await[..] else { panic!("two charges") };
    assert_eq!((first.marketplace, second.marketplace), (Market::Primary, Market::Secondary));
    assert_eq!((first.amount, first.currency.as_str(), first.state), (amount("29.5"), "SEK", ChargeState::Charged));
    assert_eq!(first.id, format!("{}:bump:primary", first.request_id));
    assert_eq!(first.source_id.as_deref(), Some("car-1"));
}

#[tokio::test]
async fn what_a_marketplace_refuses_is_released() {
    let house = house().await;
    house.kit.secondary.fail_next(MarketplaceError::refused("no"));
    house.bump("car-1", NONE).await.unwrap();
    house.run().await;
    assert_eq!(sums(&house).await, ["29.50", "0", "270.50"]);
    let charge = |market, state| (PromotionKind::Bump, market, state);
    let [released, paid] =
        [charge(Market::Secondary, ChargeState::Released), charge(Market::Primary, ChargeState::Charged)];
    assert_eq!(states(&house).await, [released, paid]);
    // A retry repeats what failed, and so costs the rest.
    house.retry("car-1").await.unwrap();
    assert_eq!(sums(&house).await, ["29.50", "29.50", "241"]);
    house.run().await;
    assert_eq!(sums(&house).await, ["59", "0", "241"]);
    // Nothing is left to be repeated.
    house.retry("car-1").await.unwrap();
    house.run().await;
    assert_eq!(sums(&house).await, ["59", "0", "241"]);
    assert_eq!(charges(&house).await.len(), 3);
}

#[tokio::test]
async fn a_retry_promotes_only_what_it_has_reserved() {
    let house = house().await;
    house.bump("car-1", NO_SECONDARY).await.unwrap();
    // Accepted before the bump has failed.
    house.retry("car-1").await.unwrap();
    house.kit.primary.fail_next(MarketplaceError::refused("no"));
    house.run().await;
    assert_eq!(sums(&house).await, ["0", "0", "300"], "{:?}", charges(&house).await);
    let bumps =
        house.kit.primary.calls().iter().filter(|call| call.operation == ad_core::memory::Operation::Bump).count();
    assert_eq!(bumps, 0);
}

#[tokio::test]
async fn the_budget_of_the_month_is_never_exceeded() {
    let house = house().await;
    for _ in 0..5 {
        house.bump("car-1", NONE).await.unwrap();
        house.run().await;
    }
    let (code, text) = refusal(house.bump("car-1", NONE).await);
    assert_eq!(code, Code::BudgetExceeded);
    assert_eq!(text, "Bump costs 59 SEK, and 5 SEK of the budget for 2026-01 are left");
    let (code, text) = refusal(house.pole_position("car-1").await);
    assert_eq!(code, Code::BudgetExceeded);
    assert_eq!(text, "Pole position costs 199 SEK, and 5 SEK of the budget for 2026-01 are left");
    assert_eq!(sums(&house).await, ["295", "0", "5"]);
    // The next month has a budget of its own.
    house.clock.advance(Duration::from_hours(31 * 24));
    house.pole_position("car-1").await.unwrap();
    house.run().await;
    assert_eq!(sums(&house).await, ["199", "0", "101"]);
    assert_eq!(account(&house).await.month.to_string(), "2026-02");
}

#[tokio::test]
async fn a_promotion_belongs_to_the_month_in_which_it_was_accepted() {
    let house = house().await;
    let last: Timestamp = "2026-01-31T22:59:59Z".parse().unwrap();
    house.clock.advance(last - house.clock_now());
    house.kit.primary.fail_next(MarketplaceError::unreachable("away", None));
    house.bump("car-1", NO_SECONDARY).await.unwrap();
    house.run_to_the_end().await;
    // In Stockholm, February has begun.
    assert_eq!(account(&house).await.month.to_string(), "2026-02");
    assert_eq!(sums(&house).await, ["0", "0", "300"]);
    assert_eq!(charges(&house).await[0].state, ChargeState::Charged);
}

#[tokio::test]
async fn the_lower_limit_holds() {
    let house = house().await;
    let access = access();
    let own = |own| house.kit.service.set_own_budget(&access, None, own);
    assert_eq!(own(Some(amount("100"))).await.unwrap().budget.left, Some(amount("100")));
    house.bump("car-1", NONE).await.unwrap();
    house.run().await;
    assert_eq!(
        refusal(house.bump("car-1", NONE).await).1,
        "Bump costs 59 SEK, and 41 SEK of the budget for 2026-01 are left"
    );
    // A limit of the dealer does not raise that of the operator.
    assert_eq!(own(Some(amount("5000"))).await.unwrap().budget.left, Some(amount("241")));
    assert_eq!(
        own(None).await.unwrap().budget,
        ad_core::model::Budget {
            most: Some(amount("300")),
            own: None,
            spent: amount("59"),
            reserved: Amount::ZERO,
            left: Some(amount("241")),
        }
    );
    // A budget that is lowered below what was spent leaves nothing.
    agreed(&house, Tariff { budget: Some(amount("10")), ..tariff() });
    assert_eq!(sums(&house).await, ["59", "0", "0"]);
}

#[tokio::test]
async fn the_budget_may_change_while_something_is_reserved() {
    let house = house().await;
    house.bump("car-1", NONE).await.unwrap();
    agreed(&house, Tariff { budget: Some(amount("1")), bump: Some(amount("1000")), ..tariff() });
    house.run().await;
    assert_eq!(sums(&house).await, ["59", "0", "0"], "charged at the price of its acceptance");
    // Without a tariff, nothing is charged any more.
    house.kit.directory.put(dealer());
    house.bump("car-1", NONE).await.unwrap();
    house.run().await;
    assert_eq!(sums(&house).await, ["59", "0", "any"]);
    // Another currency has sums of its own.
    house.kit.directory.put(Dealer { currency: "EUR".into(), tariff: Some(tariff()), ..dealer() });
    house.bump("car-1", NONE).await.unwrap();
    house.run().await;
    assert_eq!(sums(&house).await, ["59", "0", "241"]);
    assert_eq!(charges(&house).await.len(), 4);
}

#[tokio::test]
async fn a_promotion_that_coalesces_costs_nothing() {
    let house = house().await;
    house.bump("car-1", NONE).await.unwrap();
    house.bump("car-1", NONE).await.unwrap();
    assert_eq!(sums(&house).await, ["0", "59", "241"]);
    agreed(&house, Tariff { budget: Some(amount("59")), ..tariff() });
    house.bump("car-1", NONE).await.unwrap();
    house.run().await;
    assert_eq!(sums(&house).await, ["59", "0", "0"]);
}

#[tokio::test]
async fn a_request_that_is_given_up_or_whose_ad_is_deleted_costs_nothing() {
    let house = house().await;
    house.bump("car-1", NONE).await.unwrap();
    let now = house.clock_now();
    let claimed =
        house.kit.pipeline.ports().store.claim(now, now + Duration::from_secs(10), 1.into()).await.unwrap().claimed;
    house.kit.pipeline.give_up(claimed.into_iter().next().unwrap(), "dropped").await.unwrap();
    assert_eq!(sums(&house).await, ["0", "0", "300"]);
    house.delete("car-1").await.unwrap();
    house.run().await;
    assert!(house.bump("car-1", NONE).await.is_err());
    assert_eq!(sums(&house).await, ["0", "0", "300"]);
}

#[tokio::test]
async fn charges_are_filtered() {
    let house = house().await;
    let other = with(&car(), json!({"source_id": "car-2", "category_fields": {"registration_number": "DEF456"}}));
    house.create("car", other).await.unwrap();
    house.run().await;
    house.bump("car-1", NO_SECONDARY).await.unwrap();
    house.run().await;
    house.clock.advance(Duration::from_hours(1));
    let later = house.clock_now();
    house.pole_position("car-2").await.unwrap();
    let found = |query: ChargeQuery| {
        let house = &house;
        async move {
            let page = house.kit.service.charges(&access(), &query).await.unwrap();
            assert_eq!(page.count, page.rows.len() as u64);
            page.rows.into_iter().map(|it| it.kind.name()).collect::<Vec<_>>()
        }
    };
    let all = ChargeQuery::default;
    assert_eq!(found(all()).await, ["pole_position", "bump"]);
    assert_eq!(found(ChargeQuery { kind: Some(PromotionKind::Bump), ..all() }).await, ["bump"]);
    assert_eq!(found(ChargeQuery { source_id: Some("car-2".into()), ..all() }).await, ["pole_position"]);
    assert_eq!(found(ChargeQuery { state: Some(ChargeState::Charged), ..all() }).await, ["bump"]);
    assert_eq!(found(ChargeQuery { from: Some(later), ..all() }).await, ["pole_position"]);
    assert_eq!(found(ChargeQuery { before: Some(later), ..all() }).await, ["bump"]);
    assert_eq!(found(ChargeQuery { state: Some(ChargeState::Released), ..all() }).await, [""; 0]);
}
