-- The groups without wallets.

-- groups --
-- Remove them, and return them.
DELETE FROM wallet_groups
 WHERE wallet_count = 0
RETURNING blockchain,
          type;

-- volume --
-- Remove their volume, down to the buckets that are about to expire.
DELETE FROM volume_rollup
 USING unnest(%(blockchains)s::text[], %(types)s::text[]) AS emptied (blockchain, type)
 WHERE volume_rollup.blockchain = emptied.blockchain
   AND volume_rollup.type = emptied.type
