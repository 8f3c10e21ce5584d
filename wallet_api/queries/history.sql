-- A wallet's lifetime record and a page of its trades, newest first, all in one snapshot.
-- Needs positions_pkey, trades_by_time, tokens_pkey.
  WITH position AS MATERIALIZED (
       SELECT positions.*,
              -- Not a join, which may read all tokens there are.
              (SELECT mint
                 FROM tokens
                WHERE tokens.token_id = positions.token_id) AS mint
         FROM positions
        WHERE positions.wallet_id = %(wallet_id)s
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
              percentage(count(*) FILTER (WHERE closed AND profit_bucket(realized, realized_cost) > 0),
                         count(*) FILTER (WHERE closed)) AS win_rate,
              count(*) FILTER (WHERE closed AND profit_bucket(realized, realized_cost) > 0) AS win_count,
              count(*) FILTER (WHERE closed) AS total_sold,
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
         FROM (SELECT profit_bucket(realized, realized_cost) AS bucket
                 FROM position
                WHERE closed) AS closed_position
       ),
       overview AS (
       SELECT json_agg(json_build_object(
                  'mint', mint,
                  'token_name', COALESCE(token_name, ''),
                  'invested', shown(invested, 9),
                  'sold', shown(sold, 9),
                  'realized_pnl', shown(realized, 9),
                  'realized_pnl_percentage', percentage(realized, realized_cost),
                  'currency', %(currency)s::text,
                  'buy_txn', buy_txn,
                  'sell_txn', sell_txn,
                  'first_seen', shown_time(first_seen),
                  'last_seen', shown_time(last_seen),
                  'still_holding', still_holding) ORDER BY last_seen DESC, mint) AS rows
         FROM position
       ),
       candidate AS (
       SELECT trades.tx_signature,
              tokens.mint,
              trades.token_id,
              trades.token_name,
              trades.is_sell,
              trades.value,
              trades.created_at,
              trades.event_index
         FROM trades
         JOIN tokens
           ON tokens.token_id = trades.token_id
        WHERE trades.wallet_id = %(wallet_id)s
          AND trades.created_at <= %(created_at)s
          AND (trades.created_at, trades.is_sell, trades.tx_signature, trades.event_index, tokens.mint)
              < (%(created_at)s, %(is_sell)s, %(tx_signature)s, %(event_index)s, %(mint)s)
        ORDER BY trades.created_at DESC, trades.is_sell DESC, trades.tx_signature DESC,
                 trades.event_index DESC, tokens.mint DESC
        LIMIT %(limit)s::bigint + 1
       ),
       page AS (
       SELECT candidate.*,
              COALESCE(candidate.token_name, position.token_name, '') AS shown_name,
              row_number() OVER (ORDER BY candidate.created_at DESC, candidate.is_sell DESC,
                                          candidate.tx_signature DESC, candidate.event_index DESC,
                                          candidate.mint DESC) AS place
         FROM candidate
         JOIN position
           ON position.token_id = candidate.token_id
       ),
       trade AS (
       SELECT count(*) > %(limit)s AS has_more,
              json_agg(json_build_object(
                  'tx_signature', tx_signature,
                  'mint', mint,
                  'token_name', shown_name,
                  'transaction_type', CASE WHEN is_sell THEN 'sell' ELSE 'buy' END,
                  'value', shown(value, 9),
                  'currency', %(currency)s::text,
                  'created_at', shown_time(created_at)) ORDER BY place)
                  FILTER (WHERE place <= %(limit)s) AS rows
         FROM page
       )
SELECT wallets.address,
       wallets.name,
       wallets.image_url,
       wallets.twitter,
       wallets.telegram,
       wallets.blockchain,
       wallets.type,
       row_to_json(lifetime)::text AS lifetime_stats,
       row_to_json(distribution)::text AS win_rate_distribution,
       COALESCE(overview.rows, '[]')::text AS token_overview,
       COALESCE(trade.rows, '[]')::text AS trades,
       trade.has_more,
       final.created_at AS last_created_at,
       final.is_sell AS last_is_sell,
       final.tx_signature AS last_tx_signature,
       final.event_index AS last_event_index,
       final.mint AS last_mint
  FROM wallets
 CROSS JOIN lifetime
 CROSS JOIN distribution
 CROSS JOIN overview
 CROSS JOIN trade
  LEFT JOIN page AS final
    ON final.place = %(limit)s
 WHERE wallets.wallet_id = %(wallet_id)s
