-- For other statements to include, after their CTE wanted (token_id). It adds token_name (token_id, token_name): the name
-- in the newest trade of each wanted token that has one. A token without a name has no row.
-- The newest trade of a position with a name is at least as new as the trade, so that a token which never had a name is
-- not searched.
-- Needs positions_by_token, trades_by_token, wallets_pkey.
       token_name AS (
       SELECT wanted.token_id,
              trade.token_name
         FROM wanted
        CROSS JOIN LATERAL (
              SELECT max(last_seen) AS last_at
                FROM positions
               WHERE positions.token_id = wanted.token_id
                 AND positions.token_name IS NOT NULL) AS named
        CROSS JOIN LATERAL (
              SELECT recent.*
                FROM (SELECT *
                        FROM trades
                       WHERE trades.token_id = wanted.token_id
                         AND trades.created_at <= named.last_at
                         AND trades.token_name IS NOT NULL
                       ORDER BY trades.created_at DESC
                       FETCH FIRST 1 ROW WITH TIES) AS recent
                JOIN wallets
                  ON wallets.wallet_id = recent.wallet_id
               ORDER BY recent.is_sell DESC, recent.tx_signature DESC, recent.event_index DESC, wallets.address DESC
               LIMIT 1) AS trade
       )
