-- A wallet's record in a span of hours, which no whole day fits into: its sums and its chart are those of its trades.
-- Needs trades_by_time, and what tracker.sql needs.
  WITH summed AS (
       SELECT token_id,
{ledger.position_sums}
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          AND created_at > %(since)s
          AND created_at <= %(until)s
        GROUP BY token_id
       ),
       profit_part AS (
       SELECT created_at AS moment,
              realized,
              realized_usd
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          AND created_at > %(since)s
          AND created_at <= %(until)s
          AND realized_cost IS NOT NULL
       ),
{tracker}
