-- Give every token of the batch its id. Sorted, so that two imports wait for each other in one order.
INSERT INTO tokens (blockchain, mint)
SELECT incoming.blockchain, incoming.mint
  FROM unnest(%(blockchains)s::text[], %(mints)s::text[]) AS incoming (blockchain, mint)
 WHERE NOT EXISTS (SELECT FROM tokens
                    WHERE tokens.blockchain = incoming.blockchain
                      AND tokens.mint = incoming.mint)
 ORDER BY incoming.blockchain, incoming.mint
    ON CONFLICT (blockchain, mint) DO NOTHING
