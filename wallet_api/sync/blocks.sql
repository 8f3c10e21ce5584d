-- The blocks whose hashes are known.

-- known --
-- Those of a chain, in their order. Needs sync_blocks_pkey.
SELECT number,
       hash,
       created_at,
       transactions
  FROM sync_blocks
 WHERE blockchain = %(blockchain)s
 ORDER BY number;

-- keep --
-- Keep a block. Needs sync_blocks_pkey.
INSERT INTO sync_blocks (blockchain, number, hash, created_at, transactions)
VALUES (%(blockchain)s, %(number)s, %(hash)s, %(created_at)s, %(transactions)s)
    ON CONFLICT (blockchain, number) DO UPDATE
   SET hash = excluded.hash,
       created_at = excluded.created_at,
       transactions = excluded.transactions;

-- forget --
-- Forget all but the newest ones of a chain. Needs sync_blocks_pkey.
DELETE FROM sync_blocks
 WHERE blockchain = %(blockchain)s
   AND number < (SELECT min(newest.number)
                   FROM (SELECT number
                           FROM sync_blocks
                          WHERE blockchain = %(blockchain)s
                          ORDER BY number DESC
                          LIMIT %(kept)s) AS newest);

-- trades --
-- The trades of some transactions, each of a block. Needs wallets_by_group, trades_by_time, tokens_pkey.
SELECT wallets.blockchain,
       wallets.address AS wallet_address,
       trades.tx_signature,
       tokens.mint,
       CASE WHEN trades.is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
       trades.event_index
  FROM unnest(%(signatures)s::text[], %(moments)s::timestamptz[]) AS lost (tx_signature, created_at)
  JOIN wallets
    ON wallets.blockchain = %(blockchain)s
  JOIN trades
    ON trades.wallet_id = wallets.wallet_id
   AND trades.created_at = lost.created_at
   AND trades.tx_signature = lost.tx_signature
  JOIN tokens
    ON tokens.token_id = trades.token_id;

-- left_out --
-- Forget what was left out of some transactions. Needs sync_left_out_pkey, wallets_by_group.
DELETE FROM sync_left_out AS kept
 USING wallets
 WHERE wallets.wallet_id = kept.wallet_id
   AND wallets.blockchain = %(blockchain)s
   AND kept.tx_signature = ANY(%(signatures)s::text[]);

-- orphaned --
-- Forget blocks that the chain no longer has. Needs sync_blocks_pkey.
DELETE FROM sync_blocks
 WHERE blockchain = %(blockchain)s
   AND number = ANY(%(numbers)s::bigint[])
