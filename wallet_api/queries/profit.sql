-- For other statements to include: what is shown of the profit of sums (ledger/sums.sql). Dollars are NULL if those of a covered sell
-- are unknown.
round_half_up(realized, 9) AS realized_pnl,
CASE WHEN covered_without_usd = 0 THEN round_half_up(realized_usd, 4) END AS realized_pnl_usd,
percentage(realized, realized_cost) AS realized_pnl_percentage,
round_half_up(sold - realized - realized_cost, 9) AS sold_without_cost
