-- Forget the positions to be walked again for which the batch has nothing new.
DELETE FROM touched
 WHERE touched.rewalk
   AND NOT EXISTS (SELECT FROM fresh
                    WHERE fresh.wallet_id = touched.wallet_id
                      AND fresh.token_id = touched.token_id)
