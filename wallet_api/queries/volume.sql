-- What a group of wallets traded in a window: sums over the buckets that cover it exactly.
-- Needs tokens_blockchain_mint_key, and what window_sums.sql and latest_price.sql need.
{scope},
{window_sums},
{latest_price},
       total AS (
       SELECT
{ledger.volumes: COALESCE(sum($), 0) AS $}
         FROM part
       )
SELECT round_half_up(volume, 9) AS volume,
       -- A trade without a dollar value counts with the latest native price.
       round_half_up(dollars(volume_usd, volume_without_usd, txn, txn_without_usd, latest.usd), 4) AS volume_usd,
       txn_without_usd > 0 AND txn_without_usd < txn AND latest.usd IS NULL AS is_partly_priced
  FROM total
 CROSS JOIN latest
