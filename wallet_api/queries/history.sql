-- A wallet's lifetime record and a page of its trades, newest first, all in one snapshot.
-- The newest trades are read in the order of the index alone, so that no more is read than is shown, whatever
-- the plan; with all trades of the last moment, for the rest of the order decides between these.
-- The statement of a first page leaves out what stands between the two marks: see history.py.
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
              -- Positions may be missing after a restore that was cut short, until the rebuild.
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
         -- A full join never compares each trade with each token, whatever the plan. The condition below keeps
         -- the planner from seeing that a left join would do.
         FULL JOIN position
           ON position.token_id = newest.token_id
        WHERE num_nulls(newest.token_id) = 0
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
        LIMIT %(limit)s::bigint + 1
       ),
       page AS (
       SELECT tx_signature,
              mint,
              token_name,
              CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              round_half_up(value, 9) AS value,
              %(currency)s::text AS currency,
              to_char(candidate.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS created_at
         FROM candidate
        ORDER BY candidate.created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
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
       overview AS (
       SELECT mint,
              COALESCE(token_name, '') AS token_name,
              round_half_up(invested, 9) AS invested,
              round_half_up(sold, 9) AS sold,
              round_half_up(realized, 9) AS realized_pnl,
              percentage(realized, realized_cost) AS realized_pnl_percentage,
              %(currency)s::text AS currency,
              buy_txn,
              sell_txn,
              to_char(positions.first_seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first_seen,
              to_char(positions.last_seen AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_seen,
              still_held(quantity, peak) AS still_holding
         FROM positions
        WHERE wallet_id = %(wallet_id)s
        ORDER BY positions.last_seen DESC, mint
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
       ),
       -- A wallet that never traded has no row in lifetimes.
       lifetime AS (
       SELECT COALESCE(invested, 0) AS invested,
              COALESCE(sold, 0) AS sold,
              COALESCE(realized, 0) AS realized,
              COALESCE(realized_cost, 0) AS realized_cost,
              COALESCE(buy_txn, 0) AS buy_txn,
              COALESCE(sell_txn, 0) AS sell_txn,
              COALESCE(tokens, 0) AS tokens,
              COALESCE(still_holding, 0) AS still_holding,
              COALESCE(largest_buy, 0) AS largest_buy,
              COALESCE(best_trade, 0) AS best_trade,
              COALESCE(worst_trade, 0) AS worst_trade,
              COALESCE(above_500, 0) AS above_500,
              COALESCE(above_100_to_500, 0) AS above_100_to_500,
              COALESCE(above_zero_to_100, 0) AS above_zero_to_100,
              COALESCE(below_zero, 0) AS below_zero,
              COALESCE(above_500 + above_100_to_500 + above_zero_to_100, 0) AS won,
              COALESCE(above_500 + above_100_to_500 + above_zero_to_100 + below_zero, 0) AS closed
         FROM wallets
         LEFT JOIN lifetimes
           ON lifetimes.wallet_id = wallets.wallet_id
        WHERE wallets.wallet_id = %(wallet_id)s
       ),
       stats AS (
       SELECT %(currency)s::text AS currency,
              round_half_up(invested, 9) AS buy,
              round_half_up(sold, 9) AS sell,
              round_half_up(realized, 9) AS realized_pnl,
              percentage(realized, realized_cost) AS realized_pnl_percentage,
              buy_txn,
              sell_txn,
              buy_txn + sell_txn AS total_tx_count,
              percentage(won, closed) AS win_rate,
              won AS win_count,
              closed AS total_sold,
              tokens AS active_tokens_count,
              round_half_up(largest_buy, 9) AS largest_buy,
              round_half_up(best_trade, 9) AS best_trade_pnl,
              round_half_up(worst_trade, 9) AS worst_trade_pnl,
              still_holding AS still_holding_count
         FROM lifetime
       ),
       distribution AS (
       SELECT above_500,
              above_100_to_500,
              above_zero_to_100,
              below_zero
         FROM lifetime
       )
SELECT row_to_json(profile)::text AS profile,
       row_to_json(stats)::text AS lifetime_stats,
       row_to_json(distribution)::text AS win_rate_distribution,
       (SELECT COALESCE(json_agg(row_to_json(overview)), '[]')::text
          FROM overview) AS token_overview,
       (SELECT COALESCE(json_agg(row_to_json(page)), '[]')::text
          FROM page) AS trades,
       (SELECT count(*) > %(limit)s
          FROM candidate) AS has_more,
       last.created_at,
       last.is_sell,
       last.tx_signature,
       last.event_index,
       last.mint
  FROM profile
 CROSS JOIN stats
 CROSS JOIN distribution
  LEFT JOIN last
    ON true
