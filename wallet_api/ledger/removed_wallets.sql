-- Everything of the wallets to remove.

-- affected --
-- Their positions, for token_prices.sql. Needs positions_pkey.
INSERT INTO affected
SELECT positions.wallet_id,
       positions.token_id,
       TRUE AS is_late
  FROM removed_wallets
  JOIN positions
    ON positions.wallet_id = removed_wallets.wallet_id;

-- removals --
-- Needs removals_pkey.
DELETE FROM removals
 USING removed_wallets
 WHERE removals.wallet_id = removed_wallets.wallet_id;

-- positions --
-- Needs positions_pkey.
DELETE FROM positions
 USING removed_wallets
 WHERE positions.wallet_id = removed_wallets.wallet_id;

-- lifetimes --
-- Needs lifetimes_pkey.
DELETE FROM lifetimes
 USING removed_wallets
 WHERE lifetimes.wallet_id = removed_wallets.wallet_id;

-- position_days --
-- Needs position_days_pkey.
DELETE FROM position_days
 USING removed_wallets
 WHERE position_days.wallet_id = removed_wallets.wallet_id;

-- wallet_days --
-- Needs wallet_days_pkey.
DELETE FROM wallet_days
 USING removed_wallets
 WHERE wallet_days.wallet_id = removed_wallets.wallet_id;

-- trades --
-- Needs trades_pkey.
DELETE FROM trades
 USING removed_wallets
 WHERE trades.wallet_id = removed_wallets.wallet_id;

-- wallets --
-- Their snapshots and their state of the sync are deleted with them by foreign key. Needs wallets_pkey.
DELETE FROM wallets
 WHERE wallet_id = ANY (%(wallet_ids)s)
