-- What syncs report. A row of sync_report is a fact of a chain; each list is one of `sync status --json`, but
-- for buckets.

-- add --
-- Add to the totals of facts, and replace those of their numbers and times that are given; in one order, so
-- that no two of these wait for each other. Needs sync_report_pkey.
INSERT INTO sync_report AS kept (blockchain, name, label, total, last, at)
SELECT *
  FROM unnest(%(blockchains)s::text[], %(names)s::text[], %(labels)s::text[], %(totals)s::double precision[],
              %(lasts)s::double precision[], %(times)s::timestamptz[])
 ORDER BY 1, 2, 3
    ON CONFLICT (blockchain, name, label) DO UPDATE
   SET total = kept.total + excluded.total,
       last = COALESCE(excluded.last, kept.last),
       at = COALESCE(excluded.at, kept.at);

-- try --
-- Keep the time of a first attempt, until a round succeeds. Needs sync_report_pkey.
INSERT INTO sync_report (blockchain, name, label, total, at)
SELECT blockchain,
       'rounds',
       %(sync)s,
       0,
       %(now)s
  FROM unnest(%(blockchains)s::text[]) AS blockchain
    ON CONFLICT (blockchain, name, label) DO NOTHING;

-- called --
-- When the calls of a chain were last added. Needs sync_report_pkey.
SELECT max(at) AS called_at
  FROM sync_report
 WHERE blockchain = %(blockchain)s
   AND name = 'calls';

-- forget --
-- Forget facts of some chains whose names begin with a prefix, of one label or of all. Needs
-- sync_report_pkey.
DELETE FROM sync_report
 WHERE blockchain = ANY(%(blockchains)s::text[])
   AND starts_with(name, %(prefix)s)
   AND (label = %(label)s OR %(label)s::text IS NULL);

-- forget_blocks --
-- Forget the blocks of a chain whose hashes are known. Needs sync_blocks_pkey.
DELETE FROM sync_blocks
 WHERE blockchain = %(blockchain)s;

-- syncs --
-- The last successful round of each sync and chain, or the first attempt, and the round under way. Needs
-- sync_report_pkey.
SELECT label AS job,
       blockchain,
       bool_or(total > 0) FILTER (WHERE name = 'rounds') AS has_succeeded,
       extract(epoch FROM %(now)s - LEAST(max(at) FILTER (WHERE name = 'rounds'), %(now)s))::double precision
       AS age_seconds,
       COALESCE(max(last) FILTER (WHERE name = 'wallets'), 0)::bigint AS wallets,
       COALESCE(max(last) FILTER (WHERE name = 'failed'), 0)::bigint AS failed,
       max(last) FILTER (WHERE name = 'delay_seconds') AS delay_seconds,
       extract(epoch FROM %(now)s - LEAST(max(at), %(now)s))::double precision AS quiet_seconds,
       max(last) FILTER (WHERE name = 'round_wallets')::bigint AS round_wallets,
       max(last) FILTER (WHERE name = 'round_read')::bigint AS round_read,
       max(last) FILTER (WHERE name = 'round_trades')::bigint AS round_trades
  FROM sync_report
 GROUP BY label, blockchain
HAVING bool_or(name = 'rounds')
 ORDER BY label, blockchain;

-- left_out --
-- What made no trade by reason: since ever, in the last round, and what is kept to be read again. What others
-- did has one reason. Needs sync_report_pkey, wallets_pkey.
WITH kept AS (
    SELECT wallets.blockchain,
           CASE WHEN left_out.is_signed THEN left_out.reason ELSE %(unsigned)s END AS reason,
           count(*) AS kept
      FROM sync_left_out AS left_out
      JOIN wallets
        ON wallets.wallet_id = left_out.wallet_id
     WHERE left_out.reason <> %(accepted)s
     GROUP BY 1, 2)
SELECT fact.blockchain,
       fact.label AS reason,
       fact.total::bigint AS total,
       COALESCE(fact.last, 0)::bigint AS last_round,
       COALESCE(kept.kept, 0) AS kept
  FROM sync_report AS fact
  LEFT JOIN kept
    ON kept.blockchain = fact.blockchain
   AND kept.reason = fact.label
 WHERE fact.name = 'left_out'
 ORDER BY fact.blockchain, fact.label;

-- named_chains --
-- How many transactions of each chain are named, and how many more there were than are kept. Needs
-- sync_report_pkey, wallets_pkey.
SELECT blockchain,
       sum(named) AS named,
       sum(beyond)::bigint AS beyond
  FROM (SELECT wallets.blockchain, 1 AS named, 0 AS beyond
          FROM sync_left_out AS left_out
          JOIN wallets
            ON wallets.wallet_id = left_out.wallet_id
         WHERE left_out.reason = %(unsigned)s
         UNION ALL
        SELECT blockchain, 0, total
          FROM sync_report
         WHERE name = 'named_beyond') AS counted
 GROUP BY blockchain
 ORDER BY blockchain;

-- quotes --
-- For how many tokens a market was asked, by what became of it. Needs sync_report_pkey.
SELECT blockchain,
       label AS result,
       total::bigint AS total
  FROM sync_report
 WHERE name = 'quotes'
 ORDER BY blockchain, label;

-- blocks --
-- The newest block of each chain that is read block by block. Needs sync_blocks_pkey.
SELECT DISTINCT ON (blockchain)
       blockchain,
       number,
       extract(epoch FROM %(now)s - LEAST(created_at, %(now)s))::double precision AS age_seconds
  FROM sync_blocks
 ORDER BY blockchain, number DESC;

-- methods --
-- The calls of nodes. Needs sync_report_pkey.
SELECT blockchain,
       label AS method,
       total::bigint AS total,
       last AS per_minute
  FROM sync_report
 WHERE name = 'calls'
 ORDER BY blockchain, label;

-- follows --
-- How chains are watched; where nothing was added for a time, no process is connected. Needs
-- sync_report_pkey.
SELECT blockchain,
       (array_agg(label ORDER BY at DESC) FILTER (WHERE name = 'watch_method'))[1] AS method,
       max(last) FILTER (WHERE name = 'watch_wallets')::bigint AS wallets,
       max(last) FILTER (WHERE name = 'watch_watched')::bigint AS followed,
       bool_and(last > 0 AND at > %(watched_after)s) FILTER (WHERE name = 'watch_connected') AS is_connected,
       max(total) FILTER (WHERE name = 'watch_reconnects')::bigint AS reconnects,
       max(total) FILTER (WHERE name = 'watch_gaps')::bigint AS gaps
  FROM sync_report
 WHERE starts_with(name, 'watch_')
 GROUP BY blockchain
 ORDER BY blockchain;

-- buckets --
-- How many new trades were in the ledger within each bound after their block, and the seconds of all. Needs sync_report_pkey.
SELECT counted.blockchain,
       array_agg(counted.label ORDER BY counted.label::double precision) AS bounds,
       array_agg(counted.total ORDER BY counted.label::double precision) AS trades,
       max(summed.total) AS seconds
  FROM sync_report AS counted
  JOIN sync_report AS summed
    ON summed.blockchain = counted.blockchain
   AND summed.name = 'delays_seconds'
 WHERE counted.name = 'delays'
 GROUP BY counted.blockchain
 ORDER BY counted.blockchain;
