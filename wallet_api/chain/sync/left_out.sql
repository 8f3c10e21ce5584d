-- What was left out: kept, and read again; or named, until an operator accepts it.

-- due --
-- What was left out and last tried before a time, those tried longest ago first; of what others did, what was
-- not tried again. Needs sync_left_out_by_trial, wallets_pkey.
SELECT kept.wallet_id,
       wallets.blockchain,
       wallets.address,
       kept.tx_signature,
       kept.created_at,
       kept.is_signed
  FROM sync_left_out AS kept
  JOIN wallets
    ON wallets.wallet_id = kept.wallet_id
 WHERE kept.tried_at < %(tried_before)s
   AND kept.created_at IS NOT NULL
   AND kept.trades IS NULL
   AND (kept.is_signed OR kept.tried_at = kept.first_seen_at)
   AND wallets.blockchain = ANY(%(blockchains)s::text[])
 ORDER BY kept.tried_at
 LIMIT %(most)s;

-- keep --
-- Keep what was left out of some wallets, or (with its trades) is named, but for what was named or accepted
-- before. Needs wallets_pkey, sync_left_out_pkey.
INSERT INTO sync_left_out AS kept (
       wallet_id, tx_signature, reason, detail, created_at, is_signed, trades, first_seen_at, tried_at)
SELECT given.wallet_id,
       given.tx_signature,
       given.reason,
       given.detail,
       given.created_at,
       given.is_signed,
       given.trades::jsonb,
       %(now)s::timestamptz,
       %(now)s::timestamptz
  FROM unnest(%(wallet_ids)s::bigint[], %(signatures)s::text[], %(reasons)s::text[], %(details)s::text[],
              %(moments)s::timestamptz[], %(signed)s::boolean[], %(trades)s::text[])
       AS given (wallet_id, tx_signature, reason, detail, created_at, is_signed, trades)
  JOIN wallets
    ON wallets.wallet_id = given.wallet_id
    ON CONFLICT (wallet_id, tx_signature) DO UPDATE
   SET reason = excluded.reason,
       detail = excluded.detail,
       created_at = excluded.created_at,
       is_signed = excluded.is_signed,
       trades = excluded.trades,
       tried_at = excluded.tried_at
 WHERE kept.trades IS NULL
RETURNING wallet_id,
          tx_signature,
          first_seen_at = %(now)s::timestamptz AS is_new;

-- expire --
-- Forget what others did and is not named, after a time and beyond the newest ones of a chain; return how
-- many. Needs sync_left_out_unsigned, wallets_pkey.
DELETE FROM sync_left_out AS kept
 USING wallets
 WHERE wallets.wallet_id = kept.wallet_id
   AND wallets.blockchain = %(blockchain)s
   AND NOT kept.is_signed
   AND kept.trades IS NULL
   AND (kept.first_seen_at < %(seen_before)s::timestamptz
        OR (kept.first_seen_at, kept.tx_signature)
           < (SELECT newest.first_seen_at,
                     newest.tx_signature
                FROM sync_left_out AS newest
                JOIN wallets AS owner
                  ON owner.wallet_id = newest.wallet_id
               WHERE owner.blockchain = %(blockchain)s
                 AND NOT newest.is_signed
                 AND newest.trades IS NULL
               ORDER BY newest.first_seen_at DESC, newest.tx_signature DESC
              OFFSET %(most)s - 1
               LIMIT 1));

-- forget --
-- Forget what could be read now. Needs sync_left_out_pkey.
DELETE FROM sync_left_out AS kept
 USING unnest(%(wallet_ids)s::bigint[], %(signatures)s::text[]) AS given (wallet_id, tx_signature)
 WHERE kept.wallet_id = given.wallet_id
   AND kept.tx_signature = given.tx_signature;

-- count --
-- How many are kept of some chains for a reason, of what the wallets did. Needs wallets_pkey.
SELECT count(*) AS kept
  FROM sync_left_out AS kept
  JOIN wallets
    ON wallets.wallet_id = kept.wallet_id
 WHERE kept.is_signed
   AND kept.reason = %(reason)s
   AND wallets.blockchain = ANY(%(blockchains)s::text[]);

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
