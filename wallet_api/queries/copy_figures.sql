-- For other statements to include: the figures of a row of copies, of copied.sql, as they are shown. A return on nothing is NULL.
round_half_up(COALESCE(invested, 0), 9) AS invested,
round_half_up(COALESCE(realized, 0), 9) AS realized_pnl,
round_half_up(COALESCE(fees, 0), 9) AS fees,
round_half_up(COALESCE(unrealized, 0), 9) AS unrealized_pnl,
round_half_up(COALESCE(unpriced_cost, 0), 9) AS unpriced_cost,
round_half_up(quotient(100 * (realized + unrealized), NULLIF(invested, 0)), 4) AS return_percent,
round_half_up(quotient(100 * its_gain, NULLIF(its_invested, 0)), 4) AS wallet_return_percent,
round_half_up(quotient(100 * all_gain, NULLIF(all_invested, 0)), 4) AS wallet_return_percent_all,
COALESCE(followed, 0) AS followed,
COALESCE(not_followed, 0) AS not_followed,
round_half_up(COALESCE(not_followed_value, 0), 9) AS not_followed_value,
COALESCE(stuck, 0) AS stuck
