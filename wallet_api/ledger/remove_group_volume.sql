-- Remove the volume of some groups, down to the buckets that are about to expire.
DELETE FROM volume_rollup
 USING unnest(%(blockchains)s::text[], %(types)s::text[]) AS emptied (blockchain, type)
 WHERE volume_rollup.blockchain = emptied.blockchain
   AND volume_rollup.type = emptied.type
