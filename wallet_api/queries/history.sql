-- A wallet's lifetime record and a page of its trades, newest first, all in one snapshot. JSON put together
-- by hand takes a third less time than row_to_json does.
-- The newest trades come in the order of the index alone, so that no more is read than is shown, whatever the
-- plan; with all trades of the last moment, for the rest of the order decides between these.
-- The statement of a first page lacks what stands between the two marks: see history.py.
-- Needs positions_pkey, lifetimes_pkey, trades_by_time, tokens_pkey.
  WITH newest AS (
       SELECT token_id,
              tx_signature,
              token_name,
              is_sell,
              value,
              created_at,
              event_index
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          /* after the cursor */
          AND created_at <= %(created_at)s
          AND (created_at, is_sell, tx_signature, event_index,
               (SELECT mint
                  FROM tokens
                 WHERE tokens.token_id = trades.token_id))
              < (%(created_at)s, %(is_sell)s, %(tx_signature)s, %(event_index)s, %(mint)s)
          /* in any case */
        ORDER BY created_at DESC
        FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES
       ),
       position AS (
       SELECT token_id,
              mint,
              token_name
         FROM positions
        WHERE wallet_id = %(wallet_id)s
       ),
       candidate AS (
       SELECT tx_signature,
              -- A ledger may have lost positions, and wait for a rebuild.
              COALESCE(position.mint,
                       (SELECT mint
                          FROM tokens
                         WHERE tokens.token_id = newest.token_id)) AS mint,
              COALESCE(newest.token_name, position.token_name, '') AS token_name,
              is_sell,
              value,
              created_at,
              event_index
         FROM newest
         -- A full join never compares each trade with each token, whatever the plan; so the planner is not to
         -- see that a left join would do.
         FULL JOIN position
           ON position.token_id = newest.token_id
        WHERE num_nulls(newest.token_id) = 0
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
        LIMIT %(limit)s::bigint + 1
       ),
       listed_trade AS (
       SELECT concat('{"tx_signature":', json_text(tx_signature),
                     ',"mint":', json_text(mint),
                     ',"token_name":', json_text(token_name),
                     ',"transaction_type":"', CASE WHEN is_sell THEN 'sell' ELSE 'buy' END,
                     '","value":', shown(value, 9),
                     ',"currency":"', %(currency)s::text,
                     '","created_at":"', shown_time(created_at),
                     '"}') AS trade
         FROM candidate
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
        LIMIT %(limit)s::bigint
       ),
       last AS (
       SELECT created_at,
              is_sell,
              tx_signature,
              event_index,
              mint
         FROM candidate
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
        LIMIT 1 OFFSET %(limit)s::bigint - 1
       ),
       -- A wallet that never traded has none.
       lifetime AS (
       SELECT listed_stats,
              listed_distribution
         FROM lifetimes
        WHERE wallet_id = %(wallet_id)s
       ),
       profile AS (
       SELECT address AS wallet_address,
              name,
              image_url,
              twitter,
              telegram,
              blockchain,
              type,
              %(currency)s::text AS currency
         FROM wallets
        WHERE wallet_id = %(wallet_id)s
          AND blockchain = %(blockchain)s
          AND address = %(address)s
          AND type = %(type)s
       )
SELECT row_to_json(profile)::text AS profile,
       COALESCE(lifetime.listed_stats, listed_stats(%(currency)s::text)) AS lifetime_stats,
       COALESCE(lifetime.listed_distribution, listed_distribution()) AS win_rate_distribution,
       (SELECT concat('[', string_agg(listed, ',' ORDER BY last_seen DESC, mint), ']')
          FROM positions
         WHERE wallet_id = %(wallet_id)s) AS token_overview,
       (SELECT concat('[', string_agg(trade, ','), ']')
          FROM listed_trade) AS trades,
       (SELECT count(*) > %(limit)s
          FROM candidate) AS has_more,
       last.created_at,
       last.is_sell,
       last.tx_signature,
       last.event_index,
       last.mint
  FROM profile
  LEFT JOIN lifetime
    ON true
  LEFT JOIN last
    ON true
