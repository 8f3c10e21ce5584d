-- Sums over the trades of candidates that were walked, in the temporary tables of an import: their own trades
-- in the given tokens, and no row of the ledger.

-- positions --
SELECT wallet_id,
       token_id,
{ledger.sums},
       min(created_at) FILTER (WHERE NOT is_sell) AS first_buy,
       bool_or(is_last AND still_held(quantity_after, peak_after)) AS is_held,
       COALESCE(sum(quantity_after) FILTER (WHERE is_last), 0) AS held
  FROM walked
 GROUP BY wallet_id, token_id
 ORDER BY wallet_id, token_id;

-- wallets --
-- Those that won in most of the tokens in which they were early come first, so that one hit ranks nobody
-- above them.
  WITH early AS (
       SELECT *
         FROM unnest(%(wallet_ids)s::bigint[], %(token_ids)s::bigint[]) AS early (wallet_id, token_id)
       ),
       positions AS (
       SELECT wallet_id,
              token_id,
{ledger.sums},
              bool_or(is_last AND still_held(quantity_after, peak_after)) AS is_held
         FROM walked
        GROUP BY wallet_id, token_id
       )
SELECT positions.wallet_id,
       count(early.token_id) AS early_in,
       count(early.token_id) FILTER (WHERE realized > 0) AS won,
       count(*) AS tokens,
       count(*) FILTER (WHERE is_held) AS still_holding,
       count(*) FILTER (WHERE tokens_without_cost > 0) AS sold_unbought,
{ledger.sums: sum($) AS $}
  FROM positions
  LEFT JOIN early
    ON early.wallet_id = positions.wallet_id
   AND early.token_id = positions.token_id
 GROUP BY positions.wallet_id
 ORDER BY won DESC, realized DESC, early_in DESC, positions.wallet_id DESC;
