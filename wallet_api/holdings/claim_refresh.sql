-- Claims the next reading of a wallet; no row when it is claimed already, still fresh, or failed just now.
-- Needs holdings_snapshots_pkey.
INSERT INTO holdings_snapshots AS snapshot (wallet_id, claim, claimed_at, claim_expires_at)
VALUES (%(wallet_id)s, %(claim)s, now(), now() + make_interval(secs => %(claim_seconds)s))
    ON CONFLICT (wallet_id) DO UPDATE
   SET claim = excluded.claim,
       claimed_at = excluded.claimed_at,
       claim_expires_at = excluded.claim_expires_at
 WHERE (snapshot.claim_expires_at IS NULL OR snapshot.claim_expires_at <= excluded.claimed_at)
   AND (snapshot.retry_at IS NULL OR snapshot.retry_at <= excluded.claimed_at)
   AND (snapshot.refreshed_at IS NULL
        OR snapshot.refreshed_at + make_interval(secs => %(ttl_seconds)s) <= excluded.claimed_at)
RETURNING wallet_id
