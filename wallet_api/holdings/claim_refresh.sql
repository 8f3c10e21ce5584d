-- Claim the next refresh of a tracked wallet; no row if it is claimed, is fresh, or just failed.
-- Needs wallets_pkey, holdings_snapshots_pkey.
INSERT INTO holdings_snapshots AS snapshot (wallet_id, claim, claimed_at, claim_expires_at)
VALUES (%(wallet_id)s, %(claim)s::uuid, now(), now() + make_interval(secs => %(claim_seconds)s))
    ON CONFLICT (wallet_id) DO UPDATE
   SET claim = excluded.claim,
       claimed_at = excluded.claimed_at,
       claim_expires_at = excluded.claim_expires_at
 WHERE (snapshot.claim_expires_at IS NULL OR snapshot.claim_expires_at <= excluded.claimed_at)
   AND (snapshot.retry_at IS NULL OR snapshot.retry_at <= excluded.claimed_at)
   AND (snapshot.refreshed_at IS NULL
        OR excluded.claimed_at - snapshot.refreshed_at >= make_interval(secs => %(ttl_seconds)s))
RETURNING wallet_id
