-- A page of the trades of a group of wallets, newest first: of all tokens, or of one.
-- The newest N trades of a group are of the N wallets that traded last, so only their trades are read, and none that is
-- older than N trades that are known already. Ties are kept until the whole order decides.
-- On later pages, the newest trade of a wallet is its newest one before the cursor.
-- Needs lifetimes_by_last_seen, positions_by_token, trades_by_time, trades_pkey, positions_pkey, tokens_pkey, wallets_pkey,
-- volume_rollup_pkey, native_prices_pkey.
  WITH recent AS (
       (SELECT wallet_id,
               last_seen AS newest_at
          FROM lifetimes
         WHERE %(token_id)s::bigint IS NULL
           AND blockchain = %(blockchain)s
           AND type = %(type)s
           AND last_seen > %(since)s::timestamptz
           AND last_seen < %(created_at)s::timestamptz
         ORDER BY last_seen DESC
         FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES)
        UNION ALL
       SELECT lifetimes.wallet_id,
              newest.created_at
         FROM lifetimes
         JOIN wallets
           ON wallets.wallet_id = lifetimes.wallet_id
        CROSS JOIN LATERAL (
              SELECT created_at
                FROM trades
               WHERE wallet_id = lifetimes.wallet_id
                 AND created_at > %(since)s::timestamptz
                 AND created_at <= %(created_at)s::timestamptz
                 AND (created_at, is_sell, tx_signature, event_index,
                      (SELECT mint
                         FROM tokens
                        WHERE tokens.token_id = trades.token_id), wallets.address)
                     < (%(created_at)s::timestamptz, %(is_sell)s::boolean, %(tx_signature)s::text,
                        %(event_index)s::integer, %(last_mint)s::text, %(address)s::text)
               ORDER BY created_at DESC
               LIMIT 1) AS newest
        WHERE %(token_id)s::bigint IS NULL
          AND lifetimes.blockchain = %(blockchain)s
          AND lifetimes.type = %(type)s
          AND lifetimes.last_seen >= %(created_at)s::timestamptz
        UNION ALL
       SELECT positions.wallet_id,
              positions.last_seen
         FROM positions
         JOIN wallets
           ON wallets.wallet_id = positions.wallet_id
        WHERE positions.token_id = %(token_id)s::bigint
          AND wallets.type = %(type)s
          AND positions.last_seen > %(since)s::timestamptz
          AND positions.last_seen < %(created_at)s::timestamptz
        UNION ALL
       SELECT positions.wallet_id,
              newest.created_at
         FROM positions
         JOIN wallets
           ON wallets.wallet_id = positions.wallet_id
        CROSS JOIN LATERAL (
              SELECT max(created_at) AS created_at
                FROM trades
               WHERE wallet_id = positions.wallet_id
                 AND token_id = positions.token_id
                 AND created_at > %(since)s::timestamptz
                 AND (created_at, is_sell, tx_signature, event_index, positions.mint, wallets.address)
                     < (%(created_at)s::timestamptz, %(is_sell)s::boolean, %(tx_signature)s::text,
                        %(event_index)s::integer, %(last_mint)s::text, %(address)s::text)) AS newest
        WHERE positions.token_id = %(token_id)s::bigint
          AND wallets.type = %(type)s
          AND positions.last_seen >= %(created_at)s::timestamptz
          AND newest.created_at IS NOT NULL
       ),
       chosen AS (
       SELECT wallet_id,
              newest_at
         FROM recent
        ORDER BY newest_at DESC
        FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES
       ),
       -- Where few wallets make a page, more than the newest trade of each is needed to see how far back it reaches.
       share AS (
       SELECT 2 * %(limit)s::bigint / count(*) + 1 AS trades_each
         FROM chosen
       HAVING count(*) BETWEEN 1 AND %(limit)s::bigint
          AND %(token_id)s::bigint IS NULL
       ),
       sample AS (
       SELECT own.created_at
         FROM share
        CROSS JOIN chosen
         JOIN wallets
           ON wallets.wallet_id = chosen.wallet_id
        CROSS JOIN LATERAL (
              SELECT created_at
                FROM trades
               WHERE wallet_id = chosen.wallet_id
                 AND created_at > %(since)s::timestamptz
                 AND created_at <= %(created_at)s::timestamptz
                 AND (created_at, is_sell, tx_signature, event_index,
                      (SELECT mint
                         FROM tokens
                        WHERE tokens.token_id = trades.token_id), wallets.address)
                     < (%(created_at)s::timestamptz, %(is_sell)s::boolean, %(tx_signature)s::text,
                        %(event_index)s::integer, %(last_mint)s::text, %(address)s::text)
               ORDER BY created_at DESC
               LIMIT share.trades_each) AS own
        UNION ALL
       SELECT newest_at
         FROM chosen
        WHERE NOT EXISTS (SELECT FROM share)
       ),
       -- No trade of the page is older than the last of as many trades, whichever they are.
       horizon AS (
       SELECT COALESCE((SELECT created_at
                          FROM sample
                         ORDER BY created_at DESC
                         LIMIT 1 OFFSET %(limit)s::bigint), '-infinity') AS oldest_at
       ),
       traded AS (
       SELECT own.*,
              wallets.address
         FROM chosen
         JOIN wallets
           ON wallets.wallet_id = chosen.wallet_id
        CROSS JOIN horizon
        CROSS JOIN LATERAL (
              SELECT *
                FROM trades
               WHERE wallet_id = chosen.wallet_id
                 AND created_at > %(since)s::timestamptz
                 AND created_at >= horizon.oldest_at
                 AND created_at <= %(created_at)s::timestamptz
                 AND (created_at, is_sell, tx_signature, event_index,
                      (SELECT mint
                         FROM tokens
                        WHERE tokens.token_id = trades.token_id), wallets.address)
                     < (%(created_at)s::timestamptz, %(is_sell)s::boolean, %(tx_signature)s::text,
                        %(event_index)s::integer, %(last_mint)s::text, %(address)s::text)
               ORDER BY created_at DESC
               FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES) AS own
        WHERE %(token_id)s::bigint IS NULL
        UNION ALL
       SELECT own.*,
              wallets.address
         FROM chosen
         JOIN wallets
           ON wallets.wallet_id = chosen.wallet_id
        CROSS JOIN horizon
        CROSS JOIN LATERAL (
              SELECT *
                FROM trades
               WHERE wallet_id = chosen.wallet_id
                 AND token_id = %(token_id)s::bigint
                 AND created_at > %(since)s::timestamptz
                 AND created_at >= horizon.oldest_at
                 AND (created_at, is_sell, tx_signature, event_index,
                      (SELECT mint
                         FROM tokens
                        WHERE tokens.token_id = trades.token_id), wallets.address)
                     < (%(created_at)s::timestamptz, %(is_sell)s::boolean, %(tx_signature)s::text,
                        %(event_index)s::integer, %(last_mint)s::text, %(address)s::text)) AS own
        WHERE %(token_id)s::bigint IS NOT NULL
        ORDER BY created_at DESC
        FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES
       ),
       candidate AS (
       SELECT traded.wallet_id,
              traded.token_id,
              traded.tx_signature,
              traded.event_index,
              traded.is_sell,
              traded.created_at,
              traded.token_name,
              traded.token_amount,
              traded.value,
              traded.value_usd,
              traded.quantity_after,
              traded.peak_after,
              traded.address,
              tokens.mint
         FROM traded
         JOIN tokens
           ON tokens.token_id = traded.token_id
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC, address DESC
        LIMIT %(limit)s::bigint + 1
       ),
{latest_price},
       page AS (
       SELECT candidate.tx_signature,
              candidate.event_index,
              CASE WHEN candidate.is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              round_half_up(candidate.value, 9) AS value,
              -- A trade without a dollar value counts with the latest native price.
              round_half_up(COALESCE(candidate.value_usd, candidate.value * latest.usd), 4) AS value_usd,
              %(currency)s::text AS currency,
              round_half_up(candidate.token_amount, 18) AS token_amount,
              round_half_up(quotient(candidate.value, candidate.token_amount), 18) AS price_per_token,
              round_half_up(quotient(COALESCE(candidate.value_usd, candidate.value * latest.usd),
                                     candidate.token_amount), 18) AS price_per_token_usd,
              to_char(candidate.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created_at,
              (SELECT row_to_json(profile)
                 FROM (SELECT wallets.address AS wallet_address,
                              wallets.name,
                              wallets.image_url,
                              wallets.twitter,
                              wallets.telegram,
                              wallets.copytrade_link,
                              wallets.type,
                              wallets.blockchain,
                              %(currency)s::text AS currency) AS profile) AS profile,
              (SELECT row_to_json(holding)
                 FROM (SELECT round_half_up(candidate.quantity_after, 18) AS token_amount,
                              round_half_up(candidate.peak_after, 18) AS token_amount_peak,
                              percentage(candidate.quantity_after, candidate.peak_after) AS bag_pct,
                              still_held(candidate.quantity_after, candidate.peak_after) AS still_holding,
                              NULL::numeric AS supply_pct,
                              NULL::numeric AS supply_pct_peak) AS holding) AS holdings_after,
              candidate.mint,
              COALESCE(candidate.token_name, positions.token_name, '') AS token_name,
              NULL::numeric AS token_supply,
              NULL::integer AS token_decimals
         FROM candidate
         JOIN wallets
           ON wallets.wallet_id = candidate.wallet_id
        CROSS JOIN latest
         LEFT JOIN positions
           ON positions.wallet_id = candidate.wallet_id
          AND positions.token_id = candidate.token_id
        ORDER BY candidate.created_at DESC, candidate.is_sell DESC, candidate.tx_signature DESC,
                 candidate.event_index DESC, candidate.mint DESC, candidate.address DESC
        LIMIT %(limit)s::bigint
       ),
       shown AS (
       SELECT count(*) AS row_count,
              COALESCE(json_agg(row_to_json(page)), '[]')::text AS transactions
         FROM page
       ),
       last AS (
       SELECT created_at,
              is_sell,
              tx_signature,
              event_index,
              mint,
              address
         FROM candidate
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC, address DESC
        LIMIT 1 OFFSET %(limit)s::bigint - 1
       ),
       -- Without a window, the trades of lifetimes or positions; with one, those of its buckets.
       matching AS (
       SELECT buy_txn + sell_txn AS txn
         FROM lifetimes
        WHERE %(sizes)s::integer[] IS NULL
          AND %(token_id)s::bigint IS NULL
          AND blockchain = %(blockchain)s
          AND type = %(type)s
        UNION ALL
       SELECT positions.buy_txn + positions.sell_txn
         FROM positions
         JOIN wallets
           ON wallets.wallet_id = positions.wallet_id
        WHERE %(sizes)s::integer[] IS NULL
          AND positions.token_id = %(token_id)s::bigint
          AND wallets.type = %(type)s
        UNION ALL
       SELECT within.txn
         FROM unnest(%(sizes)s::integer[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
                  AS span (bucket_seconds, starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT sum(txn) AS txn
                FROM volume_rollup
               WHERE volume_rollup.blockchain = %(blockchain)s
                 AND volume_rollup.type = %(type)s
                 AND volume_rollup.token_id = COALESCE(%(token_id)s::bigint, 0)
                 AND volume_rollup.bucket_seconds = span.bucket_seconds
                 AND volume_rollup.ends_at > span.starts_at
                 AND volume_rollup.ends_at <= span.ends_at) AS within
       ),
       total AS (
       SELECT COALESCE(sum(txn), 0)::bigint AS total
         FROM matching
       )
SELECT NOT EXISTS (SELECT FROM pending_fills) AS is_filled,
       total.total,
       shown.row_count,
       shown.transactions,
       (SELECT count(*) > %(limit)s::bigint
          FROM candidate) AS has_more,
       last.created_at,
       last.is_sell,
       last.tx_signature,
       last.event_index,
       last.mint,
       last.address
  FROM total
 CROSS JOIN shown
  LEFT JOIN last
    ON true
