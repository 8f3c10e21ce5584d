-- Stage the tracked wallets among these, and return the places, from 0, of those that are not tracked.
-- Looked up one by one: a join might read all wallets each time. Needs wallets_blockchain_address_key.
  WITH wanted AS (
       SELECT place - 1 AS place,
              wallet.wallet_id
         FROM unnest(%(blockchains)s::text[], %(addresses)s::text[]) WITH ORDINALITY
                  AS identity (blockchain, address, place)
         LEFT JOIN LATERAL (
              SELECT wallets.wallet_id
                FROM wallets
               WHERE wallets.blockchain = identity.blockchain
                 AND wallets.address = identity.address
              OFFSET 0) AS wallet
           ON TRUE
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
