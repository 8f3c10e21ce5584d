-- Stage the tracked wallets among these, and return the places, from 0, of those that are not tracked.
-- Needs wallets_blockchain_address_key.
  WITH wanted AS (
       SELECT place - 1 AS place,
              wallets.wallet_id
         FROM unnest(%(blockchains)s::text[], %(addresses)s::text[]) WITH ORDINALITY
                  AS identity (blockchain, address, place)
         LEFT JOIN wallets
           ON wallets.blockchain = identity.blockchain
          AND wallets.address = identity.address
       ),
       staged AS (
       INSERT INTO removed_wallets
       SELECT wallet_id
         FROM wanted
        WHERE wallet_id IS NOT NULL
           ON CONFLICT (wallet_id) DO NOTHING
       )
SELECT place,
       FALSE AS is_tracked
  FROM wanted
 WHERE wallet_id IS NULL
