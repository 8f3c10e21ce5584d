-- Remove the lifetimes of the touched wallets that have no positions. Needs lifetimes_pkey, positions_pkey.
DELETE FROM lifetimes
 USING (SELECT DISTINCT wallet_id FROM touched) AS changed
 WHERE lifetimes.wallet_id = changed.wallet_id
   AND NOT EXISTS (SELECT FROM positions
                    WHERE positions.wallet_id = lifetimes.wallet_id)
