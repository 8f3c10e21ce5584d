-- For statements about a group, or one token in it, to begin with. Needs tokens_blockchain_mint_key.
  WITH scope AS (
       SELECT CASE WHEN %(mint)s::text IS NULL THEN 0
                   ELSE (SELECT token_id
                           FROM tokens
                          WHERE blockchain = %(blockchain)s
                            AND mint = %(mint)s)
              END AS token_id
       )
