-- For other statements to include, after their CTE wanted (token_id). It adds token_name (token_id, token_name): the name
-- in the newest trade of each wanted token that has one. A token without a name has no row.
-- The newest trade of a position with a name is at least as new as the trade, so that a token which never had a name is
-- not searched.
-- Needs positions_by_token, trades_by_token, wallets_pkey.
       named AS (
       SELECT positions.token_id,
              max(positions.last_seen) AS last_at
         FROM wanted
         JOIN positions
           ON positions.token_id = wanted.token_id
        WHERE positions.token_name IS NOT NULL
        GROUP BY positions.token_id
       ),
       token_name AS (
       SELECT named.token_id,
              trade.token_name
         FROM named
        CROSS JOIN LATERAL (
              SELECT recent.*
                FROM (SELECT *
                        FROM trades
                       WHERE trades.token_id = named.token_id
                         AND trades.created_at <= named.last_at
                         AND trades.token_name IS NOT NULL
                       ORDER BY trades.created_at DESC
                       FETCH FIRST 1 ROW WITH TIES) AS recent
                JOIN wallets
                  ON wallets.wallet_id = recent.wallet_id
               ORDER BY recent.is_sell DESC, recent.tx_signature DESC, recent.event_index DESC, wallets.address DESC
               LIMIT 1) AS trade
       )
