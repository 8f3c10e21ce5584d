-- The tokens that a wallet has traded, latest first. Needs positions_pkey.
  SELECT mint
    FROM positions
   WHERE wallet_id = %(wallet_id)s
ORDER BY last_seen DESC,
         mint
   LIMIT %(limit)s
