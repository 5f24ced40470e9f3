//! Ads that somebody has marked as sold.

use ad_core::model::Timestamp;

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

    /// Sold ads that are to be deleted, the longest due first.
    DueSales { now: Timestamp, limit: u32 }
    both "SELECT dealer_code, source_id FROM sales WHERE due <= :now ORDER BY due LIMIT :limit";
}
