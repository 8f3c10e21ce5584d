-- Store the newest trade of each token of `priced`, in the order of the feed, whose value is above 0, and its exchanged_value,
-- if it is known, as well: it makes the token's price. It is looked up at one instant, since a LIMIT for each token cannot be sharded.

-- analyze_priced --
ANALYZE priced;

-- newest --
-- The newest trades at the instants that are expected. Needs trades_by_token, wallets_pkey, token_prices_pkey.
INSERT INTO newest
  WITH instant AS MATERIALIZED (
       SELECT priced.token_id,
              GREATEST(priced.newest_at, token_prices.created_at) AS newest_at
         FROM priced
         LEFT JOIN token_prices
           ON token_prices.token_id = priced.token_id
       )
{newest_trades};

-- searched --
-- Where there is none, since it was removed or corrected: the newest of all trades. Needs trades_by_token, wallets_pkey.
INSERT INTO newest
  WITH missing AS MATERIALIZED (
       SELECT token_id
         FROM priced
        WHERE token_id NOT IN (SELECT token_id
                                 FROM newest)
       ),
       instant AS MATERIALIZED (
       SELECT trades.token_id,
              max(trades.created_at) AS newest_at
         FROM missing
         JOIN trades
           ON trades.token_id = missing.token_id
        WHERE trades.value > 0
          AND trades.exchanged_value IS DISTINCT FROM 0
        GROUP BY trades.token_id
       )
{newest_trades};

-- worthless --
-- Needs token_prices_pkey.
DELETE FROM token_prices
 USING (SELECT token_id
          FROM priced
         WHERE token_id NOT IN (SELECT token_id
                                  FROM newest)) AS without
 WHERE token_prices.token_id = without.token_id;

-- stored --
-- Needs token_prices_pkey.
INSERT INTO token_prices AS price (token_id, created_at, value, value_usd, price)
SELECT token_id, created_at, value, value_usd, price
  FROM newest
    ON CONFLICT (token_id) DO UPDATE
   SET created_at = excluded.created_at,
       value = excluded.value,
       value_usd = excluded.value_usd,
       price = excluded.price
 WHERE (price.created_at, price.value, price.value_usd, price.price)
       IS DISTINCT FROM
       (excluded.created_at, excluded.value, excluded.value_usd, excluded.price)
RETURNING price.token_id;
