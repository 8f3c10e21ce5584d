-- Move an amount from the balance into a new lease, if `kept` stay in it. No row when they would not.
-- leased_elsewhere is what other workers hold and will return within seconds.
-- Needs the primary key, and the index of credit_leases by key.
     WITH taken AS (
             UPDATE api_keys
                SET credits = credits - %(amount)s
              WHERE key_id = %(key_id)s
                AND credits >= %(amount)s + %(kept)s
          RETURNING key_id,
                    credits
          )
   INSERT INTO credit_leases (lease_id, key_id, worker, amount)
   SELECT %(lease_id)s,
          key_id,
          %(worker)s,
          %(amount)s
     FROM taken
RETURNING (SELECT credits
             FROM taken) AS credits,
          COALESCE((SELECT sum(elsewhere.amount - elsewhere.spent)
                      FROM credit_leases AS elsewhere
                     WHERE elsewhere.key_id = credit_leases.key_id
                       AND elsewhere.worker <> %(worker)s
                       AND elsewhere.taken_at > now() - make_interval(secs => %(alive_seconds)s)), 0)::bigint
              AS leased_elsewhere
