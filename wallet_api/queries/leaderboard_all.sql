-- The wallets of a group that ever traded, with the figures of all their trades, in any order.
-- Needs lifetimes_by_last_seen, wallets_pkey, wallet_days_pkey, and what board_entries.sql needs.
  WITH traded AS MATERIALIZED (
       SELECT *
         FROM lifetimes
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
       ),
       summed AS (
       SELECT traded.wallet_id,
              sum(wallet_days.covered_txn) AS covered_txn,
              sum(buys_without_usd + sells_without_usd) AS txn_without_usd,
              sum(covered_without_usd) AS covered_without_usd,
              sum(bought_usd + sold_usd) AS volume_usd,
              sum(bought_without_usd + sold_without_usd) AS volume_without_usd,
              sum(realized_usd) AS realized_usd,
              sum(hold_seconds) AS hold_seconds,
              sum(hold_cost) AS hold_cost
         FROM traded
         JOIN wallet_days
           ON wallet_days.wallet_id = traded.wallet_id
        GROUP BY traded.wallet_id
       ),
       record AS (
       SELECT wallets.address,
              wallets.name,
              wallets.image_url,
              wallets.twitter,
              summed.*,
              buy_txn,
              sell_txn,
              invested,
              sold,
              realized,
              realized_cost,
              best_trade,
              sold_below_zero AS below_zero,
              sold_above_zero_to_100 AS above_zero_to_100,
              sold_above_100_to_500 AS above_100_to_500,
              sold_above_500 AS above_500
         FROM traded
         JOIN wallets
           ON wallets.wallet_id = traded.wallet_id
         JOIN summed
           ON summed.wallet_id = traded.wallet_id
       ),
{board_entries}
