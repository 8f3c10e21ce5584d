-- Keep what was left out of some wallets. Needs wallets_pkey, sync_left_out_pkey.
INSERT INTO sync_left_out AS kept (wallet_id, tx_signature, reason, detail, created_at, first_seen_at, tried_at)
SELECT given.wallet_id,
       given.tx_signature,
       given.reason,
       given.detail,
       given.created_at,
       %(now)s::timestamptz,
       %(now)s::timestamptz
  FROM unnest(%(wallet_ids)s::bigint[], %(signatures)s::text[], %(reasons)s::text[], %(details)s::text[],
              %(moments)s::timestamptz[])
       AS given (wallet_id, tx_signature, reason, detail, created_at)
  JOIN wallets
    ON wallets.wallet_id = given.wallet_id
    ON CONFLICT (wallet_id, tx_signature) DO UPDATE
   SET reason = excluded.reason,
       detail = excluded.detail,
       created_at = excluded.created_at,
       tried_at = excluded.tried_at
RETURNING wallet_id,
          tx_signature,
          first_seen_at = %(now)s::timestamptz AS is_new
