//! Examples of accounts and charges.

use ad_core::model::{
    Account, Amount, Charge, ChargeState, Dealer, Market, Month, MonthlyCharges, PromotionKind, Tariff,
};
use serde_json::{Value, json};

use super::examples::{self, DEALER, REQUEST};

/// Id of a token.
const TOKEN: &str = "01905b1c-6a52-7000-8000-000000000008";

/// Examples by name, with what they are of.
pub(super) fn examples() -> [(&'static str, &'static str, Value); 4] {
    let account = account();
    [
        ("Account", "A dealer with a budget", json!(account)),
        ("Accounts", "A dealer with a budget", json!(account)),
        ("ChargePage", "A bump", examples::page(&json!([charge()]))),
        ("OwnBudget", "A limit of 1000 in each month", json!({"own": 1000})),
    ]
}

fn account() -> Account {
    let whole = |amount: i64| Amount::from_hundredths(amount * 100);
    let price = Amount::from_hundredths(2950);
    let tariff =
        Tariff { bump: Some(price), pole_position: Some(whole(199)), slots: Some(40), budget: Some(whole(1500)) };
    let dealer = Dealer { tariff: Some(tariff), ..Dealer::named(DEALER) };
    let charges = MonthlyCharges { spent: price, bumps: 1, own: Some(whole(1000)), ..MonthlyCharges::default() };
    let mut account = Account::new(&dealer, Month::of(examples::now(), &dealer.time_zone()), &charges);
    account.slots.used = Some(17);
    account
}

pub(super) fn charge() -> Charge {
    Charge {
        id: format!("{REQUEST}:bump:primary"),
        at: examples::now(),
        source_id: Some("car-1001".to_owned()),
        dealer_code: DEALER.to_owned(),
        request_id: REQUEST,
        kind: PromotionKind::Bump,
        marketplace: Market::Primary,
        amount: Amount::from_hundredths(2950),
        currency: "SEK".to_owned(),
        state: ChargeState::Charged,
        asked_by: Some(TOKEN.to_owned()),
    }
}
