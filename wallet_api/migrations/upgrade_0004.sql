-- Bring the tables of 0001_ledger to 0004_sync to those of 0005_tables, in place and in one transaction.
-- The functions are dropped; 0006_walk creates them again. lifetimes may be missing: a dump of the old tables,
-- restored by pg_restore, comes without it.

-- Answers are no longer stored. Rewriting positions frees the space of its dropped columns.
CREATE TEMP TABLE summed ON COMMIT DROP AS
SELECT wallet_id,
       count(*) AS tokens,
       count(*) FILTER (WHERE still_holding) AS still_holding,
       count(*) FILTER (WHERE bucket = 0) AS below_zero,
       count(*) FILTER (WHERE bucket = 1) AS above_zero_to_100,
       count(*) FILTER (WHERE bucket = 2) AS above_100_to_500,
       count(*) FILTER (WHERE bucket = 3) AS above_500,
       sum(buy_txn)::bigint AS buy_txn,
       sum(sell_txn)::bigint AS sell_txn,
       sum(invested) AS invested,
       sum(sold) AS sold,
       sum(realized) AS realized,
       sum(realized_cost) AS realized_cost,
       max(largest_buy) AS largest_buy,
       max(best_trade) AS best_trade,
       min(worst_trade) AS worst_trade
  FROM positions
 GROUP BY wallet_id;

DROP TABLE IF EXISTS lifetimes;

CREATE TABLE lifetimes (
    wallet_id bigint PRIMARY KEY,
    tokens bigint NOT NULL,
    still_holding bigint NOT NULL,
    below_zero bigint NOT NULL,
    above_zero_to_100 bigint NOT NULL,
    above_100_to_500 bigint NOT NULL,
    above_500 bigint NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    invested numeric NOT NULL,
    sold numeric NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    largest_buy numeric,
    best_trade numeric,
    worst_trade numeric
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

INSERT INTO lifetimes
SELECT *
  FROM summed;

ALTER TABLE wallets DROP COLUMN listed;

ALTER TABLE positions DROP COLUMN listed, DROP COLUMN still_holding, DROP COLUMN bucket;

CLUSTER positions USING positions_pkey;

ALTER TABLE positions SET WITHOUT CLUSTER;

-- A sell of what was never bought realizes nothing, in dollars too, whether or not its dollars are known.
UPDATE position_rollup
   SET unpriced_sell_txn = position_rollup.unpriced_sell_txn - uncovered.txn
  FROM (SELECT wallet_id,
               token_id,
               bucket_end(created_at, 86400) AS ends_at,
               count(*) AS txn
          FROM trades
         WHERE is_sell
           AND realized_cost IS NULL
           AND realized_usd IS NULL
         GROUP BY wallet_id, token_id, bucket_end(created_at, 86400)) AS uncovered
 WHERE position_rollup.wallet_id = uncovered.wallet_id
   AND position_rollup.token_id = uncovered.token_id
   AND position_rollup.ends_at = uncovered.ends_at;

UPDATE trades
   SET realized_usd = NULL
 WHERE is_sell
   AND realized_cost IS NULL
   AND realized_usd IS NOT NULL;

-- Workers settle their charges with the balance itself. What they had leased returns to it.
UPDATE api_keys
   SET credits = api_keys.credits + leased.credits
  FROM (SELECT key_id,
               sum(amount - spent)::bigint AS credits
          FROM credit_leases
         GROUP BY key_id) AS leased
 WHERE api_keys.key_id = leased.key_id;

DROP TABLE credit_leases;

DROP TABLE credit_ledger;

-- The answered rows of a snapshot become the provider's: the native coin came first, then the tokens.
ALTER TABLE holdings_snapshots RENAME COLUMN tokens TO answered;

ALTER TABLE holdings_snapshots ADD COLUMN tokens jsonb, ADD COLUMN native_amount numeric;

UPDATE holdings_snapshots
   SET native_amount = (answered::jsonb -> 0 ->> 'amount')::numeric,
       tokens = COALESCE(
           (SELECT jsonb_agg(jsonb_build_object('address', token ->> 'token_address',
                                                'name', token ->> 'token_name',
                                                'symbol', token ->> 'symbol',
                                                'amount', token ->> 'amount',
                                                'decimals', token -> 'decimals',
                                                'verified', token -> 'verified_contract',
                                                'spam', FALSE))
              FROM jsonb_array_elements(answered::jsonb) AS token
             WHERE token ->> 'token_address' <> 'native'),
           '[]')
 WHERE answered IS NOT NULL;

ALTER TABLE holdings_snapshots DROP COLUMN answered, DROP COLUMN token_count;

-- Rows of a wallet that somebody deleted by hand.
DELETE FROM holdings_snapshots
 WHERE NOT EXISTS (SELECT FROM wallets
                    WHERE wallets.wallet_id = holdings_snapshots.wallet_id);

DELETE FROM sync_wallets
 WHERE NOT EXISTS (SELECT FROM wallets
                    WHERE wallets.wallet_id = sync_wallets.wallet_id);

ALTER TABLE holdings_snapshots
    ADD FOREIGN KEY (wallet_id) REFERENCES wallets ON DELETE CASCADE;

ALTER TABLE sync_wallets
    ADD FOREIGN KEY (wallet_id) REFERENCES wallets ON DELETE CASCADE;

DROP AGGREGATE walk (walk_state, boolean, numeric, numeric, numeric, numeric, text);
DROP FUNCTION walk_step (walk_state, walk_state, boolean, numeric, numeric, numeric, numeric, text);
DROP TYPE walk_state;
DROP FUNCTION
    bucket_end (timestamptz, integer),
    json_text (text),
    latest_price (text, timestamptz),
    listed_distribution (bigint, bigint, bigint, bigint),
    listed_position (text, text, numeric, numeric, numeric, numeric, text, bigint, bigint, timestamptz,
                     timestamptz, boolean),
    listed_stats (text, numeric, numeric, numeric, numeric, bigint, bigint, bigint, bigint, bigint, numeric,
                  numeric, numeric, bigint),
    listed_wallet (text, text, text, text, text, text, text, text, text),
    native_currency (text),
    nearest_price (text, timestamptz),
    percentage (numeric, numeric),
    profit_bucket (numeric, numeric),
    quotient (numeric, numeric),
    quotient_to (numeric, numeric, integer),
    shown (numeric, integer),
    shown_time (timestamptz),
    small_quotient (numeric, numeric),
    still_held (numeric, numeric),
    usd_total (numeric, numeric, numeric, numeric, numeric);

DELETE FROM schema_migrations;

ALTER TABLE schema_migrations ADD COLUMN checksum text NOT NULL;
