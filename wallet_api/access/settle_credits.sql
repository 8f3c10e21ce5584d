-- Charge what requests of several keys cost together, down to 0 at most, and return the balances, with what they
-- did not cover. Rows are locked in one order, so that workers do not deadlock. Needs api_keys_pkey.
  WITH charges AS (
       SELECT key_id,
              sum(amount)::bigint AS amount
         FROM unnest(%(key_ids)s::bigint[], %(amounts)s::bigint[]) AS charge (key_id, amount)
        GROUP BY key_id
       ),
       locked AS MATERIALIZED (
       SELECT key_id,
              balance(credits, monthly, credits_month) AS credits
         FROM api_keys
        WHERE key_id = ANY(%(key_ids)s::bigint[])
        ORDER BY key_id
          FOR NO KEY UPDATE
       )
UPDATE api_keys
   SET credits = GREATEST(locked.credits - charges.amount, 0),
       credits_month = this_month()
  FROM locked
  JOIN charges
 USING (key_id)
 WHERE api_keys.key_id = locked.key_id
RETURNING api_keys.key_id,
          api_keys.credits,
          GREATEST(charges.amount - locked.credits, 0) AS forgiven
