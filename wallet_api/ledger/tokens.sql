-- Give new tokens their ids. Sorted, so that two imports wait for each other in one order.
-- Needs tokens_blockchain_mint_key.
INSERT INTO tokens (blockchain, mint)
SELECT blockchain, mint
  FROM unnest(%(blockchains)s::text[], %(mints)s::text[]) AS incoming (blockchain, mint)
 ORDER BY blockchain, mint
    ON CONFLICT (blockchain, mint) DO NOTHING
