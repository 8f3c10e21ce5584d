-- For the statements of trackers to include, after their CTEs summed (token_id, and the columns of ledger/sums.sql, highest.sql and
-- lowest.sql), what the wallet did in the span in each token, and profit_part (moment, realized, realized_usd), from which its chart
-- is drawn: a wallet's record in the span, its figures, its tokens and trades, and how its profit grew; all in one snapshot.
-- Needs wallets_pkey, trades_by_time, positions_pkey, wallet_hours_pkey, token_faces_pkey, and what
-- token_price.sql needs.
       wallet AS MATERIALIZED (
       SELECT *
         FROM wallets
        WHERE wallet_id = %(wallet_id)s
       ),
{latest_price},
       token AS MATERIALIZED (
       SELECT summed.*,
              traded.buy_usd,
              traded.sell_usd,
              held.*,
              face.symbol,
              face.name AS face_name,
              still_held(held.quantity, held.peak) AS still_holding,
              CASE WHEN summed.covered_txn > 0
                   THEN profit_bucket(summed.realized, summed.realized_cost)
              END AS bucket
         FROM summed
        CROSS JOIN latest
{traded_usd}
        CROSS JOIN LATERAL (
              SELECT mint,
                     token_name,
                     quantity,
                     peak,
                     cost,
                     cost_usd
                FROM positions
               WHERE positions.wallet_id = %(wallet_id)s
                 AND positions.token_id = summed.token_id
              -- OFFSET 0 is an optimization fence: no position without a trade in the period is read.
              OFFSET 0) AS held
         LEFT JOIN token_faces AS face
           ON face.token_id = summed.token_id
       ),
       total AS MATERIALIZED (
       SELECT
{ledger.sums: COALESCE(sum($), 0) AS $},
              COALESCE(max(largest_buy), 0) AS largest_buy,
              COALESCE(max(best_trade), 0) AS best_trade,
              COALESCE(min(worst_trade), 0) AS worst_trade,
              count(*) AS tokens,
              count(*) FILTER (WHERE buy_txn > 0) AS bought_token_count,
              count(*) FILTER (WHERE still_holding) AS still_holding_count,
              count(bucket) AS closed,
              count(*) FILTER (WHERE bucket > 0) AS won,
              count(*) FILTER (WHERE bucket = 3) AS above_500,
              count(*) FILTER (WHERE bucket = 2) AS above_100_to_500,
              count(*) FILTER (WHERE bucket = 1) AS above_zero_to_100,
              count(*) FILTER (WHERE bucket = 0) AS below_zero
         FROM token
       ),
       stats AS (
       SELECT
{period_stats},
              buy_txn + sell_txn AS period_stats_total_txn,
              round_half_up(invested + sold, 9) AS period_stats_volume,
              traded.volume_usd AS period_stats_volume_usd,
              won AS period_stats_win_count,
              closed - won AS period_stats_loss_count,
              percentage(won, closed) AS period_stats_win_rate,
              round_half_up(worst_trade, 9) AS period_stats_worst_trade_pnl,
              round_half_up(largest_buy, 9) AS period_stats_largest_buy
         FROM total
        CROSS JOIN latest
{traded_usd}
       ),
       -- All that the wallet holds, traded in the period or not.
       held_position AS MATERIALIZED (
       SELECT token_id,
              cost,
              cost_usd
         FROM positions
        WHERE wallet_id = %(wallet_id)s
          AND quantity > 0
       ),
       wanted AS (
       SELECT token_id
         FROM held_position
       ),
{token_price},
       stuck AS (
       SELECT round_half_up(COALESCE(sum(cost), 0), 9) AS period_stats_open_cost,
              CASE WHEN count(*) = count(cost_usd)
                   THEN round_half_up(COALESCE(sum(cost_usd), 0), 4)
              END AS period_stats_open_cost_usd,
              round_half_up(COALESCE(sum(cost) FILTER (WHERE token_price.price IS NULL), 0), 9) AS period_stats_unpriced_cost,
              CASE WHEN count(*) FILTER (WHERE token_price.price IS NULL AND cost_usd IS NULL) = 0
                   THEN round_half_up(COALESCE(sum(cost_usd) FILTER (WHERE token_price.price IS NULL), 0), 4)
              END AS period_stats_unpriced_cost_usd
         FROM held_position
         LEFT JOIN token_price
           ON token_price.token_id = held_position.token_id
       ),
       ranked AS (
       SELECT token.*,
              CASE WHEN quantity = 0 THEN 0
                   ELSE round_half_up(quantity * token_price.price - cost, 9)
              END AS unrealized,
              CASE WHEN quantity = 0 THEN 0
                   ELSE round_half_up((quantity * token_price.price - cost) * latest.usd, 4)
              END AS unrealized_usd,
              count(*) OVER newest_first AS ordinal,
              count(*) FILTER (WHERE still_holding) OVER newest_first AS held_ordinal
         FROM token
        CROSS JOIN latest
         LEFT JOIN token_price
           ON token_price.token_id = token.token_id
       WINDOW newest_first AS (ORDER BY last_seen DESC, mint ROWS UNBOUNDED PRECEDING)
       ),
       token_row AS (
       SELECT row_number() OVER (ORDER BY ordinal) AS place,
              ordinal,
              held_ordinal,
              mint,
              symbol,
              COALESCE(token_name, face_name, '') AS token_name,
              round_half_up(invested, 9) AS buy_value,
              buy_usd AS buy_value_usd,
              round_half_up(sold, 9) AS sell_value,
              sell_usd AS sell_value_usd,
              round_half_up(bought_tokens, 18) AS buy_tokens,
              round_half_up(sold_tokens, 18) AS sell_tokens,
              buy_txn,
              sell_txn,
{profit},
              round_half_up(tokens_without_cost, 18) AS tokens_sold_without_cost,
              iso_time(first_seen) AS first_seen,
              iso_time(last_seen) AS last_seen,
              round_half_up(quantity, 18) AS remaining_tokens,
              percentage(quantity, peak) AS bag_pct,
              still_holding,
              %(currency)s::text AS currency,
              unrealized AS unrealized_pnl,
              unrealized_usd AS unrealized_pnl_usd,
              round_half_up(cost, 9) AS open_cost,
              round_half_up(cost_usd, 4) AS open_cost_usd,
              CASE WHEN quantity > 0 THEN price_per_token(cost, quantity) END AS avg_cost
         FROM ranked
        WHERE ordinal <= %(most_tokens)s
           OR (still_holding AND held_ordinal <= %(most_tokens)s)
       ),
       step AS (
       SELECT %(bucket_seconds)s * interval '1 second' AS bucket
       ),
       sold AS (
       SELECT date_bin(bucket, moment, 'epoch') + bucket AS ends_at,
              sum(realized) AS realized,
              sum(realized_usd) AS realized_usd
         FROM profit_part
        CROSS JOIN step
        GROUP BY 1
       ),
       -- What was sold before each end. The last point is the end of the span, with the total.
       point AS (
       SELECT ends_at,
              sum(realized) OVER (ORDER BY ends_at) AS realized,
              sum(realized_usd) OVER (ORDER BY ends_at) AS realized_usd
         FROM sold
        WHERE ends_at < date_trunc('second', %(chart_until)s::timestamptz)
        UNION ALL
       SELECT edge.ends_at,
              edge.part * total.realized,
              edge.part * total.realized_usd
         FROM total
        CROSS JOIN (VALUES (%(chart_start)s::timestamptz, 0), (%(chart_end)s::timestamptz, 1)) AS edge (ends_at, part)
        WHERE total.covered_txn > 0
       ),
       chart AS (
       SELECT row_number() OVER (ORDER BY point.ends_at) AS place,
              iso_time(point.ends_at) AS timestamp,
              round_half_up(point.realized, 9) AS realized_pnl,
              CASE WHEN total.covered_without_usd = 0 THEN round_half_up(point.realized_usd, 4) END AS realized_pnl_usd
         FROM point
        CROSS JOIN total
       ),
       -- With ties, to which the rest of the order is applied.
       newest AS (
       SELECT *
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          AND created_at > %(since)s
          AND created_at <= %(until)s
        ORDER BY created_at DESC
        FETCH FIRST %(most_trades)s ROWS WITH TIES
       ),
       page AS (
       SELECT row_number() OVER (ORDER BY
{ledger.trade_order: @ DESC},
                                          mint DESC) AS place,
{trade_facts},
              token.mint,
              token.symbol,
              COALESCE(candidate.token_name, token.token_name, token.face_name, '') AS token_name,
              shown.value,
              shown.value_usd,
              %(currency)s::text AS currency,
              CASE WHEN NOT is_sell THEN shown.value END AS buy_value,
              CASE WHEN NOT is_sell THEN shown.value_usd END AS buy_value_usd,
              CASE WHEN is_sell THEN shown.value END AS sell_value,
              CASE WHEN is_sell THEN shown.value_usd END AS sell_value_usd
         FROM newest AS candidate
        CROSS JOIN latest
         JOIN token
           ON token.token_id = candidate.token_id
         LEFT JOIN (SELECT number AS final_block
                      FROM final_blocks
                     WHERE blockchain = %(blockchain)s) AS finality
           ON TRUE
        CROSS JOIN LATERAL (
              SELECT round_half_up(candidate.value, 9) AS value,
                     round_half_up(COALESCE(candidate.value_usd, candidate.value * latest.usd), 4) AS value_usd) AS shown
        ORDER BY place
        LIMIT %(most_trades)s
       ),
       hour AS (
       SELECT extract(hour FROM starts_at AT TIME ZONE 'UTC')::integer AS hour,
              sum(txn)::bigint AS txn
         FROM (SELECT starts_at,
                      buy_txn + sell_txn AS txn
                 FROM wallet_hours
                WHERE wallet_id = %(wallet_id)s
                  AND starts_at >= %(active_first)s
                  AND starts_at < %(active_end)s
                UNION ALL
               SELECT within.*
                 FROM unnest(%(active_starts)s::timestamptz[], %(active_ends)s::timestamptz[]) AS span (starts_at, ends_at)
                CROSS JOIN LATERAL (
                      SELECT date_bin('1 hour', created_at, 'epoch'),
                             count(*)
                        FROM trades
                       WHERE wallet_id = %(wallet_id)s
                         AND created_at > span.starts_at
                         AND created_at <= span.ends_at
                       GROUP BY 1) AS within) AS counted
        GROUP BY 1
       ),
       head AS (
       SELECT 1 AS place,
{profile},
{coin_price: @ AS profile_$},
              ARRAY(SELECT ARRAY[hour, txn]
                      FROM hour) AS hours,
              stats.*,
              stuck.*,
              total.tokens AS active_tokens_count,
              total.still_holding_count,
              CASE WHEN bought_token_count = 0 THEN 0
                   ELSE round_half_up(quotient(invested, bought_token_count), 9)
              END AS avg_position_size,
              (total.buy_txn + total.sell_txn)::bigint AS total_txn
         FROM wallet
        CROSS JOIN total
        CROSS JOIN stats
        CROSS JOIN stuck
       )
{lists: token_row chart page}
