-- When the newest trade of each group and the newest price of each native coin were made.
-- A group whose trades are all older than the rollup of seconds has no row. A coin of tracked wallets without a price has
-- one without a time.
-- Needs volume_rollup_pkey, native_prices_pkey, wallet_groups_pkey.
SELECT 'trades' AS kind,
       tracked.blockchain AS first,
       tracked.type AS second,
       extract(epoch FROM newest.ends_at)::float8 AS at_seconds
  FROM unnest(%(blockchains)s::text[], %(types)s::text[]) AS tracked (blockchain, type)
 CROSS JOIN LATERAL (SELECT max(ends_at) AS ends_at
                       FROM volume_rollup
                      WHERE volume_rollup.blockchain = tracked.blockchain
                        AND volume_rollup.type = tracked.type
                        AND volume_rollup.token_id = 0
                        AND volume_rollup.bucket_seconds = 1) AS newest
 WHERE newest.ends_at IS NOT NULL
 UNION ALL
SELECT 'prices',
       coin.currency,
       '',
       extract(epoch FROM newest.priced_at)::float8
  FROM unnest(%(currencies)s::text[]) AS coin (currency)
 CROSS JOIN LATERAL (SELECT max(priced_at) AS priced_at
                       FROM native_prices
                      WHERE native_prices.currency = coin.currency) AS newest
 WHERE newest.priced_at IS NOT NULL
    OR coin.currency IN (SELECT native_currency(tracked.blockchain)
                           FROM unnest(%(blockchains)s::text[], %(types)s::text[]) AS tracked (blockchain, type)
                           JOIN wallet_groups
                             ON wallet_groups.blockchain = tracked.blockchain
                            AND wallet_groups.type = tracked.type
                          WHERE wallet_groups.wallet_count > 0)
