-- The ids of the batch's tokens, numbered from 0. Needs tokens_blockchain_mint_key.
INSERT INTO batch_tokens
SELECT incoming.place - 1 AS token_number,
       incoming.blockchain,
       tokens.token_id
  FROM unnest(%(blockchains)s::text[], %(mints)s::text[]) WITH ORDINALITY
           AS incoming (blockchain, mint, place)
  JOIN tokens
    ON tokens.blockchain = incoming.blockchain
   AND tokens.mint = incoming.mint
