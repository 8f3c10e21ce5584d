-- The tokens that a wallet has traded, the latest first. Needs positions_pkey and tokens_pkey.
  SELECT token.mint
    FROM positions AS position
    JOIN tokens AS token
      ON token.token_id = position.token_id
   WHERE position.wallet_id = %(wallet_id)s
ORDER BY position.last_seen DESC,
         token.mint
   LIMIT %(limit)s
