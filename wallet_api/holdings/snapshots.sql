-- The snapshots of balances, and the claims to refresh them.

-- find --
-- A tracked wallet with its latest snapshot, and the state of its refresh. Tokens of more than max_bytes, as
-- they are stored, are left out. Needs wallets_pkey, holdings_snapshots_pkey.
SELECT wallet.wallet_id,
       snapshot.native_amount,
       snapshot.left_out,
       CASE WHEN pg_column_size(snapshot.tokens) <= %(max_bytes)s THEN snapshot.tokens::text END AS tokens,
       pg_column_size(snapshot.tokens) AS tokens_bytes,
       snapshot.refreshed_at,
       extract(epoch FROM now() - snapshot.refreshed_at)::float8 AS age_seconds,
       COALESCE(snapshot.claim_expires_at > now(), FALSE) AS refreshing,
       COALESCE(extract(epoch FROM snapshot.retry_at - now()), 0)::float8 AS pause_seconds,
       snapshot.failure
  FROM wallets AS wallet
  LEFT JOIN holdings_snapshots AS snapshot
    ON snapshot.wallet_id = wallet.wallet_id
   AND snapshot.wallet_id = %(wallet_id)s
 WHERE wallet.wallet_id = %(wallet_id)s;

-- claim --
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
RETURNING wallet_id;

-- save --
-- Save the balances of a refresh, and release its claim; no row if the claim was taken over or the wallet
-- removed. Needs holdings_snapshots_pkey.
UPDATE holdings_snapshots
   SET native_amount = %(native_amount)s,
       tokens = %(tokens)s::jsonb,
       left_out = %(left_out)s,
       refreshed_at = now(),
       claim = NULL,
       claim_expires_at = NULL,
       retry_at = NULL,
       failure = NULL
 WHERE wallet_id = %(wallet_id)s
   AND claim = %(claim)s
RETURNING refreshed_at;

-- fail --
-- Save the failure of a refresh, and release its claim. Needs holdings_snapshots_pkey.
UPDATE holdings_snapshots
   SET claim = NULL,
       claim_expires_at = NULL,
       retry_at = now() + make_interval(secs => %(pause_seconds)s),
       failure = %(failure)s
 WHERE wallet_id = %(wallet_id)s
   AND claim = %(claim)s;

-- known_tokens --
-- The tokens that a wallet has traded, latest first. Needs positions_pkey.
SELECT mint
  FROM positions
 WHERE wallet_id = %(wallet_id)s
 ORDER BY last_seen DESC,
          mint
 LIMIT %(limit)s;
