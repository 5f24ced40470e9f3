//! Accounts and charges.

use ad_core::model::{self, Amount, ChargeState, Market, Month, PromotionKind, Timestamp};
use uuid::Uuid;

use super::{Of, answers};

answers! {
    Account = model::Account {
        dealer_code: String,
        currency: String => "ISO 4217 code of all amounts",
        slots: Slots => "How many ads may be live at once",
        month: Of<Month> => "The present month in the dealer's time zone",
        budget: Budget => "What promotions that were ordered this month may cost, and cost",
        prices: PromotionPrices => "What a promotion costs on one marketplace",
        charges: ChargeCounts => "Number of confirmed promotions of this month, one for each marketplace",
    }

    Slots = model::Slots {
        most: Option<u32> => "The maximum; `null`: any number",
        used: Option<u64> => "Number of ads that have a slot; `null` if they are not counted",
    }

    Budget = model::Budget {
        most: Option<Of<Amount>> => "Set by the operator; `null`: no limit",
        own: Option<Of<Amount>> => "Set by the dealer itself; the lower one holds",
        spent: Of<Amount> => "Of confirmed promotions",
        reserved: Of<Amount> => "Of promotions that are not finished",
        left: Option<Of<Amount>> => "What is left; `null` without a limit",
    }

    PromotionPrices = model::PromotionPrices {
        bump: Option<Of<Amount>> => "`null`: nothing is charged",
        pole_position: Option<Of<Amount>> => "`null`: nothing is charged",
    }

    ChargeCounts = model::ChargeCounts {
        bump: u64,
        pole_position: u64,
    }

    Charge = model::Charge {
        id: String => "Request, action and marketplace, as in the idempotency key of the call",
        at: Of<Timestamp> => "When the promotion was accepted; the charge belongs to that month",
        source_id: Option<String> => "`null` once the ad is erased",
        dealer_code: String,
        request_id: Uuid => "The request that promotes the ad",
        kind: Of<PromotionKind>,
        marketplace: Of<Market>,
        amount: Of<Amount>,
        currency: String => "ISO 4217 code of the amount",
        state: Of<ChargeState>,
        asked_by: Option<String> => "Id of the token (`jti`) that ordered it; `null` if that is not recorded",
    }

    OwnBudget {
        own: Option<Of<Amount>> => "The limit for each month; `null` removes it",
    }
}
