-- The tokens that wallets of a group bought together, first, or left in a window that ends at `now`, with what was known
-- then: the state of a position is that of its last trade in the window; its sums are those of today less later trades.
-- Needs wallets_by_group, trades_by_time, trades_by_token, trades_pkey, tokens_pkey, positions_pkey, positions_by_token,
-- wallets_pkey, token_faces_pkey, lifetimes_by_last_seen, native_prices_pkey.
  WITH
{latest_price},
{group_wallets},
       -- What a wallet did in a token in the window; of an exit, with whether it held the token after some trade, or after all.
       traded AS MATERIALIZED (
       SELECT within.*
         FROM tracked
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     sum(value) FILTER (WHERE NOT is_sell) AS bought,
                     sum(value) FILTER (WHERE is_sell) AS sold,
                     max(created_at) AS latest_at,
                     bool_or(%(mode)s = 'exit' AND still_held(quantity_after, peak_after)) AS was_held,
                     bool_and(%(mode)s = 'exit' AND still_held(quantity_after, peak_after)) AS is_always_held
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > %(since)s
                 AND created_at <= %(now)s
                 AND (%(mode)s = 'exit' OR NOT is_sell)
               GROUP BY wallet_id, token_id) AS within
       ),
       sold AS MATERIALIZED (
       SELECT traded.*
         FROM traded
        WHERE %(mode)s = 'exit'
          AND sold >= %(min_value)s
          AND NOT is_always_held
       ),
       ended AS MATERIALIZED (
       SELECT last.*
         FROM sold
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(still_held(quantity_after, peak_after)
                                ORDER BY is_sell DESC, tx_signature DESC, event_index DESC))[1] AS is_held
                FROM trades
               WHERE wallet_id = sold.wallet_id
                 AND token_id = sold.token_id
                 AND created_at = sold.latest_at
               GROUP BY wallet_id, token_id) AS last
       ),
       -- Whether the token was held before the window, if it was not in it.
       began AS MATERIALIZED (
       SELECT before.*
         FROM (SELECT *
                 FROM sold
                WHERE NOT was_held) AS unheld
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(still_held(quantity_after, peak_after)
                                ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC))[1]
                         AS is_held
                FROM trades
               WHERE wallet_id = unheld.wallet_id
                 AND token_id = unheld.token_id
                 AND created_at <= %(since)s
               GROUP BY wallet_id, token_id) AS before
       ),
       member AS MATERIALIZED (
       SELECT token_id,
              wallet_id,
              bought
         FROM traded
        WHERE %(mode)s <> 'exit'
          AND bought >= %(min_value)s
        UNION ALL
       SELECT sold.token_id,
              sold.wallet_id,
              sold.bought
         FROM sold
         JOIN ended
           ON ended.wallet_id = sold.wallet_id
          AND ended.token_id = sold.token_id
         LEFT JOIN began
           ON began.wallet_id = sold.wallet_id
          AND began.token_id = sold.token_id
        WHERE NOT ended.is_held
          AND (sold.was_held OR began.is_held)
       ),
       grouped AS MATERIALIZED (
       SELECT token_id,
              count(*) AS wallet_count,
              round_half_up(COALESCE(sum(bought), 0), 9) AS total_invested
         FROM member
        GROUP BY token_id
       HAVING count(*) >= %(min_wallets)s
       ),
       known AS MATERIALIZED (
       SELECT positions.token_id
         FROM grouped
         JOIN positions
           ON positions.token_id = grouped.token_id
         JOIN tracked
           ON tracked.wallet_id = positions.wallet_id
        WHERE %(mode)s = 'entry'
          AND positions.first_buy <= %(since)s
       ),
       wanted AS MATERIALIZED (
       SELECT grouped.*,
              count(*) OVER () AS total,
              tokens.mint
         FROM grouped
         JOIN tokens
           ON tokens.token_id = grouped.token_id
        WHERE grouped.token_id NOT IN (SELECT token_id
                                         FROM known)
        ORDER BY wallet_count DESC, total_invested DESC, mint
        LIMIT %(limit)s::bigint
       ),
       -- Each position that was traded in the window in one of these tokens.
       within AS MATERIALIZED (
       SELECT trades.token_id,
              trades.wallet_id,
              count(*) FILTER (WHERE NOT is_sell) AS buy_txn,
              COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0) AS bought,
              COALESCE(sum(value) FILTER (WHERE is_sell), 0) AS sold,
              COALESCE(sum(token_amount) FILTER (WHERE NOT is_sell), 0) AS bought_tokens,
              COALESCE(sum(value_usd) FILTER (WHERE NOT is_sell), 0) AS bought_usd,
              count(*) FILTER (WHERE NOT is_sell AND value_usd IS NULL) AS buys_without_usd,
              COALESCE(sum(value) FILTER (WHERE NOT is_sell AND value_usd IS NULL), 0) AS bought_without_usd,
              min(created_at) FILTER (WHERE NOT is_sell) AS first_buy_at,
              -- The trades that make the signal.
              min(created_at) FILTER (WHERE is_sell = (%(mode)s = 'exit')) AS first_at,
              max(created_at) FILTER (WHERE is_sell = (%(mode)s = 'exit')) AS latest_at,
              (array_agg(quantity_after ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC))[1]
                  AS quantity,
              (array_agg(peak_after ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC))[1]
                  AS peak
         FROM wanted
         JOIN trades
           ON trades.token_id = wanted.token_id
         JOIN tracked
           ON tracked.wallet_id = trades.wallet_id
        WHERE trades.created_at > %(since)s
          AND trades.created_at <= %(now)s
        GROUP BY trades.wallet_id, trades.token_id
       ),
       stats AS MATERIALIZED (
       SELECT token_id,
              count(*) AS trader_count,
              count(*) FILTER (WHERE still_held(quantity, peak)) AS still_holding_count,
              round_half_up(sum(bought), 9) AS total_buy,
              round_half_up(sum(sold), 9) AS total_sell,
              round_half_up(sum(bought) - sum(sold), 9) AS net_flow
         FROM within
        GROUP BY token_id
       ),
       span AS MATERIALIZED (
       SELECT within.token_id,
              sum(within.buy_txn) AS buy_txn,
              sum(within.bought) AS bought,
              sum(bought_tokens) AS bought_tokens,
              dollars(sum(bought_usd), sum(bought_without_usd), sum(within.buy_txn), sum(buys_without_usd),
                      latest.usd) AS bought_usd,
              min(first_at) AS first_at,
              max(latest_at) AS latest_at
         FROM within
         JOIN member
           ON member.wallet_id = within.wallet_id
          AND member.token_id = within.token_id
        CROSS JOIN latest
        GROUP BY within.token_id, latest.usd
       ),
       -- What came after the moment, to be subtracted.
       later AS MATERIALIZED (
       SELECT trades.token_id,
              trades.wallet_id,
              count(*) FILTER (WHERE NOT is_sell) AS buy_txn,
              count(*) FILTER (WHERE is_sell) AS sell_txn,
              COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0) AS invested,
              COALESCE(sum(value) FILTER (WHERE is_sell), 0) AS sold,
              COALESCE(sum(token_amount) FILTER (WHERE NOT is_sell), 0) AS bought_tokens,
              COALESCE(sum(token_amount) FILTER (WHERE is_sell), 0) AS sold_tokens,
              COALESCE(sum(value_usd) FILTER (WHERE NOT is_sell), 0) AS invested_usd,
              COALESCE(sum(value_usd) FILTER (WHERE is_sell), 0) AS sold_usd,
              count(*) FILTER (WHERE NOT is_sell AND value_usd IS NULL) AS buys_without_usd,
              count(*) FILTER (WHERE is_sell AND value_usd IS NULL) AS sells_without_usd,
              COALESCE(sum(value) FILTER (WHERE NOT is_sell AND value_usd IS NULL), 0) AS invested_without_usd,
              COALESCE(sum(value) FILTER (WHERE is_sell AND value_usd IS NULL), 0) AS sold_without_usd,
              COALESCE(sum(realized), 0) AS realized,
              COALESCE(sum(realized_cost), 0) AS realized_cost,
              COALESCE(sum(realized_usd), 0) AS realized_usd,
              count(realized_cost) - count(realized_usd) AS covered_without_usd
         FROM wanted
         JOIN trades
           ON trades.token_id = wanted.token_id
        WHERE %(include_wallets)s
          AND trades.created_at > %(now)s
        GROUP BY trades.wallet_id, trades.token_id
       ),
       position AS MATERIALIZED (
       SELECT within.*,
              positions.buy_txn - COALESCE(later.buy_txn, 0) AS all_buys,
              positions.sell_txn - COALESCE(later.sell_txn, 0) AS all_sells,
              positions.invested - COALESCE(later.invested, 0) AS invested,
              positions.sold - COALESCE(later.sold, 0) AS all_sold,
              positions.bought_tokens - COALESCE(later.bought_tokens, 0) AS all_bought_tokens,
              positions.sold_tokens - COALESCE(later.sold_tokens, 0) AS sold_tokens,
              positions.invested_usd - COALESCE(later.invested_usd, 0) AS invested_usd,
              positions.sold_usd - COALESCE(later.sold_usd, 0) AS sold_usd,
              positions.buys_without_usd - COALESCE(later.buys_without_usd, 0) AS all_buys_without_usd,
              positions.sells_without_usd - COALESCE(later.sells_without_usd, 0) AS sells_without_usd,
              positions.invested_without_usd - COALESCE(later.invested_without_usd, 0) AS invested_without_usd,
              positions.sold_without_usd - COALESCE(later.sold_without_usd, 0) AS sold_without_usd,
              positions.realized - COALESCE(later.realized, 0) AS realized,
              positions.realized_cost - COALESCE(later.realized_cost, 0) AS realized_cost,
              positions.realized_usd - COALESCE(later.realized_usd, 0) AS realized_usd,
              positions.covered_without_usd - COALESCE(later.covered_without_usd, 0) AS covered_without_usd,
              row_number() OVER (PARTITION BY within.token_id
                                     ORDER BY within.first_at, wallets.address) AS place
         FROM within
         JOIN member
           ON member.wallet_id = within.wallet_id
          AND member.token_id = within.token_id
         JOIN wallets
           ON wallets.wallet_id = within.wallet_id
         JOIN positions
           ON positions.wallet_id = within.wallet_id
          AND positions.token_id = within.token_id
         LEFT JOIN later
           ON later.wallet_id = within.wallet_id
          AND later.token_id = within.token_id
        WHERE %(include_wallets)s
       ),
       active AS MATERIALIZED (
       SELECT wallet_id
         FROM lifetimes
        WHERE %(include_wallets)s
          AND blockchain = %(blockchain)s
          AND type = %(type)s
          AND last_seen > %(active_since)s
          AND (last_seen <= %(now)s
               OR EXISTS (SELECT
                            FROM trades
                           WHERE trades.wallet_id = lifetimes.wallet_id
                             AND trades.created_at > %(active_since)s
                             AND trades.created_at <= %(now)s))
       ),
       -- As text, since row_to_json takes twice as long. Unknown dollar values are left out.
       shown AS (
       SELECT position.token_id,
              position.place,
              '{"profile":' ||
{profile}
              || COALESCE(',"bought_at":"' || iso_time(first_buy_at) || '"', '')
              || ',"is_active":' || (active.wallet_id IS NOT NULL)
              || ',"still_holding":' || still_held(quantity, peak)
              || ',"buy_txn":' || all_buys
              || ',"sell_txn":' || all_sells
              || ',"buy_tokens":' || round_half_up(all_bought_tokens, 18)
              || ',"sell_tokens":' || round_half_up(sold_tokens, 18)
              || ',"held_tokens":' || round_half_up(quantity, 18)
              || ',"held_tokens_peak":' || round_half_up(peak, 18)
              || ',"bag_pct":' || percentage(quantity, peak)
              || ',"supply_pct":' || COALESCE(percentage(quantity, NULLIF(face.supply, 0))::text, 'null')
              || ',"supply_pct_peak":' || COALESCE(percentage(peak, NULLIF(face.supply, 0))::text, 'null')
              || ',"total_buy":' || round_half_up(invested, 9)
              || COALESCE(',"total_buy_usd":'
                          || round_half_up(dollars(invested_usd, invested_without_usd, all_buys, all_buys_without_usd,
                                                   latest.usd), 4), '')
              || ',"total_sell":' || round_half_up(all_sold, 9)
              || COALESCE(',"total_sell_usd":'
                          || round_half_up(dollars(sold_usd, sold_without_usd, all_sells, sells_without_usd,
                                                   latest.usd), 4), '')
              || ',"realized_pnl":' || round_half_up(realized, 9)
              || CASE WHEN covered_without_usd = 0 THEN ',"realized_pnl_usd":' || round_half_up(realized_usd, 4)
                      ELSE ''
                 END
              || ',"realized_pnl_percentage":' || percentage(realized, realized_cost)
              || ',"window_buy_txn":' || buy_txn
              || ',"window_invested":' || round_half_up(bought, 9)
              || COALESCE(',"window_invested_usd":'
                          || round_half_up(dollars(bought_usd, bought_without_usd, buy_txn, buys_without_usd,
                                                   latest.usd), 4), '')
              || ',"window_tokens_bought":' || round_half_up(bought_tokens, 18)
              || '}' AS entry
         FROM position
         JOIN wallets
           ON wallets.wallet_id = position.wallet_id
         LEFT JOIN (SELECT token_id,
                           supply
                      FROM token_faces) AS face
           ON face.token_id = position.token_id
         LEFT JOIN active
           ON active.wallet_id = position.wallet_id
        CROSS JOIN latest
        WHERE position.place <= %(most_wallets)s
       ),
       listed AS MATERIALIZED (
       SELECT token_id,
              '[' || string_agg(entry, ',' ORDER BY place) || ']' AS wallets
         FROM shown
        GROUP BY token_id
       )
SELECT wanted.mint,
       stats.trader_count,
       stats.still_holding_count,
       stats.total_buy,
       stats.total_sell,
       stats.net_flow,
       listed.wallets,
       wanted.wallet_count,
       wanted.total,
       iso_time(span.first_at) AS first_buy_at,
       iso_time(span.latest_at) AS latest_buy_at,
       round_half_up(quotient(extract(epoch FROM span.latest_at - span.first_at), 60), 2) AS time_span_minutes,
       wanted.total_invested,
       round_half_up(span.bought_usd, 4) AS total_invested_usd,
       round_half_up(quotient(span.bought, wanted.wallet_count), 9) AS avg_invested,
       round_half_up(quotient(span.bought_usd, wanted.wallet_count), 4) AS avg_invested_usd,
       round_half_up(span.bought_tokens, 18) AS total_tokens_bought,
       percentage(span.bought_tokens, NULLIF(face.supply, 0)) AS supply_pct_bought
  FROM wanted
  JOIN stats
    ON stats.token_id = wanted.token_id
  JOIN span
    ON span.token_id = wanted.token_id
  LEFT JOIN listed
    ON listed.token_id = wanted.token_id
  LEFT JOIN token_faces AS face
    ON face.token_id = wanted.token_id
 ORDER BY wanted.wallet_count DESC, wanted.total_invested DESC, wanted.mint
