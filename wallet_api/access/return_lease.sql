-- End a lease, and put what was not spent of it back into the balance: both or neither, and only once.
-- Needs the primary keys.
  WITH ended AS (
          DELETE FROM credit_leases
           WHERE lease_id = %(lease_id)s
       RETURNING key_id,
                 amount
       )
UPDATE api_keys
   SET credits = credits + ended.amount - %(spent)s
  FROM ended
 WHERE api_keys.key_id = ended.key_id
   AND ended.amount > %(spent)s
