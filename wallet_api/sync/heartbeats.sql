-- The last successful round of each job and chain. Needs sync_heartbeats_pkey.
SELECT job,
       blockchain,
       succeeded_at,
       wallets,
       failed
  FROM sync_heartbeats
 ORDER BY job, blockchain
