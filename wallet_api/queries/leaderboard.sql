-- The wallets of a group that traded in a period, with the period's figures, by volume. The period is
-- covered by the days of the rollup, and by the trades themselves at its edges (bucket size 0).
-- Needs wallets_by_group, position_rollup_pkey, trades_by_time, native_prices_pkey.
  WITH span AS (
       SELECT *
         FROM unnest(%(sizes)s::integer[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
                  AS span (bucket_seconds, starts_at, ends_at)
       ),
       tracked AS MATERIALIZED (
       SELECT wallet_id,
              address,
              name,
              image_url,
              twitter
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
       ),
       piece AS (
       SELECT rollup.wallet_id,
              rollup.token_id,
              rollup.buy_txn,
              rollup.sell_txn,
              rollup.covered_txn,
              rollup.unpriced_txn,
              rollup.unpriced_sell_txn,
              rollup.volume,
              rollup.volume_usd,
              rollup.unpriced_volume,
              rollup.realized,
              rollup.realized_cost,
              rollup.realized_usd,
              rollup.hold_seconds,
              rollup.hold_cost
         FROM tracked
        CROSS JOIN span
         JOIN position_rollup AS rollup
           ON rollup.wallet_id = tracked.wallet_id
          AND rollup.ends_at > span.starts_at
          AND rollup.ends_at <= span.ends_at
        WHERE span.bucket_seconds > 0
        UNION ALL
       SELECT trades.wallet_id,
              trades.token_id,
              (NOT is_sell)::integer,
              is_sell::integer,
              (realized_cost IS NOT NULL)::integer,
              (value_usd IS NULL)::integer,
              (is_sell AND realized_usd IS NULL)::integer,
              value,
              COALESCE(value_usd, 0),
              CASE WHEN value_usd IS NULL THEN value ELSE 0 END,
              COALESCE(realized, 0),
              COALESCE(realized_cost, 0),
              COALESCE(realized_usd, 0),
              COALESCE(hold_seconds, 0),
              COALESCE(round(hold_seconds * realized_cost, greatest(40, scale(realized_cost))), 0)
         FROM tracked
        CROSS JOIN span
        CROSS JOIN LATERAL (
              SELECT *
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
              -- A fence, so that no trade of other groups is read.
              OFFSET 0) AS trades
        WHERE span.bucket_seconds = 0
       ),
       position AS (
       SELECT wallet_id,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(covered_txn) AS covered_txn,
              sum(unpriced_txn) AS unpriced_txn,
              sum(unpriced_sell_txn) AS unpriced_sell_txn,
              sum(volume) AS volume,
              sum(volume_usd) AS volume_usd,
              sum(unpriced_volume) AS unpriced_volume,
              sum(realized) AS realized,
              sum(realized_usd) AS realized_usd,
              sum(realized_cost) AS realized_cost,
              sum(hold_seconds) AS hold_seconds,
              sum(hold_cost) AS hold_cost,
              CASE WHEN sum(covered_txn) > 0 THEN profit_bucket(sum(realized), sum(realized_cost)) END AS bucket
         FROM piece
        GROUP BY wallet_id, token_id
       ),
       wallet AS (
       SELECT wallet_id,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(covered_txn) AS covered_txn,
              sum(unpriced_txn) AS unpriced_txn,
              sum(unpriced_sell_txn) AS unpriced_sell_txn,
              sum(volume) AS volume,
              sum(volume_usd) AS volume_usd,
              sum(unpriced_volume) AS unpriced_volume,
              sum(realized) AS realized,
              sum(realized_usd) AS realized_usd,
              sum(realized_cost) AS realized_cost,
              sum(hold_seconds) AS hold_seconds,
              sum(hold_cost) AS hold_cost,
              count(bucket) AS closed_count,
              count(*) FILTER (WHERE bucket > 0) AS win_count,
              count(*) FILTER (WHERE bucket = 3) AS above_500,
              count(*) FILTER (WHERE bucket = 2) AS above_100_to_500,
              count(*) FILTER (WHERE bucket = 1) AS above_zero_to_100,
              count(*) FILTER (WHERE bucket = 0) AS below_zero
         FROM position
        GROUP BY wallet_id
       HAVING sum(buy_txn) + sum(sell_txn) > 0
       ),
       ranked AS (
       SELECT wallet.*,
              tracked.address,
              tracked.name,
              tracked.image_url,
              tracked.twitter,
              shown(wallet.volume, 9) AS total_volume,
              row_number() OVER (ORDER BY shown(wallet.volume, 9) DESC, tracked.address) AS rank
         FROM wallet
         JOIN tracked
           ON tracked.wallet_id = wallet.wallet_id
       )
SELECT address,
       total_volume,
       json_strip_nulls(json_build_object(
           'wallet', address,
           'rank', rank,
           'profile', json_build_object(
               'name', name,
               'image_url', image_url,
               'twitter', twitter,
               'currency', %(currency)s::text),
           'period_stats', json_build_object(
               'realized_pnl', shown(realized, 9),
               'realized_pnl_usd', CASE WHEN unpriced_sell_txn = 0 THEN shown(realized_usd, 4) END,
               'buy_txn', buy_txn,
               'sell_txn', sell_txn,
               'total_txn', buy_txn + sell_txn,
               'total_volume', total_volume,
               'total_volume_usd', shown(usd_total(buy_txn + sell_txn, unpriced_txn, volume_usd,
                                                   unpriced_volume, latest.usd), 4),
               'avg_hold_time_minutes', CASE
                   WHEN covered_txn = 0 THEN NULL
                   WHEN realized_cost = 0 THEN shown(quotient(hold_seconds, covered_txn * 60), 2)
                   ELSE shown(quotient(hold_cost, realized_cost * 60), 2) END),
           'period_win_rate_distribution', json_build_object(
               'win_rate_percentage', percentage(win_count, closed_count),
               'above_500', above_500,
               'above_100_to_500', above_100_to_500,
               'above_zero_to_100', above_zero_to_100,
               'below_zero', below_zero,
               'closed_count', closed_count,
               'win_count', win_count)))::text AS entry
  FROM ranked
 CROSS JOIN latest_price(%(blockchain)s, %(now)s) AS latest (usd)
 ORDER BY rank
