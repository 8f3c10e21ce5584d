-- For other statements to include: which tokens are signals in a window that ends at `now`, by what was known then. It adds tracked
-- (wallet_id), the wallets of the group; member (token_id, wallet_id), those that make each signal; and wanted, the tokens in their order.
-- Needs wallets_by_group, position_days_pkey, trades_by_time, trades_by_token, trades_pkey, tokens_pkey, positions_pkey,
-- positions_by_token, and what whole_days.sql needs.
{group_wallets},
{whole_days},
       -- What a wallet did in a token in the window: on its whole days by position_days, at its edges by the trades. Sales are summed for
       -- exits alone.
       traded AS MATERIALIZED (
       SELECT token_id,
              wallet_id,
              sum(invested) FILTER (WHERE buy_txn > 0) AS bought,
              sum(sold) FILTER (WHERE sell_txn > 0 AND %(mode)s = 'exit') AS sold,
              max(last_seen) FILTER (WHERE %(mode)s = 'exit') AS last_seen
         FROM (SELECT token_id,
                      wallet_id,
                      buy_txn,
                      sell_txn,
                      invested,
                      sold,
                      last_seen
                 FROM position_days
                -- An array, so that the days of each wallet are found by the key, and none of other groups is read.
                WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                               FROM tracked))
                  AND day >= %(first_day)s
                  AND day < (SELECT end_day
                               FROM whole)
                  AND (buy_txn > 0 OR %(mode)s = 'exit')
                UNION ALL
               SELECT within.*
                 FROM tracked
                CROSS JOIN edge_span
                -- Summed in the subquery, so that no trade of other groups is read.
                CROSS JOIN LATERAL (
                      SELECT token_id,
                             wallet_id,
                             count(*) FILTER (WHERE NOT is_sell) AS buy_txn,
                             count(*) FILTER (WHERE is_sell) AS sell_txn,
                             sum(value) FILTER (WHERE NOT is_sell) AS invested,
                             sum(value) FILTER (WHERE is_sell) AS sold,
                             max(created_at) AS last_seen
                        FROM trades
                       WHERE wallet_id = tracked.wallet_id
                         AND created_at > edge_span.starts_at
                         AND created_at <= edge_span.ends_at
                         AND (NOT is_sell OR %(mode)s = 'exit')
                       GROUP BY wallet_id, token_id) AS within) AS piece
        GROUP BY wallet_id, token_id
       ),
       -- The tokens that each wallet sold, in an array, so that its positions are found by one search of their key.
       sold AS MATERIALIZED (
       SELECT wallet_id,
              array_agg(token_id) AS token_ids
         FROM traded
        WHERE sold >= %(min_value)s
          AND %(mode)s = 'exit'
        GROUP BY wallet_id
       ),
       -- Those that may have been left at the end of the window: a position without a later trade has its state of then.
       candidate AS MATERIALIZED (
       SELECT positions.wallet_id,
              positions.token_id,
              positions.last_seen > %(now)s AS is_traded_later
         FROM sold
         JOIN positions
           ON positions.wallet_id = sold.wallet_id
          AND positions.token_id = ANY (sold.token_ids)
        WHERE positions.last_seen > %(now)s
           OR NOT still_held(quantity, peak)
       ),
       maybe_left AS MATERIALIZED (
       SELECT traded.token_id,
              traded.wallet_id,
              traded.bought,
              traded.last_seen,
              candidate.is_traded_later
         FROM candidate
         JOIN traded
           ON traded.wallet_id = candidate.wallet_id
          AND traded.token_id = candidate.token_id
       ),
       -- Whether it was held at the end of the window, where there is a later trade.
       ended AS MATERIALIZED (
       SELECT last.*
         FROM (SELECT *
                 FROM maybe_left
                WHERE is_traded_later) AS moved
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(still_held(quantity_after, peak_after)
                                ORDER BY
{ledger.trade_order: @ DESC}
                     ))[1] AS is_held
                FROM trades
               WHERE wallet_id = moved.wallet_id
                 AND token_id = moved.token_id
                 AND created_at = moved.last_seen
               GROUP BY wallet_id, token_id) AS last
       ),
       gone AS MATERIALIZED (
       SELECT maybe_left.token_id,
              maybe_left.wallet_id,
              maybe_left.bought
         FROM maybe_left
         LEFT JOIN ended
           ON ended.wallet_id = maybe_left.wallet_id
          AND ended.token_id = maybe_left.token_id
        WHERE NOT (is_traded_later AND ended.is_held)
       ),
       -- Whether it was held before the window, where nothing was bought in it: after a purchase it was held, and a sale leaves no more
       -- than there was.
       began AS MATERIALIZED (
       SELECT before.*
         FROM (SELECT *
                 FROM gone
                WHERE bought IS NULL) AS unbought
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(still_held(quantity_after, peak_after)
                                ORDER BY
{ledger.trade_order: @ DESC}
                     ))[1] AS is_held
                FROM trades
               WHERE wallet_id = unbought.wallet_id
                 AND token_id = unbought.token_id
                 AND created_at <= %(since)s
               GROUP BY wallet_id, token_id) AS before
       ),
       member AS MATERIALIZED (
       SELECT token_id,
              wallet_id,
              bought
         FROM traded
        WHERE bought >= %(min_value)s
          AND %(mode)s <> 'exit'
        UNION ALL
       SELECT gone.token_id,
              gone.wallet_id,
              gone.bought
         FROM gone
         LEFT JOIN began
           ON began.wallet_id = gone.wallet_id
          AND began.token_id = gone.token_id
        WHERE gone.bought IS NOT NULL
           OR began.is_held
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
       -- The transactions of the first trades that make the signal, where they are to be several.
       began_with AS MATERIALIZED (
       SELECT first.token_id,
              first.tx_signature
         FROM grouped
         JOIN member
           ON member.token_id = grouped.token_id
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(tx_signature ORDER BY created_at, tx_signature, event_index))[1] AS tx_signature
                FROM trades
               WHERE wallet_id = member.wallet_id
                 AND token_id = member.token_id
                 AND created_at > %(since)s
                 AND created_at <= %(now)s
                 AND is_sell = (%(mode)s = 'exit')
               GROUP BY wallet_id, token_id) AS first
        WHERE %(min_transactions)s > 1
       ),
       joint AS MATERIALIZED (
       SELECT token_id
         FROM began_with
        GROUP BY token_id
       HAVING count(DISTINCT tx_signature) >= %(min_transactions)s
       ),
       wanted AS MATERIALIZED (
       SELECT grouped.*,
              row_number() OVER (ORDER BY wallet_count DESC, total_invested DESC, mint) AS ordinal,
              count(*) OVER () AS total,
              tokens.mint
         FROM grouped
         JOIN tokens
           ON tokens.token_id = grouped.token_id
        WHERE grouped.token_id NOT IN (SELECT token_id
                                         FROM known)
          AND (%(min_transactions)s <= 1
               OR grouped.token_id IN (SELECT token_id
                                         FROM joint))
        ORDER BY ordinal
        LIMIT %(limit)s::bigint
       )
