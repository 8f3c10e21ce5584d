-- Add the prices of the file; a price known already is replaced, and revises no trade. Return a row for each change,
-- since Citus counts the rows of the file.
INSERT INTO native_prices AS price (currency, priced_at, usd)
SELECT DISTINCT ON (currency, priced_at) currency, priced_at, usd
  FROM incoming_prices
 ORDER BY currency, priced_at, line_number DESC
    ON CONFLICT (currency, priced_at) DO UPDATE
   SET usd = excluded.usd
 WHERE price.usd <> excluded.usd
RETURNING 1 AS changed
