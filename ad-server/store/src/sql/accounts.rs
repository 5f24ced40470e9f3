//! Charges, their sums, and the limits that dealers set themselves. The statements of ads and of the queue add charges and settle them.

use ad_core::model::Timestamp;

use crate::statement::statements;

statements! {
    /// The sums of a dealer's charges in a month and currency, and its own limit.
    MonthlyCharges<'a> { dealer_code: &'a str, month: String, currency: &'a str }
    both "
        SELECT amount - spent - released, spent, bumps, pole_positions, (SELECT own FROM own_budgets WHERE dealer_code = :dealer_code)
        FROM (
            SELECT CAST(coalesce(sum(amount), 0) AS BIGINT) AS amount
            FROM accounts WHERE dealer_code = :dealer_code AND month = :month AND currency = :currency
        ) AS accepted CROSS JOIN (
            SELECT CAST(coalesce(sum(spent), 0) AS BIGINT) AS spent, CAST(coalesce(sum(released), 0) AS BIGINT) AS released,
                CAST(coalesce(sum(bumps), 0) AS BIGINT) AS bumps, CAST(coalesce(sum(pole_positions), 0) AS BIGINT) AS pole_positions
            FROM settled_accounts WHERE dealer_code = :dealer_code AND month = :month AND currency = :currency
        ) AS settled";

    /// A page of the charges of dealers, newest first, each with the number of all and its place.
    ChargesOfDealers<'a> {
        dealers: Vec<String>, from: Option<Timestamp>, before: Option<Timestamp>, kind: Option<&'a str>, source_id: Option<&'a str>,
        state: Option<&'a str>, limit: u32, offset: u64,
    }
    sqlite "
        WITH matching AS NOT MATERIALIZED (
            SELECT * FROM charges
            WHERE dealer_code IN (SELECT value FROM json_each(:dealers)) AND (:from IS NULL OR at >= :from)
                AND (:before IS NULL OR at < :before) AND (:kind IS NULL OR kind = :kind)
                AND (:source_id IS NULL OR source_id = :source_id) AND (:state IS NULL OR state = :state)
        )
        SELECT (SELECT count(*) FROM matching), -seq, at, source_id, dealer_code, request_id, kind, marketplace, amount, currency,
            state, asked_by
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT * FROM matching ORDER BY seq DESC LIMIT :limit OFFSET :offset
        ) AS page ON true"
    postgres "
        WITH matching AS NOT MATERIALIZED (
            SELECT * FROM charges
            WHERE dealer_code = ANY (:dealers) AND (:from IS NULL OR at >= :from) AND (:before IS NULL OR at < :before)
                AND (:kind IS NULL OR kind = :kind) AND (:source_id IS NULL OR source_id = :source_id)
                AND (:state IS NULL OR state = :state)
        )
        SELECT (SELECT count(*) FROM matching), -seq, at, source_id, dealer_code, request_id, kind, marketplace, amount, currency,
            state, asked_by
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT * FROM matching ORDER BY seq DESC LIMIT :limit OFFSET :offset
        ) AS page ON true";

    /// The newest charges of a dealer in a month: sums by quarters of an hour, kind, state and currency, with their number and the oldest time.
    ChargesByQuarter<'a> { dealer_code: &'a str, month: String, most: u32 }
    both "
        SELECT quarter, kind, state, currency, CAST(sum(amount) AS BIGINT), count(*), min(at)
        FROM (
            SELECT at, at / 900000 AS quarter, kind, state, currency, amount FROM charges
            WHERE month = :month AND dealer_code = :dealer_code ORDER BY seq DESC LIMIT :most
        ) AS newest
        GROUP BY quarter, kind, state, currency";

    /// A page of those of these charges that match, newest first, each with the number of all and its place.
    NewestCharges<'a> {
        dealer_code: &'a str, month: String, most: u32, kind: Option<&'a str>, any_ad: bool, source_ids: Vec<String>, limit: u32,
        offset: u64,
    }
    sqlite "
        WITH matching AS (
            SELECT * FROM (
                SELECT * FROM charges WHERE month = :month AND dealer_code = :dealer_code ORDER BY seq DESC LIMIT :most
            ) AS newest
            WHERE (:kind IS NULL OR kind = :kind) AND (:any_ad OR source_id IN (SELECT value FROM json_each(:source_ids)))
        )
        SELECT (SELECT count(*) FROM matching), -seq, at, source_id, dealer_code, request_id, kind, marketplace, amount, currency,
            state, asked_by
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT * FROM matching ORDER BY seq DESC LIMIT :limit OFFSET :offset
        ) AS page ON true"
    postgres "
        WITH matching AS (
            SELECT * FROM (
                SELECT * FROM charges WHERE month = :month AND dealer_code = :dealer_code ORDER BY seq DESC LIMIT :most
            ) AS newest
            WHERE (:kind IS NULL OR kind = :kind) AND (:any_ad OR source_id = ANY (:source_ids))
        )
        SELECT (SELECT count(*) FROM matching), -seq, at, source_id, dealer_code, request_id, kind, marketplace, amount, currency,
            state, asked_by
        FROM (SELECT 1) AS one LEFT JOIN (
            SELECT * FROM matching ORDER BY seq DESC LIMIT :limit OFFSET :offset
        ) AS page ON true";

    /// The charges of a month, by dealers and in their order.
    ChargesOfMonth { month: String }
    both "
        SELECT at, source_id, dealer_code, request_id, kind, marketplace, amount, currency, state, asked_by
        FROM charges WHERE month = :month ORDER BY dealer_code, seq";

    /// Sets the limit that a dealer sets itself.
    SetOwnBudget<'a> { dealer_code: &'a str, own: i64, changed: Timestamp }
    both "
        INSERT INTO own_budgets (dealer_code, own, changed) VALUES (:dealer_code, :own, :changed)
        ON CONFLICT (dealer_code) DO UPDATE SET own = excluded.own, changed = excluded.changed";

    /// Removes that limit.
    RemoveOwnBudget<'a> { dealer_code: &'a str }
    both "DELETE FROM own_budgets WHERE dealer_code = :dealer_code";
}
