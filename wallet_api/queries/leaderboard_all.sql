-- The wallets of a group that ever traded, with the figures of all their trades, in any order.
-- Needs lifetimes_by_last_seen, wallets_pkey, and what board_entries.sql needs.
  WITH record AS (
       SELECT wallets.address,
              wallets.name,
              wallets.image_url,
              wallets.twitter,
              buy_txn,
              sell_txn,
              covered_txn,
              buys_without_usd + sells_without_usd AS txn_without_usd,
              covered_without_usd,
              invested,
              sold,
              invested_usd + sold_usd AS volume_usd,
              invested_without_usd + sold_without_usd AS volume_without_usd,
              realized,
              realized_cost,
              realized_usd,
              hold_seconds,
              hold_cost,
              best_trade,
              sold_below_zero AS below_zero,
              sold_above_zero_to_100 AS above_zero_to_100,
              sold_above_100_to_500 AS above_100_to_500,
              sold_above_500 AS above_500
         FROM lifetimes
         JOIN wallets
           ON wallets.wallet_id = lifetimes.wallet_id
        WHERE lifetimes.blockchain = %(blockchain)s
          AND lifetimes.type = %(type)s
       ),
{board_entries}
