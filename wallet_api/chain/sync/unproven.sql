-- What looks like a trade without a proof: kept by name, until an operator accepts it.

-- known --
-- Of some wallets, how many transactions are named, and which of some are named or accepted. Needs
-- sync_left_out_pkey.
SELECT wallet_id,
       count(*) FILTER (WHERE reason = %(unsigned)s) AS named,
       COALESCE(array_agg(tx_signature) FILTER (WHERE tx_signature = ANY(%(signatures)s::text[])), '{}')
       AS known
  FROM sync_left_out
 WHERE wallet_id = ANY(%(wallet_ids)s::bigint[])
   AND trades IS NOT NULL
 GROUP BY wallet_id;

-- named --
-- What is named, by wallet and time. Needs wallets_pkey.
SELECT wallets.blockchain,
       wallets.address AS wallet_address,
       kept.tx_signature,
       kept.created_at,
       kept.trades
  FROM sync_left_out AS kept
  JOIN wallets
    ON wallets.wallet_id = kept.wallet_id
 WHERE kept.reason = %(unsigned)s
 ORDER BY wallets.blockchain, wallets.address, kept.created_at, kept.tx_signature;

-- beyond --
-- How many more there were of a wallet than are named. Needs sync_report_pkey, wallets_by_group.
SELECT report.blockchain,
       report.label AS wallet_address,
       report.total::bigint AS beyond
  FROM sync_report AS report
  JOIN wallets
    ON wallets.blockchain = report.blockchain
   AND wallets.address = report.label
 WHERE report.name = 'named_beyond'
 ORDER BY report.blockchain, report.label;

-- found --
-- A transaction of a wallet that is named or accepted, on each chain that has it. Needs wallets_by_group,
-- sync_left_out_pkey.
SELECT kept.wallet_id,
       wallets.blockchain,
       wallets.address AS wallet_address,
       kept.tx_signature,
       kept.trades
  FROM sync_left_out AS kept
  JOIN wallets
    ON wallets.wallet_id = kept.wallet_id
 WHERE wallets.address = %(address)s
   AND kept.tx_signature = %(signature)s
   AND kept.trades IS NOT NULL;

-- accept --
-- Mark a transaction of a wallet as accepted. Needs sync_left_out_pkey.
UPDATE sync_left_out
   SET reason = %(accepted)s
 WHERE wallet_id = %(wallet_id)s
   AND tx_signature = %(tx_signature)s;
