-- A token that any tracked wallet ever traded, with the name in the newest trade that has one. Only positions whose newest
-- trade is not older than the newest named trade of one of them can have it.
-- Needs tokens_blockchain_mint_key, positions_by_token, trades_pkey, wallets_pkey, native_prices_pkey.
  WITH position AS (
       SELECT positions.wallet_id,
              positions.token_id,
              positions.token_name,
              positions.last_seen
         FROM tokens
         JOIN positions
           ON positions.token_id = tokens.token_id
        WHERE tokens.blockchain = %(blockchain)s
          AND tokens.mint = %(mint)s
          AND NOT EXISTS (SELECT FROM pending_fills)
       ),
       likely AS (
       SELECT wallet_id,
              token_id
         FROM position
        WHERE token_name IS NOT NULL
        ORDER BY last_seen DESC
        LIMIT 1
       ),
       horizon AS (
       SELECT max(trades.created_at) AS oldest_at
         FROM likely
         JOIN trades
           ON trades.wallet_id = likely.wallet_id
          AND trades.token_id = likely.token_id
        WHERE trades.token_name IS NOT NULL
       ),
       named AS (
       SELECT trades.token_name
         FROM horizon
         JOIN position
           ON position.last_seen >= horizon.oldest_at
         JOIN trades
           ON trades.wallet_id = position.wallet_id
          AND trades.token_id = position.token_id
          AND trades.created_at >= horizon.oldest_at
         JOIN wallets
           ON wallets.wallet_id = position.wallet_id
        WHERE trades.token_name IS NOT NULL
        ORDER BY trades.created_at DESC, trades.is_sell DESC, trades.tx_signature DESC, trades.event_index DESC,
                 wallets.address DESC
        LIMIT 1
       )
SELECT position.token_id,
       COALESCE((SELECT token_name
                   FROM named), '') AS token_name,
       round_half_up((SELECT usd
                        FROM native_prices
                       WHERE currency = 'SOL'
                         AND %(blockchain)s = 'solana'
                         AND priced_at <= %(now)s
                       ORDER BY priced_at DESC
                       LIMIT 1), 4) AS sol_price_usd
  FROM position
 LIMIT 1
