-- A key's balance, and what other workers hold of it and will return within seconds. any_young says that a
-- lease may be returned at any moment, any_old that the worker of one must be dead.
-- Needs the primary key, and the index of credit_leases by key.
   SELECT credits,
          COALESCE(sum(amount - spent) FILTER (WHERE worker <> %(worker)s
                                         AND taken_at > now() - make_interval(secs => %(alive_seconds)s)), 0)::bigint
              AS leased_elsewhere,
          COALESCE(bool_or(taken_at > now() - make_interval(secs => %(young_seconds)s)), false) AS any_young,
          COALESCE(bool_or(taken_at <= now() - make_interval(secs => %(young_seconds)s)), false) AS any_old
     FROM api_keys
LEFT JOIN credit_leases
    USING (key_id)
    WHERE key_id = %(key_id)s
 GROUP BY key_id,
          credits
