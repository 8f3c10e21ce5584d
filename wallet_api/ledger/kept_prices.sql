-- For other statements to include, after their CTEs changed (token_id) and newest, the rows to keep of these tokens.
-- Needs token_prices_pkey.
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
