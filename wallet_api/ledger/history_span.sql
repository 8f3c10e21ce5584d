-- Since when a sync has read all trades of a wallet, and until when, NULL if that is up to an hour ago: of `state`, its row of
-- sync_wallets, and `chain`, that of sync_chains if it is read with its chain.
iso_time(state.synced_from) AS history_since,
CASE WHEN COALESCE(chain.synced_until, state.synced_until) < now() - interval '1 hour'
     THEN iso_time(COALESCE(chain.synced_until, state.synced_until)) END AS history_until
