-- A tracked wallet with its latest snapshot, and the state of its refresh. Tokens of more than max_bytes, as they
-- are stored, are left out. No row if the wallet of the id has another address.
-- Needs wallets_pkey, holdings_snapshots_pkey.
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
    WHERE wallet.wallet_id = %(wallet_id)s
      AND wallet.blockchain = %(blockchain)s
      AND wallet.address = %(address)s
