-- A wallet's record of all time: its sums in each token are those of positions, and its chart is drawn from wallet_days.
-- Needs positions_pkey, wallet_days_pkey, and what tracker.sql needs.
  WITH summed AS (
       SELECT token_id,
{ledger.position_sums: $}
         FROM positions
        WHERE wallet_id = %(wallet_id)s
       ),
       profit_part AS (
       SELECT day::timestamp AT TIME ZONE 'UTC' AS moment,
              realized,
              realized_usd
         FROM wallet_days
        WHERE wallet_id = %(wallet_id)s
          AND covered_txn > 0
       ),
{tracker}
