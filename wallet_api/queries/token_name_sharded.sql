-- What token_name.sql adds, for Citus, which has no LIMIT for each token: all trades with a name are read.
-- Needs positions_by_token, trades_by_token, wallets_pkey.
       named AS MATERIALIZED (
       SELECT positions.token_id,
              max(positions.last_seen) AS last_at
         FROM wanted
         JOIN positions
           ON positions.token_id = wanted.token_id
        WHERE positions.token_name IS NOT NULL
        GROUP BY positions.token_id
       ),
       called AS MATERIALIZED (
       SELECT trades.*
         FROM named
         JOIN trades
           ON trades.token_id = named.token_id
        WHERE trades.created_at <= named.last_at
          AND trades.token_name IS NOT NULL
       ),
       token_name AS MATERIALIZED (
       SELECT DISTINCT ON (called.token_id)
              called.token_id,
              called.token_name
         FROM called
         JOIN wallets
           ON wallets.wallet_id = called.wallet_id
        ORDER BY called.token_id, called.created_at DESC, called.is_sell DESC, called.tx_signature DESC,
                 called.event_index DESC, wallets.address DESC
       )
