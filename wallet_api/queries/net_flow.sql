-- The tokens that a group traded in a window that ends now, with what it put into each and took out of it.
-- Whole days that are in the longest window alone are read from position_days, the rest from the trades.
-- Needs wallets_by_group, position_days_pkey, trades_by_time, tokens_pkey.
  WITH
{group_wallets},
       traded AS MATERIALIZED (
       SELECT position_days.token_id,
              position_days.wallet_id,
              buy_txn > 0 AS is_buyer,
              sell_txn > 0 AS is_seller,
              invested AS bought,
              sold
         FROM tracked
         JOIN position_days
           ON position_days.wallet_id = tracked.wallet_id
          AND position_days.day >= %(first_day)s
          AND position_days.day < %(end_day)s
        WHERE %(is_longest)s
        UNION ALL
       SELECT within.*
         FROM tracked
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     bool_or(NOT is_sell),
                     bool_or(is_sell),
                     COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0),
                     COALESCE(sum(value) FILTER (WHERE is_sell), 0)
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > GREATEST(span.starts_at, %(since)s)
                 AND created_at <= span.ends_at
               GROUP BY wallet_id, token_id) AS within
       ),
       flow AS (
       SELECT token_id,
              round_half_up(sum(bought), 9) AS buy,
              round_half_up(sum(sold), 9) AS sell,
              round_half_up(sum(bought) - sum(sold), 9) AS net_flow,
              count(DISTINCT wallet_id) FILTER (WHERE is_buyer) AS buyers,
              count(DISTINCT wallet_id) FILTER (WHERE is_seller) AS sellers,
              count(DISTINCT wallet_id) AS wallet_count
         FROM traded
        GROUP BY token_id
       )
SELECT flow.*,
       tokens.mint
  FROM flow
  JOIN tokens
    ON tokens.token_id = flow.token_id
