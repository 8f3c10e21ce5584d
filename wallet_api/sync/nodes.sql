-- What nodes were asked, and how far they were read.

-- newest --
-- The newest block of each chain. Needs sync_blocks_pkey.
SELECT DISTINCT ON (blockchain)
       blockchain,
       number,
       created_at
  FROM sync_blocks
 ORDER BY blockchain, number DESC;

-- methods --
-- The calls by chain and method. Needs sync_methods_pkey.
SELECT blockchain,
       method,
       total,
       per_minute
  FROM sync_methods
 ORDER BY blockchain, method;

-- save_methods --
-- Add the calls of a round. The first one counts for its own time, a later one for that since the one before. Needs
-- sync_methods_pkey.
INSERT INTO sync_methods AS counts (blockchain, method, total, per_minute, saved_at)
SELECT %(blockchain)s,
       given.method,
       given.calls,
       given.calls * 60 / %(seconds)s::double precision,
       %(now)s::timestamptz
  FROM unnest(%(methods)s::text[], %(calls)s::bigint[]) AS given (method, calls)
    ON CONFLICT (blockchain, method) DO UPDATE
   SET total = counts.total + excluded.total,
       per_minute = excluded.total * 60
                    / greatest(extract(epoch FROM excluded.saved_at - counts.saved_at), %(seconds)s::double precision),
       saved_at = excluded.saved_at
