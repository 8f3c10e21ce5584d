-- What keys were used for since a day, by key, day and operation; of one name, or of all. Needs key_use_by_day,
-- api_keys_pkey.
  SELECT api_keys.name,
         use.day,
         use.operation,
         use.requests,
         use.credits
    FROM key_use AS use
    JOIN api_keys
      ON api_keys.key_id = use.key_id
   WHERE use.day >= %(since)s
     AND api_keys.name = COALESCE(%(name)s::text, api_keys.name)
ORDER BY api_keys.name COLLATE "C",
         api_keys.key_id,
         use.day,
         use.operation COLLATE "C"
