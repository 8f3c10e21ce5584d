-- Give every token of the batch its id. Sorted, so that two imports wait for each other in one order. Not
-- NOT EXISTS, whose plan is a bad join as long as tokens has no statistics. Needs tokens_blockchain_mint_key.
INSERT INTO tokens (blockchain, mint)
SELECT incoming.blockchain, incoming.mint
  FROM unnest(%(blockchains)s::text[], %(mints)s::text[]) AS incoming (blockchain, mint)
 WHERE (SELECT token_id
          FROM tokens
         WHERE tokens.blockchain = incoming.blockchain
           AND tokens.mint = incoming.mint) IS NULL
 ORDER BY incoming.blockchain, incoming.mint
    ON CONFLICT (blockchain, mint) DO NOTHING
