-- wallet_api/queries/tracked.sql
-- The number of tracked wallets of a group. Needs wallets_by_group.
SELECT count(*) AS count
  FROM wallets
 WHERE blockchain = %(blockchain)s
   AND type = ANY (%(types)s::text[])
