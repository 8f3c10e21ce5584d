-- Delete the positions to be replayed for which the batch has nothing new.
DELETE FROM touched
 WHERE touched.replay
   AND NOT EXISTS (SELECT FROM fresh
                    WHERE fresh.wallet_id = touched.wallet_id
                      AND fresh.token_id = touched.token_id)
