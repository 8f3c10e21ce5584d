-- Remove the volume of groups without wallets, down to the buckets that are about to expire.
-- Needs wallets_by_group.
DELETE FROM volume_rollup
 WHERE NOT EXISTS (SELECT FROM wallets
                    WHERE wallets.blockchain = volume_rollup.blockchain
                      AND wallets.type = volume_rollup.type)
