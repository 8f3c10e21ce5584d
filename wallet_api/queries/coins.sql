-- The native coins: when the newest price of each was made, NULL without one, and whether wallets of its chains are tracked.
-- Needs native_prices_pkey, wallet_groups_pkey.
SELECT coin.currency,
       (SELECT max(priced_at)
          FROM native_prices
         WHERE native_prices.currency = coin.currency
           AND priced_at <= %(now)s) AS priced_at,
       coin.currency IN (SELECT native_currency(tracked.blockchain)
                           FROM unnest(%(blockchains)s::text[], %(types)s::text[]) AS tracked (blockchain, type)
                           JOIN wallet_groups
                             ON wallet_groups.blockchain = tracked.blockchain
                            AND wallet_groups.type = tracked.type
                          WHERE wallet_groups.wallet_count > 0) AS is_tracked
  FROM unnest(%(currencies)s::text[]) AS coin (currency)
