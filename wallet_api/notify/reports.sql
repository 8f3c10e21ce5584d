-- Up to where the feed was read, and what was reported of it.

-- place --
-- With the time of the database.
SELECT (SELECT cursor
          FROM notify_place) AS cursor,
       clock_timestamp() AS now;

-- move --
-- Needs notify_place_pkey.
INSERT INTO notify_place (cursor, read_at)
VALUES (%(cursor)s, now())
    ON CONFLICT (is_only) DO UPDATE
   SET cursor = excluded.cursor,
       read_at = excluded.read_at;

-- forget_place --
DELETE FROM notify_place;

-- progress --
SELECT cursor,
       read_at,
       forgotten
  FROM notify_place;

-- trades --
-- What the rules reported last of some trades. Needs notify_trades_pkey.
SELECT ordinal,
       rule,
       event_id,
       is_reported,
       traded_at
  FROM unnest(%(blockchains)s::text[],
              %(wallet_addresses)s::text[],
              %(mints)s::text[],
              %(tx_signatures)s::text[],
              %(are_sells)s::boolean[],
              %(event_indexes)s::integer[])
       WITH ORDINALITY AS key (blockchain, wallet_address, mint, tx_signature, is_sell, event_index, ordinal)
  JOIN notify_trades
 USING (blockchain, wallet_address, mint, tx_signature, is_sell, event_index);

-- first_buys --
-- Which of some trades are the first buy of their wallet in their token; of several at one time it is the
-- first by its key. Needs tokens_blockchain_mint_key, wallets_blockchain_address_key, positions_pkey,
-- trades_by_time.
SELECT key.ordinal
  FROM unnest(%(blockchains)s::text[],
              %(wallet_addresses)s::text[],
              %(mints)s::text[],
              %(tx_signatures)s::text[],
              %(are_sells)s::boolean[],
              %(event_indexes)s::integer[])
       WITH ORDINALITY AS key (blockchain, wallet_address, mint, tx_signature, is_sell, event_index, ordinal)
  JOIN tokens
    ON tokens.blockchain = key.blockchain
   AND tokens.mint = key.mint
  JOIN wallets
    ON wallets.blockchain = key.blockchain
   AND wallets.address = key.wallet_address
  JOIN positions
    ON positions.wallet_id = wallets.wallet_id
   AND positions.token_id = tokens.token_id
 CROSS JOIN LATERAL (SELECT tx_signature,
                            event_index
                       FROM trades
                      WHERE trades.wallet_id = positions.wallet_id
                        AND trades.created_at = positions.first_buy
                        AND trades.token_id = positions.token_id
                        AND NOT trades.is_sell
                      ORDER BY tx_signature, event_index
                      LIMIT 1) AS first
 WHERE NOT key.is_sell
   AND first.tx_signature = key.tx_signature
   AND first.event_index = key.event_index;

-- report_trades --
-- Needs notify_trades_pkey.
INSERT INTO notify_trades (
       blockchain,
       wallet_address,
       mint,
       tx_signature,
       is_sell,
       event_index,
       rule,
       event_id,
       is_reported,
       traded_at,
       reported_at)
SELECT *
  FROM unnest(%(blockchains)s::text[],
              %(wallet_addresses)s::text[],
              %(mints)s::text[],
              %(tx_signatures)s::text[],
              %(are_sells)s::boolean[],
              %(event_indexes)s::integer[],
              %(rules)s::text[],
              %(event_ids)s::text[],
              %(are_reported)s::boolean[],
              %(traded_at)s::timestamptz[],
              %(reported_at)s::timestamptz[])
    ON CONFLICT (blockchain, wallet_address, mint, tx_signature, is_sell, event_index, rule) DO UPDATE
   SET event_id = excluded.event_id,
       is_reported = excluded.is_reported,
       traded_at = excluded.traded_at,
       reported_at = excluded.reported_at;

-- take_back --
-- What some rules reported of the trades of a wallet, in a token, or before a time is reported no longer; of each
-- rule, the id of what it reported of the newest one. Needs notify_trades_pkey, but for a time: then it reads all of
-- them, as seldom as these are removed.
  WITH taken AS (
       UPDATE notify_trades
          SET is_reported = FALSE,
              reported_at = %(reported_at)s
        WHERE is_reported
          AND rule = ANY (%(rules)s::text[])
          AND (%(blockchain)s::text IS NULL OR blockchain = %(blockchain)s::text)
          AND (%(wallet_address)s::text IS NULL OR wallet_address = %(wallet_address)s::text)
          AND (%(mint)s::text IS NULL OR mint = %(mint)s::text)
          AND (%(before)s::timestamptz IS NULL OR traded_at < %(before)s::timestamptz)
       RETURNING rule,
                 event_id,
                 traded_at
       )
SELECT DISTINCT ON (rule) rule,
       event_id
  FROM taken
 ORDER BY rule, traded_at DESC, event_id;

-- clusters --
-- What the rules reported of clusters in some tokens. Needs notify_clusters_pkey.
SELECT blockchain,
       notify_clusters.mint,
       rule,
       ended_at,
       event_id,
       is_reported,
       wallets
  FROM unnest(%(blockchains)s::text[], %(mints)s::text[]) AS token (chain, mint)
  JOIN notify_clusters
    ON blockchain = token.chain
   AND notify_clusters.mint = token.mint;

-- tokens_of_clusters --
-- The tokens with clusters that may have a trade of a wallet, in a token, or before a time. Reads the table,
-- which is small.
SELECT DISTINCT blockchain,
       mint
  FROM notify_clusters
 WHERE is_reported
   AND (%(blockchain)s::text IS NULL OR blockchain = %(blockchain)s::text)
   AND (%(mint)s::text IS NULL OR mint = %(mint)s::text)
   AND (%(wallet_address)s::text IS NULL OR wallets @> ARRAY[%(wallet_address)s::text] OR wallets = '{}')
   AND (%(before)s::timestamptz IS NULL OR ended_at < %(before)s::timestamptz + interval '168 hours')
 ORDER BY blockchain, mint;

-- report_cluster --
-- Needs notify_clusters_pkey.
INSERT INTO notify_clusters (blockchain, mint, rule, ended_at, event_id, is_reported, wallets, reported_at)
VALUES (
       %(blockchain)s,
       %(mint)s,
       %(rule)s,
       %(ended_at)s,
       %(event_id)s,
       %(is_reported)s,
       %(wallets)s,
       %(reported_at)s)
    ON CONFLICT (blockchain, mint, rule, ended_at) DO UPDATE
   SET event_id = excluded.event_id,
       is_reported = excluded.is_reported,
       wallets = excluded.wallets,
       reported_at = excluded.reported_at;

-- wallets --
-- The wallets with trades in a token in (since, until], of those trades that a rule counts: the last one up
-- to a time, the first one after it, and the transaction of the first one up to it. Needs
-- tokens_blockchain_mint_key, trades_by_token, wallets_pkey, positions_pkey, token_faces_pkey.
SELECT wallets.address,
       max(trades.created_at) FILTER (WHERE trades.created_at <= %(at)s) AS last_before,
       min(trades.created_at) FILTER (WHERE trades.created_at > %(at)s) AS first_after,
       (array_agg(trades.tx_signature ORDER BY trades.created_at, trades.tx_signature)
        FILTER (WHERE trades.created_at <= %(at)s))[1] AS first_transaction
  FROM tokens
  JOIN trades
    ON trades.token_id = tokens.token_id
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
  LEFT JOIN positions
    ON positions.wallet_id = trades.wallet_id
   AND positions.token_id = trades.token_id
  LEFT JOIN token_faces
    ON token_faces.token_id = trades.token_id
 WHERE tokens.blockchain = %(blockchain)s
   AND tokens.mint = %(mint)s
   AND trades.created_at > %(since)s
   AND trades.created_at <= %(until)s
   AND (%(type)s::text IS NULL OR wallets.type = %(type)s::text)
   AND (%(addresses)s::text[] IS NULL OR wallets.address = ANY (%(addresses)s::text[]))
   AND (%(wants_sells)s::boolean IS NULL OR trades.is_sell = %(wants_sells)s::boolean)
   AND (%(min_value)s::numeric IS NULL OR round_half_up(trades.value, 9) >= %(min_value)s::numeric)
   AND (%(min_value_usd)s::numeric IS NULL
        OR round_half_up(trades.value_usd, 4) >= %(min_value_usd)s::numeric)
   AND (%(min_market_cap)s::numeric IS NULL
        OR price_per_token(trades.value, trades.token_amount) * round_half_up(supply, 18)
           >= %(min_market_cap)s::numeric)
   AND (%(max_market_cap)s::numeric IS NULL
        OR price_per_token(trades.value, trades.token_amount) * round_half_up(supply, 18)
           <= %(max_market_cap)s::numeric)
   AND (NOT %(exit)s::boolean OR (trades.is_sell AND round_half_up(trades.quantity_after, 18) = 0))
   AND (NOT %(first_buy)s::boolean OR (NOT trades.is_sell AND trades.created_at = positions.first_buy))
 GROUP BY wallets.address;

-- forget --
-- Forget some of what was reported before a time; return how much. Needs notify_trades_by_report.
  WITH forgotten AS (
       DELETE FROM notify_trades
        WHERE ctid = ANY (ARRAY(SELECT ctid
                                  FROM notify_trades
                                 WHERE reported_at < %(horizon)s
                                 ORDER BY reported_at
                                 LIMIT %(most)s))
       RETURNING 1
       )
UPDATE notify_place
   SET forgotten = forgotten + (SELECT count(*)
                                  FROM forgotten)
RETURNING (SELECT count(*)
             FROM forgotten) AS count;

-- forget_clusters --
-- The same of clusters. Needs notify_clusters_by_report, notify_clusters_pkey.
  WITH forgotten AS (
       DELETE FROM notify_clusters
        WHERE reported_at < %(horizon)s
       RETURNING 1
       )
UPDATE notify_place
   SET forgotten = forgotten + (SELECT count(*)
                                  FROM forgotten);
