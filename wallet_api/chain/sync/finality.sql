-- What may still disappear from a chain.

-- known_blocks --
-- The blocks of a chain whose hashes are known, in their order. Needs sync_blocks_pkey.
SELECT number,
       hash,
       created_at,
       transactions
  FROM sync_blocks
 WHERE blockchain = %(blockchain)s
 ORDER BY number;

-- keep_block --
-- Keep a block; of one that was read before, also what a node leaves out now. Needs sync_blocks_pkey.
INSERT INTO sync_blocks (blockchain, number, hash, created_at, transactions)
VALUES (%(blockchain)s, %(number)s, %(hash)s, %(created_at)s, %(transactions)s)
    ON CONFLICT (blockchain, number) DO UPDATE
   SET hash = excluded.hash,
       created_at = excluded.created_at,
       transactions = CASE WHEN sync_blocks.hash = excluded.hash
                           THEN ARRAY(SELECT DISTINCT signature
                                        FROM unnest(sync_blocks.transactions || excluded.transactions)
                                             AS signature)
                           ELSE excluded.transactions
                      END;

-- forget_blocks --
-- Forget the blocks of a chain that are final, but for the newest ones. Needs sync_blocks_pkey.
DELETE FROM sync_blocks
 WHERE blockchain = %(blockchain)s
   AND number < (SELECT min(newest.number)
                   FROM (SELECT number
                           FROM sync_blocks
                          WHERE blockchain = %(blockchain)s
                          ORDER BY number DESC
                          LIMIT %(kept)s) AS newest)
   AND created_at < (SELECT max(created_at) - %(final)s::interval
                       FROM sync_blocks
                      WHERE blockchain = %(blockchain)s);

-- keep_final --
-- Keep the newest final block of a chain. Needs final_blocks_pkey.
INSERT INTO final_blocks AS known (blockchain, number)
VALUES (%(blockchain)s, %(number)s)
    ON CONFLICT (blockchain) DO UPDATE
   SET number = excluded.number
 WHERE excluded.number > known.number;

-- forget_final --
-- Forget the final blocks of chains whose sync states none. Needs final_blocks_pkey.
DELETE FROM final_blocks
 WHERE blockchain = ANY(%(blockchains)s::text[]);

-- orphaned_trades --
-- The trades of some transactions, each of the second of its block. Needs wallets_by_group, trades_by_time,
-- tokens_pkey.
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
   AND trades.created_at >= date_trunc('second', lost.created_at)
   AND trades.created_at < date_trunc('second', lost.created_at) + interval '1 second'
   AND trades.tx_signature = lost.tx_signature
  JOIN tokens
    ON tokens.token_id = trades.token_id;

-- orphaned_left_out --
-- Forget what was left out of some transactions. Needs sync_left_out_pkey, wallets_by_group.
DELETE FROM sync_left_out AS kept
 USING wallets
 WHERE wallets.wallet_id = kept.wallet_id
   AND wallets.blockchain = %(blockchain)s
   AND kept.tx_signature = ANY(%(signatures)s::text[]);

-- orphaned_blocks --
-- Forget blocks that the chain no longer has. Needs sync_blocks_pkey.
DELETE FROM sync_blocks
 WHERE blockchain = %(blockchain)s
   AND number = ANY(%(numbers)s::bigint[]);
