-- The syncs of jobs and chains.

-- read --
-- Needs sync_heartbeats_pkey.
SELECT job,
       blockchain,
       succeeded_at IS NOT NULL AS has_succeeded,
       GREATEST(COALESCE(succeeded_at, first_tried_at), arrived_at) AS since,
       COALESCE(succeeded_at, first_tried_at) AS ended_at,
       wallets,
       failed,
       delay_seconds,
       round_wallets,
       round_read,
       round_trades
  FROM sync_heartbeats
 ORDER BY job, blockchain;

-- save_try --
-- Needs sync_heartbeats_pkey.
INSERT INTO sync_heartbeats (job, blockchain, first_tried_at, wallets, failed)
SELECT %(job)s,
       blockchain,
       %(now)s,
       0,
       0
  FROM unnest(%(blockchains)s::text[]) AS blockchain
    ON CONFLICT (job, blockchain) DO UPDATE
   SET round_wallets = NULL,
       round_read = NULL,
       round_trades = NULL;

-- save_progress --
-- Save how far a round under way is. Needs sync_heartbeats_pkey.
UPDATE sync_heartbeats
   SET arrived_at = COALESCE(%(arrived_at)s::timestamptz, arrived_at),
       round_wallets = %(wallets)s,
       round_read = %(read)s,
       round_trades = %(trades)s
 WHERE job = %(job)s
   AND blockchain = %(blockchain)s;

-- save_success --
-- Needs sync_heartbeats_pkey.
INSERT INTO sync_heartbeats AS last (
       job, blockchain, first_tried_at, succeeded_at, wallets, failed, delay_seconds)
VALUES (%(job)s, %(blockchain)s, %(succeeded_at)s, %(succeeded_at)s, %(wallets)s, %(failed)s,
        %(delay_seconds)s::double precision)
    ON CONFLICT (job, blockchain) DO UPDATE
   SET succeeded_at = excluded.succeeded_at,
       wallets = excluded.wallets,
       failed = excluded.failed,
       delay_seconds = COALESCE(excluded.delay_seconds, last.delay_seconds),
       round_wallets = NULL,
       round_read = NULL,
       round_trades = NULL;

-- save_failure --
-- Needs sync_heartbeats_pkey.
UPDATE sync_heartbeats
   SET wallets = %(wallets)s,
       failed = %(failed)s,
       round_wallets = NULL,
       round_read = NULL,
       round_trades = NULL
 WHERE job = %(job)s
   AND blockchain = %(blockchain)s;

-- forget --
-- Forget a job, for a chain or for all. Needs sync_heartbeats_pkey.
DELETE FROM sync_heartbeats
 WHERE job = %(job)s
   AND (blockchain = %(blockchain)s OR %(blockchain)s::text IS NULL);

-- forget_follow --
-- Forget how a chain is followed. Needs sync_follows_pkey.
DELETE FROM sync_follows
 WHERE blockchain = %(blockchain)s;

-- forget_blocks --
-- Forget the blocks of a chain whose hashes are known. Needs sync_blocks_pkey.
DELETE FROM sync_blocks
 WHERE blockchain = %(blockchain)s
