-- The dollar price of the native coin nearest each moment within an hour, NULL if there is none.
-- Needs native_prices_pkey.
SELECT trade.blockchain,
       trade.created_at AS moment,
       nearest_price.usd
  FROM (SELECT blockchain,
               moment AS created_at,
               native_currency(blockchain) AS currency,
               TRUE AS wants_price
          FROM unnest(%(blockchains)s::text[], %(moments)s::timestamptz[]) AS wanted (blockchain, moment)) AS trade
{nearest_price}
