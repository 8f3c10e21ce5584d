-- The native coins: when the newest price of each was made, NULL without one, and whether wallets of its chains are tracked.
-- Needs native_prices_pkey, wallet_groups_pkey.
SELECT coin.currency,
       (SELECT max(priced_at)
          FROM native_prices
         WHERE native_prices.currency = coin.currency
           AND priced_at <= %(now)s) AS priced_at,
       coin.currency IN (SELECT native_currency(blockchain)
                           FROM wallet_groups
                          WHERE wallet_count > 0) AS is_tracked
  FROM unnest(%(currencies)s::text[]) AS coin (currency)
