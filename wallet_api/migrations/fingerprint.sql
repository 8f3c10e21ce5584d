-- What the tables and functions of 0001_ledger to 0004_sync are made of, one line an object, in an order of its
-- own. Left out: lifetimes, which a restored dump may lack, and the body of json_text, which depends on the server.
SELECT object
  FROM (SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, attgenerated)
                   COLLATE "C" AS object
          FROM pg_attribute
          JOIN pg_class
            ON pg_class.oid = pg_attribute.attrelid
         WHERE relnamespace = 'public'::regnamespace
           AND relname IN ('wallets', 'wallet_groups', 'tokens', 'native_prices', 'trades', 'positions',
                           'position_rollup', 'volume_rollup', 'api_keys', 'credit_leases', 'credit_ledger',
                           'holdings_snapshots', 'sync_wallets', 'sync_heartbeats')
           AND attnum > 0
           AND NOT attisdropped
         UNION ALL
        SELECT concat_ws(' ', proname, pg_get_function_identity_arguments(pg_proc.oid),
                         CASE WHEN proname <> 'json_text'
                              THEN md5(regexp_replace(regexp_replace(prosrc, '--[^\n]*', '', 'g'), '\s+', '', 'g'))
                         END)
          FROM pg_proc
         WHERE pronamespace = 'public'::regnamespace
           AND proname IN ('quotient', 'quotient_to', 'small_quotient', 'shown', 'percentage', 'profit_bucket',
                           'still_held', 'json_text', 'native_currency', 'listed_wallet', 'listed_stats',
                           'listed_distribution', 'listed_position', 'shown_time', 'bucket_end',
                           'nearest_price', 'latest_price', 'usd_total', 'walk_step', 'walk')) AS made
 ORDER BY object
