//! Ads that somebody has marked as sold.

use ad_core::model::Timestamp;
use uuid::Uuid;

use crate::statement::statements;

statements! {
    /// Notes when a sold ad is to be deleted.
    AddSale<'a> { dealer_code: &'a str, source_id: &'a str, due: Timestamp }
    both "
        INSERT INTO sales (dealer_code, source_id, due) VALUES (:dealer_code, :source_id, :due)
        ON CONFLICT (dealer_code, source_id) DO UPDATE SET due = excluded.due";

    /// Forgets that an ad is sold.
    RemoveSale<'a> { dealer_code: &'a str, source_id: &'a str }
    both "DELETE FROM sales WHERE dealer_code = :dealer_code AND source_id = :source_id";

    /// When an ad is to be deleted, if it is sold.
    SaleOf<'a> { dealer_code: &'a str, source_id: &'a str }
    both "SELECT due FROM sales WHERE dealer_code = :dealer_code AND source_id = :source_id";

    /// Dealer and source id of the hidden ads of dealers that are sold, some at most.
    SoldAds { dealer_codes: Vec<String>, limit: u32 }
    sqlite "
        SELECT ads.dealer_code, ads.source_id
        FROM sales JOIN ads ON ads.dealer_code = sales.dealer_code AND ads.source_id = sales.source_id
        WHERE sales.dealer_code IN (SELECT value FROM json_each(:dealer_codes)) AND ads.status = 'hidden' LIMIT :limit"
    postgres "
        SELECT ads.dealer_code, ads.source_id
        FROM sales JOIN ads ON ads.dealer_code = sales.dealer_code AND ads.source_id = sales.source_id
        WHERE sales.dealer_code = ANY(:dealer_codes) AND ads.status = 'hidden' LIMIT :limit";

    /// Dealer and source id of the hidden ads of dealers that were never listed and are not sold, some at most.
    DraftAds { dealer_codes: Vec<String>, limit: u32 }
    sqlite "
        SELECT dealer_code, source_id FROM ads INDEXED BY ads_status
        WHERE dealer_code IN (SELECT value FROM json_each(:dealer_codes)) AND status = 'hidden'
            AND marketplace_ad_id IS NULL AND offer_id IS NULL AND NOT EXISTS (
                SELECT 1 FROM sales WHERE sales.dealer_code = ads.dealer_code AND sales.source_id = ads.source_id)
        LIMIT :limit"
    postgres "
        SELECT dealer_code, source_id FROM ads
        WHERE dealer_code = ANY(:dealer_codes) AND status = 'hidden'
            AND marketplace_ad_id IS NULL AND offer_id IS NULL AND NOT EXISTS (
                SELECT 1 FROM sales WHERE sales.dealer_code = ads.dealer_code AND sales.source_id = ads.source_id)
        LIMIT :limit";

    /// Sold ads that are to be deleted, the longest due first.
    DueSales { now: Timestamp, limit: u32 }
    both "SELECT dealer_code, source_id FROM sales WHERE due <= :now ORDER BY due LIMIT :limit";

    /// Notes that the ads which a stock plan hides are sold.
    AddSoldPlan { plan: Uuid, now: Timestamp }
    both "INSERT INTO sold_plans (plan, at, settled) VALUES (:plan, :now, false) ON CONFLICT (plan) DO NOTHING";

    /// Whether the ads which a stock plan hides are sold.
    IsSoldPlan { plan: Uuid }
    both "SELECT EXISTS (SELECT 1 FROM sold_plans WHERE plan = :plan)";

    /// Whether some plans have to be looked at.
    AreSoldPlansOpen {}
    both "SELECT EXISTS (SELECT 1 FROM sold_plans WHERE NOT settled)";

    /// Notes the ads that such plans have hidden, unless somebody has shown them again.
    AddSalesOfPlans { due: Timestamp }
    both "
        INSERT INTO sales (dealer_code, source_id, due)
        SELECT change.dealer_code, change.source_id, :due
        FROM sold_plans JOIN stock_plans ON stock_plans.id = sold_plans.plan
            JOIN stock_changes AS change ON change.plan = stock_plans.seq
            JOIN ads ON ads.dealer_code = change.dealer_code AND ads.source_id = change.source_id
        WHERE NOT sold_plans.settled AND change.kind = 'hide' AND change.outcome = 'done' AND ads.status = 'hidden'
        ON CONFLICT (dealer_code, source_id) DO NOTHING";

    /// The plans that have ended, and whose requests have.
    SettleSoldPlans { before: Timestamp }
    both "
        UPDATE sold_plans SET settled = true
        WHERE NOT settled AND at <= :before AND NOT EXISTS (
            SELECT 1 FROM stock_plans
            WHERE stock_plans.id = sold_plans.plan AND (state IN ('computing', 'ready', 'applying') OR EXISTS (
                SELECT 1 FROM stock_changes AS change
                WHERE change.plan = stock_plans.seq AND change.kind = 'hide' AND change.outcome = 'accepted')))";

    /// Removes what is known of plans that are gone.
    ForgetSoldPlans {}
    both "DELETE FROM sold_plans WHERE settled AND NOT EXISTS (SELECT 1 FROM stock_plans WHERE stock_plans.id = sold_plans.plan)";
}
