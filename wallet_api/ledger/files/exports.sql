-- The rows of files to export, with the columns that an import reads. A parameter that is NULL selects nothing out. Whole
-- tables are read, so no index is needed.

-- wallets --
SELECT blockchain,
       type,
       address AS wallet_address,
       name,
       image_url,
       twitter,
       telegram,
       copytrade_link
  FROM wallets
 WHERE blockchain = COALESCE(%(blockchain)s::text, blockchain)
   AND type = COALESCE(%(type)s::text, type)
   AND address = COALESCE(%(address)s::text, address)
 ORDER BY blockchain, address;

-- wallets_count --
SELECT count(*)
  FROM wallets
 WHERE blockchain = COALESCE(%(blockchain)s::text, blockchain)
   AND type = COALESCE(%(type)s::text, type)
   AND address = COALESCE(%(address)s::text, address);

-- trades --
-- A derived dollar value is left out if the prices of now derive the same one. Else it is written: it was derived before a
-- nearer price was known, which revises nothing. It then has as many decimals as an import accepts.
SELECT trade.blockchain,
       trade.wallet_address,
       trade.tx_signature,
       trade.mint,
       trade.token_name,
       CASE WHEN trade.is_sell THEN 'sell'
            ELSE 'buy'
       END AS transaction_type,
       trade.token_amount::text AS token_amount,
       trade.value::text AS value,
       CASE WHEN NOT trade.usd_derived THEN trade.value_usd
            WHEN trade.value_usd IS DISTINCT FROM trade.value * nearest_price.usd
            THEN round(trade.value_usd, LEAST(scale(trade.value_usd), 36))
       END::text AS value_usd,
       trade.exchanged_value::text AS exchanged_value,
       replace(to_char(trade.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000', '') AS created_at,
       trade.event_index,
       trade.block,
       trade.block_index
  FROM (SELECT wallets.blockchain,
               wallets.address AS wallet_address,
               tokens.mint,
               trades.*,
               native_currency(wallets.blockchain) AS currency,
               trades.usd_derived AS wants_price
          FROM trades
          JOIN wallets
            ON wallets.wallet_id = trades.wallet_id
          JOIN tokens
            ON tokens.token_id = trades.token_id
         WHERE wallets.blockchain = COALESCE(%(blockchain)s::text, wallets.blockchain)
           AND wallets.type = COALESCE(%(type)s::text, wallets.type)
           AND wallets.address = COALESCE(%(address)s::text, wallets.address)
           AND trades.created_at >= COALESCE(%(since)s::timestamptz, '-infinity')
           AND trades.created_at < COALESCE(%(until)s::timestamptz, 'infinity')) AS trade
{ledger.nearest_price};

-- trades_count --
SELECT count(*)
  FROM trades
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
 WHERE wallets.blockchain = COALESCE(%(blockchain)s::text, wallets.blockchain)
   AND wallets.type = COALESCE(%(type)s::text, wallets.type)
   AND wallets.address = COALESCE(%(address)s::text, wallets.address)
   AND trades.created_at >= COALESCE(%(since)s::timestamptz, '-infinity')
   AND trades.created_at < COALESCE(%(until)s::timestamptz, 'infinity');

-- prices --
SELECT currency,
       usd::text AS usd,
       replace(to_char(priced_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000', '') AS priced_at
  FROM native_prices
 WHERE currency = COALESCE(%(currency)s::text, currency)
   AND priced_at >= COALESCE(%(since)s::timestamptz, '-infinity')
   AND priced_at < COALESCE(%(until)s::timestamptz, 'infinity')
 ORDER BY native_prices.currency, native_prices.priced_at;

-- prices_count --
SELECT count(*)
  FROM native_prices
 WHERE currency = COALESCE(%(currency)s::text, currency)
   AND priced_at >= COALESCE(%(since)s::timestamptz, '-infinity')
   AND priced_at < COALESCE(%(until)s::timestamptz, 'infinity');
