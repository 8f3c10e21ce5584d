-- How many trades a group of wallets made in a window, and how many wallets made them: of all tokens, or of one.
-- A wallet whose newest trade is after the window, a few minutes ahead of the clock, counts if it has an earlier one in it.
-- Needs volume_rollup_pkey, lifetimes_by_last_seen, positions_by_token, tokens_blockchain_mint_key, trades_by_time,
-- trades_pkey, wallets_pkey.
{scope},
{window_sums},
       trader AS (
       SELECT lifetimes.wallet_id
         FROM lifetimes
        WHERE %(mint)s::text IS NULL
          AND lifetimes.blockchain = %(blockchain)s
          AND lifetimes.type = ANY (%(types)s::text[])
          AND lifetimes.last_seen > %(since)s
          AND (lifetimes.last_seen <= %(now)s
               OR (SELECT max(trades.created_at)
                     FROM trades
                    WHERE trades.wallet_id = lifetimes.wallet_id
                      AND trades.created_at <= %(now)s) > %(since)s)
        UNION ALL
       SELECT positions.wallet_id
         FROM scope
         JOIN positions
           ON positions.token_id = scope.token_id
         JOIN wallets
           ON wallets.wallet_id = positions.wallet_id
        WHERE wallets.type = ANY (%(types)s::text[])
          AND positions.last_seen > %(since)s
          AND (positions.last_seen <= %(now)s
               OR (SELECT max(trades.created_at)
                     FROM trades
                    WHERE trades.wallet_id = positions.wallet_id
                      AND trades.token_id = positions.token_id
                      AND trades.created_at > %(since)s
                      AND trades.created_at <= %(now)s) IS NOT NULL)
       ),
       counted AS (
       SELECT count(*) AS wallet_count
         FROM trader
       ),
       summed AS (
       SELECT COALESCE(sum(txn), 0)::bigint AS count
         FROM part
       )
SELECT summed.count,
       counted.wallet_count
  FROM summed
 CROSS JOIN counted
