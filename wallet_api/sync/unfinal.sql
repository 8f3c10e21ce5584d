-- Transactions in blocks that are not final.

-- keep --
-- Keep transactions of tracked wallets, each with its newest block. Needs wallets_pkey, sync_unfinal_pkey.
INSERT INTO sync_unfinal AS kept (wallet_id, tx_signature, number, created_at, seen_at)
SELECT given.wallet_id,
       given.tx_signature,
       given.number,
       given.created_at,
       given.seen_at
  FROM unnest(%(wallet_ids)s::bigint[], %(signatures)s::text[], %(numbers)s::bigint[],
              %(moments)s::timestamptz[], %(seen)s::timestamptz[])
       AS given (wallet_id, tx_signature, number, created_at, seen_at)
  JOIN wallets
    ON wallets.wallet_id = given.wallet_id
    ON CONFLICT (wallet_id, tx_signature) DO UPDATE
   SET number = excluded.number,
       created_at = excluded.created_at,
       seen_at = excluded.seen_at;

-- due --
-- Those of a chain seen before a time, the oldest first. Needs sync_unfinal_by_time, wallets_pkey.
SELECT kept.wallet_id,
       wallets.blockchain,
       wallets.address,
       kept.tx_signature,
       kept.number,
       kept.created_at,
       kept.seen_at
  FROM sync_unfinal AS kept
  JOIN wallets
    ON wallets.wallet_id = kept.wallet_id
 WHERE kept.seen_at < %(before)s
   AND wallets.blockchain = %(blockchain)s
 ORDER BY kept.seen_at
 LIMIT %(most)s;

-- forget --
-- Forget transactions, unless they were seen in another block meanwhile. Needs sync_unfinal_pkey.
DELETE FROM sync_unfinal AS kept
 USING unnest(%(wallet_ids)s::bigint[], %(signatures)s::text[], %(numbers)s::bigint[])
       AS given (wallet_id, tx_signature, number)
 WHERE kept.wallet_id = given.wallet_id
   AND kept.tx_signature = given.tx_signature
   AND kept.number = given.number
