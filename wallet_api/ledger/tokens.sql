-- The ids of tokens.

-- find --
-- The ids of these tokens, by their place from 0; those that have none yet are left out. Looked up one by one:
-- a join would be a bad one as long as tokens has no statistics. Needs tokens_blockchain_mint_key.
SELECT wanted.place - 1 AS place,
       found.token_id
  FROM unnest(%(blockchains)s::text[], %(mints)s::text[]) WITH ORDINALITY
           AS wanted (blockchain, mint, place)
 CROSS JOIN LATERAL (
       SELECT tokens.token_id
         FROM tokens
        WHERE tokens.blockchain = wanted.blockchain
          AND tokens.mint = wanted.mint
       OFFSET 0) AS found;

-- add --
-- Give new tokens their ids. Sorted, so that two imports wait for each other in one order.
-- Needs tokens_blockchain_mint_key.
INSERT INTO tokens (blockchain, mint)
SELECT blockchain, mint
  FROM unnest(%(blockchains)s::text[], %(mints)s::text[]) AS incoming (blockchain, mint)
 ORDER BY blockchain, mint
    ON CONFLICT (blockchain, mint) DO NOTHING;
