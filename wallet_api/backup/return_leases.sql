-- End all leases and put what was not spent of them back into the balances. For a database that no worker
-- uses: the workers of these leases belong to the database that was dumped.
  WITH ended AS (
          DELETE FROM credit_leases
       RETURNING key_id,
                 amount - spent AS unspent
       ),
       returned AS (
          SELECT key_id,
                 sum(unspent)::bigint AS credits
            FROM ended
        GROUP BY key_id
       )
UPDATE api_keys
   SET credits = api_keys.credits + returned.credits
  FROM returned
 WHERE api_keys.key_id = returned.key_id
