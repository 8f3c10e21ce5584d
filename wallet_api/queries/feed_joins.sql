-- For feeds to include: what feed_trade.sql is read from. Their CTE latest (currency, usd) is in scope.
-- Needs wallets_pkey, positions_pkey, token_faces_pkey, final_blocks_pkey.
         FROM candidate
         JOIN wallets
           ON wallets.wallet_id = candidate.wallet_id
         JOIN latest
           ON latest.currency = native_currency(wallets.blockchain)
         -- Of a trade without a name alone: NULL is not looked up.
         LEFT JOIN positions
           ON positions.wallet_id = candidate.wallet_id
          AND positions.token_id = CASE WHEN candidate.token_name IS NULL THEN candidate.token_id END
         LEFT JOIN (SELECT token_id AS face_id,
                           symbol,
                           name AS face_name,
                           decimals,
                           supply
                      FROM token_faces) AS face
           ON face.face_id = candidate.token_id
         LEFT JOIN (SELECT blockchain AS final_chain,
                           number AS final_block
                      FROM final_blocks) AS finality
           ON finality.final_chain = wallets.blockchain
