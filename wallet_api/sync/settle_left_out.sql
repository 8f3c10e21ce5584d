-- Forget what could be read now. Needs sync_left_out_pkey.
DELETE FROM sync_left_out AS kept
 USING unnest(%(wallet_ids)s::bigint[], %(signatures)s::text[]) AS given (wallet_id, tx_signature)
 WHERE kept.wallet_id = given.wallet_id
   AND kept.tx_signature = given.tx_signature
