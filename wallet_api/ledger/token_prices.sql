-- Keep the newest trade with a value above 0 of each of these tokens, in the order of the feed. Return how many rows of
-- token_prices have changed.
-- The trades are read in the order of the index alone, so that no more is read than is kept, whatever the plan; with
-- all trades of the last moment, for the rest of the order decides between these.
-- Needs trades_by_token, wallets_pkey, token_prices_pkey.
  WITH changed AS (
       SELECT token_id
         FROM unnest(%(token_ids)s::bigint[]) AS changed (token_id)
       ),
       newest AS MATERIALIZED (
       SELECT changed.token_id,
              trade.created_at,
              trade.value,
              trade.value_usd,
              small_quotient(COALESCE(trade.exchanged_value, trade.value), trade.token_amount) AS price
         FROM changed
        CROSS JOIN LATERAL (
              SELECT recent.*
                FROM (SELECT *
                        FROM trades
                       WHERE trades.token_id = changed.token_id
                         AND trades.value > 0
                       ORDER BY trades.created_at DESC
                       FETCH FIRST 1 ROW WITH TIES) AS recent
                JOIN wallets
                  ON wallets.wallet_id = recent.wallet_id
               ORDER BY recent.is_sell DESC, recent.tx_signature DESC, recent.event_index DESC, wallets.address DESC
               LIMIT 1) AS trade
       ),
{kept_prices}
SELECT (SELECT count(*)
          FROM emptied)
       + (SELECT count(*)
            FROM kept) AS changed
