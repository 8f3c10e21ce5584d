-- The values of trades that state dollars.

-- known --
-- The trades of some transactions in the ledger. Needs trades_by_time, tokens_pkey.
SELECT trades.wallet_id,
       trades.tx_signature,
       tokens.mint,
       trades.is_sell,
       trades.token_amount,
       trades.value,
       trades.value_usd,
       trades.value_derived
  FROM (SELECT DISTINCT wallet_id, moment, tx_signature
          FROM unnest(%(wallet_ids)s::bigint[], %(moments)s::timestamptz[], %(signatures)s::text[])
               AS every (wallet_id, moment, tx_signature)) AS wanted
  JOIN trades
    ON trades.wallet_id = wanted.wallet_id
   -- Another source may not state the part of its second.
   AND trades.created_at >= date_trunc('second', wanted.moment)
   AND trades.created_at < date_trunc('second', wanted.moment) + interval '1 second'
   AND trades.tx_signature = wanted.tx_signature
  JOIN tokens
    ON tokens.token_id = trades.token_id;

-- near --
-- The dollar price of the native coin nearest each moment within an hour, NULL if there is none.
-- Needs native_prices_pkey.
SELECT trade.blockchain,
       trade.created_at AS moment,
       nearest_price.usd
  FROM (SELECT blockchain,
               moment AS created_at,
               native_currency(blockchain) AS currency,
               TRUE AS wants_price
          FROM unnest(%(blockchains)s::text[], %(moments)s::timestamptz[])
               AS wanted (blockchain, moment)) AS trade
{ledger.nearest_price};
