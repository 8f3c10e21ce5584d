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
              small_quotient(trade.value, trade.token_amount) AS price
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
       emptied AS (
       DELETE FROM token_prices
        USING changed
        WHERE token_prices.token_id = changed.token_id
          AND NOT EXISTS (SELECT FROM newest
                           WHERE newest.token_id = token_prices.token_id)
       RETURNING token_prices.token_id
       ),
       kept AS (
       INSERT INTO token_prices AS kept (token_id, created_at, value, value_usd, price)
       SELECT token_id, created_at, value, value_usd, price
         FROM newest
           ON CONFLICT (token_id) DO UPDATE
          SET created_at = excluded.created_at,
              value = excluded.value,
              value_usd = excluded.value_usd,
              price = excluded.price
        WHERE (kept.created_at, kept.value, kept.value_usd, kept.price)
              IS DISTINCT FROM
              (excluded.created_at, excluded.value, excluded.value_usd, excluded.price)
       RETURNING kept.token_id
       )
SELECT (SELECT count(*)
          FROM emptied)
       + (SELECT count(*)
            FROM kept) AS changed
