-- Charge one call to the balance itself, if there is a limit. No row when it does not cover the call.
-- leased_elsewhere is what other workers hold and will return within seconds.
-- Needs the primary key, and the index of credit_leases by key.
   UPDATE api_keys
      SET credits = credits - %(cost)s
    WHERE key_id = %(key_id)s
      AND (credits >= %(cost)s
           OR credits IS NULL)
RETURNING credits,
          COALESCE((SELECT sum(amount - spent)
                      FROM credit_leases
                     WHERE credit_leases.key_id = api_keys.key_id
                       AND worker <> %(worker)s
                       AND taken_at > now() - make_interval(secs => %(alive_seconds)s)), 0)::bigint AS leased_elsewhere
