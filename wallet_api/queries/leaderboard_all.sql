-- The wallets of a group that ever traded, with the figures of all their trades, in any order.
-- Needs lifetimes_by_last_seen, wallet_days_pkey, and what board_entries.sql needs.
  WITH sold AS (
       SELECT wallet_id,
              day::timestamp AT TIME ZONE 'UTC' AS moment,
              realized
         FROM wallet_days
        -- An array, so that the days of each wallet are found by the key, and none of other groups is read.
        WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                       FROM lifetimes
                                      WHERE blockchain = %(blockchain)s
                                        AND type = ANY (%(types)s::text[])))
          AND %(step_seconds)s::bigint IS NOT NULL
       ),
{board_charts},
       record AS (
       SELECT lifetimes.wallet_id,
{ledger.sums: $},
              best_trade,
              open_cost,
              open_cost_usd,
              open_without_usd,
              losses,
              best_token,
              max_drawdown,
              active_days,
              chart_places,
              chart_profits,
              invested AS ever_invested,
              sold_below_zero AS below_zero,
              sold_above_zero_to_100 AS above_zero_to_100,
              sold_above_100_to_500 AS above_100_to_500,
              sold_above_500 AS above_500
         FROM lifetimes
         LEFT JOIN charted
           ON charted.wallet_id = lifetimes.wallet_id
        WHERE lifetimes.blockchain = %(blockchain)s
          AND lifetimes.type = ANY (%(types)s::text[])
       ),
{board_entries}
