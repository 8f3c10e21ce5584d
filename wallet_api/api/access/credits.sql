-- The credits of keys.

-- read --
-- The balance of a key; NULL is unlimited. Needs api_keys_pkey.
SELECT balance(credits, monthly, credits_month) AS credits
  FROM api_keys
 WHERE key_id = %(key_id)s;

-- charge --
-- Charge one request, if there is a limit. No row when the balance does not cover it. Needs api_keys_pkey.
UPDATE api_keys
   SET credits = balance(credits, monthly, credits_month) - %(cost)s,
       credits_month = this_month()
 WHERE key_id = %(key_id)s
   AND (balance(credits, monthly, credits_month) >= %(cost)s
        OR credits IS NULL)
RETURNING credits;

-- settle --
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
          GREATEST(charges.amount - locked.credits, 0) AS forgiven;
