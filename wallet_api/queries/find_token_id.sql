-- The id of a token. Needs tokens_blockchain_mint_key.
SELECT token_id
  FROM tokens
 WHERE blockchain = %(blockchain)s
   AND mint = %(mint)s
