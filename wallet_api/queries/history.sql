-- A wallet's lifetime record and a page of its trades, newest first, all in one snapshot.
-- Needs positions_pkey, trades_by_time, tokens_pkey.
  WITH position AS MATERIALIZED (
       SELECT token_id,
              -- Not a join, which may read all tokens there are.
              (SELECT mint
                 FROM tokens
                WHERE tokens.token_id = positions.token_id) AS mint,
              token_name,
              buy_txn,
              sell_txn,
              invested,
              sold,
              realized,
              realized_cost,
              largest_buy,
              best_trade,
              worst_trade,
              first_seen,
              last_seen,
              still_holding,
              CASE WHEN closed THEN profit_bucket(realized, realized_cost) END AS bucket
         FROM positions
        WHERE wallet_id = %(wallet_id)s
       ),
       lifetime AS (
       SELECT %(currency)s::text AS currency,
              shown(COALESCE(sum(invested), 0), 9) AS buy,
              shown(COALESCE(sum(sold), 0), 9) AS sell,
              shown(COALESCE(sum(realized), 0), 9) AS realized_pnl,
              percentage(COALESCE(sum(realized), 0), COALESCE(sum(realized_cost), 0))
                  AS realized_pnl_percentage,
              COALESCE(sum(buy_txn), 0)::bigint AS buy_txn,
              COALESCE(sum(sell_txn), 0)::bigint AS sell_txn,
              COALESCE(sum(buy_txn + sell_txn), 0)::bigint AS total_tx_count,
              percentage(count(*) FILTER (WHERE bucket > 0), count(bucket)) AS win_rate,
              count(*) FILTER (WHERE bucket > 0) AS win_count,
              count(bucket) AS total_sold,
              count(*) AS active_tokens_count,
              shown(COALESCE(max(largest_buy), 0), 9) AS largest_buy,
              shown(COALESCE(max(best_trade), 0), 9) AS best_trade_pnl,
              shown(COALESCE(min(worst_trade), 0), 9) AS worst_trade_pnl,
              count(*) FILTER (WHERE still_holding) AS still_holding_count
         FROM position
       ),
       distribution AS (
       SELECT count(*) FILTER (WHERE bucket = 3) AS above_500,
              count(*) FILTER (WHERE bucket = 2) AS above_100_to_500,
              count(*) FILTER (WHERE bucket = 1) AS above_zero_to_100,
              count(*) FILTER (WHERE bucket = 0) AS below_zero
         FROM position
       ),
       listed_token AS (
       SELECT mint,
              COALESCE(token_name, '') AS token_name,
              shown(invested, 9) AS invested,
              shown(sold, 9) AS sold,
              shown(realized, 9) AS realized_pnl,
              percentage(realized, realized_cost) AS realized_pnl_percentage,
              %(currency)s::text AS currency,
              buy_txn,
              sell_txn,
              shown_time(first_seen) AS first_seen,
              shown_time(last_seen) AS last_seen,
              still_holding
         FROM position
        ORDER BY position.last_seen DESC, mint
       ),
       -- In the order of the index alone, so that no more is read than is shown, whatever the plan; with all
       -- trades of the last moment, for the rest of the order decides between these.
       newest AS (
       SELECT *
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          AND created_at <= %(created_at)s
          AND (created_at, is_sell, tx_signature, event_index,
               (SELECT mint
                  FROM tokens
                 WHERE tokens.token_id = trades.token_id))
              < (%(created_at)s, %(is_sell)s, %(tx_signature)s, %(event_index)s, %(mint)s)
        ORDER BY created_at DESC
        FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES
       ),
       candidate AS (
       -- Looked up one by one: a join may compare each trade with all of the wallet's tokens.
       SELECT tx_signature,
              (SELECT mint
                 FROM tokens
                WHERE tokens.token_id = newest.token_id) AS mint,
              COALESCE(token_name,
                       (SELECT token_name
                          FROM positions
                         WHERE wallet_id = %(wallet_id)s
                           AND positions.token_id = newest.token_id),
                       '') AS token_name,
              is_sell,
              value,
              created_at,
              event_index
         FROM newest
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
        LIMIT %(limit)s::bigint + 1
       ),
       page AS (
       SELECT *
         FROM candidate
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
        LIMIT %(limit)s::bigint
       ),
       listed_trade AS (
       SELECT tx_signature,
              mint,
              token_name,
              CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              shown(value, 9) AS value,
              %(currency)s::text AS currency,
              shown_time(page.created_at) AS created_at
         FROM page
        ORDER BY page.created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC
       ),
       last AS (
       SELECT *
         FROM page
        ORDER BY created_at, is_sell, tx_signature, event_index, mint
        LIMIT 1
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
       row_to_json(lifetime)::text AS lifetime_stats,
       row_to_json(distribution)::text AS win_rate_distribution,
       (SELECT COALESCE(json_agg(row_to_json(listed_token)), '[]')::text
          FROM listed_token) AS token_overview,
       (SELECT COALESCE(json_agg(row_to_json(listed_trade)), '[]')::text
          FROM listed_trade) AS trades,
       (SELECT count(*) > %(limit)s
          FROM candidate) AS has_more,
       last.created_at,
       last.is_sell,
       last.tx_signature,
       last.event_index,
       last.mint
  FROM profile
 CROSS JOIN lifetime
 CROSS JOIN distribution
  LEFT JOIN last
    ON true
