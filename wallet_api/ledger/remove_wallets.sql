-- Everything of the wallets to remove, in order.

-- affected --
-- Their positions, for token_prices.sql. Needs positions_pkey.
INSERT INTO affected
SELECT wallet_id,
       token_id,
       TRUE AS is_late
  FROM positions
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- removals --
-- Needs removals_pkey.
DELETE FROM removals
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- positions --
-- Needs positions_pkey.
DELETE FROM positions
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- lifetimes --
-- Needs lifetimes_pkey.
DELETE FROM lifetimes
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- position_days --
-- Needs position_days_pkey.
DELETE FROM position_days
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- wallet_days --
-- Needs wallet_days_pkey.
DELETE FROM wallet_days
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- wallet_hours --
-- Needs wallet_hours_pkey.
DELETE FROM wallet_hours
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- trades --
-- Needs trades_pkey.
DELETE FROM trades
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- wallets --
-- Their snapshots, their names and their state of the sync are deleted with them by foreign key. Needs wallets_pkey,
-- wallet_terms_by_wallet.
DELETE FROM wallets
 WHERE wallet_id = ANY (%(wallet_ids)s);
