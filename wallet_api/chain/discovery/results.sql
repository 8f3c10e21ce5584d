-- What a node has returned to a search.

-- expire --
-- Searches that nobody went on with. Scans the table once a search.
DELETE FROM discovery_results
 WHERE kept_at < %(before)s;

-- clear --
DELETE FROM discovery_results
 WHERE search = %(search)s;

-- kept --
-- How many results there are, and the time of the first one. Needs discovery_results_pkey.
SELECT count(*) AS count,
       min(kept_at) AS since
  FROM discovery_results
 WHERE search = %(search)s;

-- find --
-- Needs discovery_results_pkey.
SELECT call,
       result
  FROM discovery_results
 WHERE search = %(search)s
   AND call = ANY (%(calls)s);

-- add --
INSERT INTO discovery_results (search, call, result)
SELECT %(search)s,
       call,
       result
  FROM unnest(%(calls)s::bytea[], %(results)s::bytea[]) AS returned (call, result)
    ON CONFLICT (search, call) DO NOTHING
RETURNING call;

-- remove --
-- Needs discovery_results_pkey.
DELETE FROM discovery_results
 WHERE search = %(search)s
   AND call = ANY (%(calls)s)
RETURNING call;
