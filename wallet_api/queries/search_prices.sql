-- The prices of tokens whose newest trades make none, by the newest trades that do; no row for a token without one.
-- The moments of these trades are found first: in the last ten minutes, so that little is read of a token with many
-- trades, then in all of the time that counts. The rest of the order decides between the trades of one moment.
-- Needs native_prices_pkey, trades_by_token, wallets_pkey.
  WITH
{latest_price},
       wanted AS MATERIALIZED (
       SELECT token_id
         FROM unnest(%(token_ids)s::bigint[]) AS wanted (token_id)
       ),
       recent AS MATERIALIZED (
       SELECT wanted.token_id,
              max(trades.created_at) AS created_at
         FROM wanted
        CROSS JOIN latest
         JOIN trades
           ON trades.token_id = wanted.token_id
        WHERE trades.created_at >= GREATEST(%(price_oldest_at)s, %(now)s::timestamptz - interval '10 minutes')
{fits_price}
        GROUP BY wanted.token_id
       ),
       earlier AS MATERIALIZED (
       SELECT wanted.token_id,
              max(trades.created_at) AS created_at
         FROM wanted
        CROSS JOIN latest
         JOIN trades
           ON trades.token_id = wanted.token_id
        WHERE wanted.token_id NOT IN (SELECT token_id
                                        FROM recent)
          AND trades.created_at >= %(price_oldest_at)s
{fits_price}
        GROUP BY wanted.token_id
       ),
       newest AS (
       SELECT *
         FROM recent
        UNION ALL
       SELECT *
         FROM earlier
       )
SELECT DISTINCT ON (newest.token_id)
       newest.token_id,
       small_quotient(COALESCE(trades.exchanged_value, trades.value), trades.token_amount) AS price,
       trades.created_at AS price_at
  FROM newest
 CROSS JOIN latest
  JOIN trades
    ON trades.token_id = newest.token_id
   AND trades.created_at = newest.created_at
{fits_price}
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
 ORDER BY newest.token_id, trades.is_sell DESC, trades.tx_signature DESC, trades.event_index DESC, wallets.address DESC
