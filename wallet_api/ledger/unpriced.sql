-- The trades without a dollar value that have a price within an hour by now: as fresh ones with that value.
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
       trade.exchanged_value
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
 WHERE nearest_price.usd IS NOT NULL
