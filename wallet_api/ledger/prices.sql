-- The native prices of a file.

-- staging --
CREATE TEMP TABLE incoming_prices (line_number bigint, line bytea, LIKE native_prices) ON COMMIT DROP;

-- repeated --
-- The rows of the prices that the file has more than once with different values.
SELECT *
  FROM incoming_prices
 WHERE (currency, priced_at) IN (
       SELECT currency,
              priced_at
         FROM incoming_prices
        GROUP BY currency, priced_at
       HAVING min(usd) <> max(usd))
 ORDER BY currency, priced_at, line_number;

-- reject --
DELETE FROM incoming_prices
 WHERE line_number = ANY (%(line_numbers)s);

-- add --
-- Add the prices of the file; a price known already is replaced, and revises no trade. Return a row for each change,
-- since Citus counts the rows of the file.
INSERT INTO native_prices AS price (currency, priced_at, usd)
SELECT DISTINCT currency, priced_at, usd
  FROM incoming_prices
    ON CONFLICT (currency, priced_at) DO UPDATE
   SET usd = excluded.usd
 WHERE price.usd <> excluded.usd
RETURNING 1 AS changed;

-- span --
SELECT min(priced_at) AS earliest,
       max(priced_at) AS latest
  FROM incoming_prices;

-- fresh --
-- The trades without a dollar value that have a price within an hour by now: as corrections with that value.
-- Needs trades_without_usd, wallets_pkey, native_prices_pkey.
INSERT INTO fresh
SELECT trade.wallet_id,
       trade.token_id,
       trade.created_at,
       trade.event_index,
       trade.is_sell,
       TRUE AS usd_derived,
       trade.tx_signature,
       trade.token_name,
       trade.token_amount,
       trade.value,
       trade.value * nearest_price.usd AS value_usd,
       trade.exchanged_value,
       COALESCE(trade.first_arrival, trade.arrival) AS first_arrival,
       trade.value_derived,
       trade.block,
       trade.block_index
  FROM (SELECT trades.*,
               native_currency(wallets.blockchain) AS currency,
               TRUE AS wants_price
          FROM trades
          JOIN wallets
            ON wallets.wallet_id = trades.wallet_id
         WHERE trades.value_usd IS NULL
           AND trades.created_at >= %(earliest)s::timestamptz - interval '1 hour'
           AND trades.created_at <= %(latest)s::timestamptz + interval '1 hour') AS trade
{nearest_price}
 WHERE nearest_price.usd IS NOT NULL;
