-- Move a further amount (0 as well) from the balance into a lease, if `kept` stay in it, and note what was
-- spent up to now. No row when less would stay.
-- leased_elsewhere is what other workers hold and will return within seconds.
-- Needs the primary keys, and the index of credit_leases by key.
     WITH lease AS (
             SELECT key_id
               FROM credit_leases
              WHERE lease_id = %(lease_id)s
                FOR UPDATE
          ),
          taken AS (
             UPDATE api_keys
                SET credits = credits - %(amount)s
               FROM lease
              WHERE api_keys.key_id = lease.key_id
                AND credits >= %(amount)s + %(kept)s
          RETURNING api_keys.key_id,
                    credits
          )
   UPDATE credit_leases
      SET amount = amount + %(amount)s,
          spent = %(spent)s,
          taken_at = now()
     FROM taken
    WHERE lease_id = %(lease_id)s
RETURNING taken.credits,
          COALESCE((SELECT sum(elsewhere.amount - elsewhere.spent)
                      FROM credit_leases AS elsewhere
                     WHERE elsewhere.key_id = taken.key_id
                       AND elsewhere.worker <> %(worker)s
                       AND elsewhere.taken_at > now() - make_interval(secs => %(alive_seconds)s)), 0)::bigint
              AS leased_elsewhere
