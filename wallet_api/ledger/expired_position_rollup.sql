-- Drop the touched wallets' buckets that no leaderboard reaches any more. Needs position_rollup_pkey.
DELETE FROM position_rollup
 USING (SELECT DISTINCT wallet_id FROM touched) AS changed
 WHERE position_rollup.wallet_id = changed.wallet_id
   AND position_rollup.ends_at <= %(horizon)s
