-- The ids of the batch's tokens. Needs tokens_blockchain_mint_key.
INSERT INTO batch_tokens
SELECT incoming.token_number,
       incoming.blockchain,
       tokens.token_id
  FROM incoming_tokens AS incoming
  JOIN tokens
    ON tokens.blockchain = incoming.blockchain
   AND tokens.mint = incoming.mint
