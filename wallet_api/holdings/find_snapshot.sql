-- A tracked wallet with what is known of its balances, and what became of the latest attempts to read them.
-- Needs wallets_blockchain_address_key and holdings_snapshots_pkey.
   SELECT wallet.wallet_id,
          snapshot.tokens,
          snapshot.token_count,
          shown_time(snapshot.refreshed_at) AS last_updated,
          extract(epoch FROM now() - snapshot.refreshed_at)::float8 AS age_seconds,
          coalesce(snapshot.claim_expires_at > now(), FALSE) AS refreshing,
          coalesce(extract(epoch FROM snapshot.retry_at - now()), 0)::float8 AS pause_seconds,
          snapshot.failure
     FROM wallets AS wallet
LEFT JOIN holdings_snapshots AS snapshot
       ON snapshot.wallet_id = wallet.wallet_id
    WHERE wallet.blockchain = %(blockchain)s
      AND wallet.address = %(address)s
