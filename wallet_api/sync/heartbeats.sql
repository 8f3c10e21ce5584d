-- The last successful round of each job and chain. Needs sync_heartbeats_pkey.
SELECT job,
       blockchain,
       succeeded_at,
       wallets,
       failed,
       delay_seconds
  FROM sync_heartbeats
 ORDER BY job, blockchain
