-- What stages and removes wallets and trades.

-- staging --
-- The identities to remove, for the whole session.
CREATE TEMP TABLE IF NOT EXISTS wallets_to_remove (
    wallet_id bigint PRIMARY KEY
);

CREATE TEMP TABLE IF NOT EXISTS trades_to_remove (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    is_sell boolean NOT NULL,
    event_index integer NOT NULL,
    PRIMARY KEY (wallet_id, token_id, tx_signature, is_sell, event_index)
);

-- stage_wallets --
-- Stage the tracked wallets among these, and return the places, from 0, of those that are not tracked.
-- Looked up one by one: a join might read all wallets each time. Needs wallets_blockchain_address_key.
  WITH wanted AS (
       SELECT place - 1 AS place,
              wallet.wallet_id
         FROM unnest(%(blockchains)s::text[], %(addresses)s::text[]) WITH ORDINALITY
                  AS identity (blockchain, address, place)
         LEFT JOIN LATERAL (
              SELECT wallets.wallet_id
                FROM wallets
               WHERE wallets.blockchain = identity.blockchain
                 AND wallets.address = identity.address
              OFFSET 0) AS wallet
           ON TRUE
       ),
       staged AS (
       INSERT INTO wallets_to_remove
       SELECT wallet_id
         FROM wanted
        WHERE wallet_id IS NOT NULL
           ON CONFLICT (wallet_id) DO NOTHING
       )
SELECT place,
       FALSE AS is_tracked
  FROM wanted
 WHERE wallet_id IS NULL;

-- stage_trades --
-- Stage the trades of the ledger among these, and return the places, from 0, of those that it does not have,
-- each with whether its wallet is tracked. Needs wallets_blockchain_address_key, tokens_blockchain_mint_key,
-- trades_pkey.
  WITH wanted AS MATERIALIZED (
       SELECT identity.place - 1 AS place,
              wallets.wallet_id,
              tokens.token_id,
              identity.tx_signature,
              identity.is_sell,
              identity.event_index
         FROM unnest(%(blockchains)s::text[], %(addresses)s::text[], %(signatures)s::text[], %(mints)s::text[],
                     %(sells)s::boolean[], %(event_indexes)s::integer[]) WITH ORDINALITY
                  AS identity (blockchain, address, tx_signature, mint, is_sell, event_index, place)
         LEFT JOIN wallets
           ON wallets.blockchain = identity.blockchain
          AND wallets.address = identity.address
         LEFT JOIN tokens
           ON tokens.blockchain = identity.blockchain
          AND tokens.mint = identity.mint
       ),
       known AS MATERIALIZED (
       SELECT wanted.*
         FROM wanted
         JOIN trades
        USING (wallet_id, token_id, tx_signature, is_sell, event_index)
       ),
       staged AS (
       INSERT INTO trades_to_remove
       SELECT wallet_id,
              token_id,
              tx_signature,
              is_sell,
              event_index
         FROM known
           ON CONFLICT (wallet_id, token_id, tx_signature, is_sell, event_index) DO NOTHING
       )
SELECT wanted.place,
       wanted.wallet_id IS NOT NULL AS is_tracked
  FROM wanted
 WHERE wanted.place NOT IN (SELECT known.place
                              FROM known);

-- count_wallets --
-- How many wallets are staged, and how many trades they have. Needs trades_pkey.
  WITH staged AS MATERIALIZED (
       SELECT wallet_id
         FROM wallets_to_remove
       )
SELECT (SELECT count(*)
          FROM staged) AS wallets,
       (SELECT count(*)
          FROM staged
          JOIN trades
            ON trades.wallet_id = staged.wallet_id) AS trades;

-- count_trades --
-- How many trades are staged, and of how many wallets.
SELECT count(DISTINCT wallet_id) AS wallets,
       count(*) AS trades
  FROM trades_to_remove;

-- batch --
-- Move the next staged trades into the batch, position by position.
  WITH batch AS (
       DELETE FROM trades_to_remove
        WHERE (wallet_id, token_id, tx_signature, is_sell, event_index) IN (
              SELECT wallet_id, token_id, tx_signature, is_sell, event_index
                FROM trades_to_remove
               ORDER BY wallet_id, token_id, tx_signature, is_sell, event_index
               LIMIT %(limit)s)
       RETURNING *
       )
INSERT INTO removed
SELECT *
  FROM batch;

-- analyze_batch --
ANALYZE removed;

-- positions_of_batch --
-- The positions of the trades to remove. Needs trades_pkey.
INSERT INTO affected
SELECT DISTINCT trades.wallet_id,
       trades.token_id,
       TRUE AS is_late
  FROM removed
  JOIN trades
 USING (wallet_id, token_id, tx_signature, is_sell, event_index);

-- empty_days --
-- Delete the days of wallets that have no trade any more after some were taken out. Needs wallet_days_pkey.
DELETE FROM wallet_days
 USING (SELECT DISTINCT wallet_id,
               day
          FROM day_sums
         WHERE sign = -1) AS changed
 WHERE wallet_days.wallet_id = changed.wallet_id
   AND wallet_days.day = changed.day
   AND wallet_days.buy_txn + wallet_days.sell_txn = 0;

-- empty_hours --
-- Likewise their hours. Needs wallet_hours_pkey.
DELETE FROM wallet_hours
 USING (SELECT DISTINCT wallet_id,
               date_bin('1 hour', created_at, 'epoch') AS starts_at
          FROM taken) AS changed
 WHERE wallet_hours.wallet_id = changed.wallet_id
   AND wallet_hours.starts_at = changed.starts_at
   AND wallet_hours.buy_txn + wallet_hours.sell_txn = 0;

-- empty_groups --
-- Delete the groups without wallets, and return them.
DELETE FROM wallet_groups
 WHERE wallet_count = 0
RETURNING blockchain,
          type;

-- volume_of_empty_groups --
-- Delete their volume, down to the buckets that are about to expire.
DELETE FROM volume_rollup
 USING unnest(%(blockchains)s::text[], %(types)s::text[]) AS empty (blockchain, type)
 WHERE volume_rollup.blockchain = empty.blockchain
   AND volume_rollup.type = empty.type;

-- hours_of_empty_groups --
-- Delete their kept signals, and those of chains without wallets. Needs signal_hours_pkey.
DELETE FROM signal_hours
 USING unnest(%(blockchains)s::text[], %(types)s::text[]) AS empty (blockchain, type)
 WHERE signal_hours.blockchain = empty.blockchain
   AND signal_hours.type = empty.type;

-- hours_before --
-- Delete the kept signals of before a time. All are read.
DELETE FROM signal_hours
 WHERE hour < %(before)s;

-- outcomes_before --
-- Delete what became of them. All outcomes are read.
DELETE FROM token_outcomes
 WHERE hour < %(before)s;

-- hours_of_tokens --
-- Leave the tokens of the staged trades out of the kept signals. All are read.
  WITH staged AS MATERIALIZED (
       SELECT array_agg(DISTINCT token_id) AS token_ids
         FROM trades_to_remove
       )
UPDATE signal_hours
   SET token_ids = ARRAY(SELECT token_id
                           FROM unnest(signal_hours.token_ids) AS token_id
                          WHERE token_id <> ALL (staged.token_ids))
  FROM staged
 WHERE signal_hours.token_ids && staged.token_ids;

-- outcomes_of_tokens --
-- Delete what became of them. Needs token_outcomes_pkey.
DELETE FROM token_outcomes
 WHERE token_id IN (SELECT token_id
                      FROM trades_to_remove);
