-- The signals of full hours, and what became of them.

-- missing --
-- The hours of groups that are not kept, until the hour `latest`, the newest first: those since a time, and
-- since the oldest kept one. A chain's wallets of all types are a group, too. Needs signal_hours_pkey. All
-- groups are read.
SELECT tracked.blockchain,
       tracked.type,
       hours.hour
  FROM (SELECT blockchain,
               type
          FROM wallet_groups
         UNION ALL
        SELECT DISTINCT blockchain,
               'all'
          FROM wallet_groups) AS tracked
 CROSS JOIN LATERAL (
       SELECT min(kept.hour) AS hour
         FROM signal_hours AS kept
        WHERE kept.blockchain = tracked.blockchain
          AND kept.type = tracked.type) AS oldest
 CROSS JOIN LATERAL generate_series(LEAST(%(since)s::timestamptz, oldest.hour, %(latest)s::timestamptz),
                                    %(latest)s,
                                    interval '1 hour') AS hours (hour)
 WHERE tracked.blockchain = ANY (%(blockchains)s::text[])
   AND NOT EXISTS (SELECT
                     FROM signal_hours AS kept
                    WHERE kept.blockchain = tracked.blockchain
                      AND kept.type = tracked.type
                      AND kept.hour = hours.hour)
 ORDER BY hours.hour DESC, tracked.blockchain, tracked.type
 LIMIT %(limit)s;

-- base --
-- The tokens that a group bought in the hour that ends at a time, for the first time of a day of UTC.
-- Needs wallets_by_group, trades_by_time.
  WITH
{queries.group_wallets},
       bought AS MATERIALIZED (
       SELECT within.*
         FROM tracked
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     token_id,
                     date_trunc('day', created_at, 'UTC') AS day,
                     min(created_at) AS first_at
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at >= date_trunc('day', %(hour)s::timestamptz - interval '1 hour', 'UTC')
                 AND created_at <= %(hour)s
                 AND NOT is_sell
               GROUP BY wallet_id, token_id, day) AS within
       ),
       began AS (
       SELECT token_id
         FROM bought
        GROUP BY token_id, day
       HAVING min(first_at) > %(hour)s::timestamptz - interval '1 hour'
       )
SELECT DISTINCT token_id
  FROM began
 ORDER BY token_id;

-- keep --
-- Keep an hour of a group. Needs signal_hours_pkey.
INSERT INTO signal_hours (blockchain, type, hour, kind, token_ids)
VALUES (%(blockchain)s, %(type)s, %(hour)s, 'cluster', %(cluster)s),
       (%(blockchain)s, %(type)s, %(hour)s, 'entry', %(entry)s),
       (%(blockchain)s, %(type)s, %(hour)s, 'exit', %(exit)s),
       (%(blockchain)s, %(type)s, %(hour)s, 'base', %(base)s)
    ON CONFLICT (blockchain, type, hour, kind) DO NOTHING;

-- due --
-- The oldest hour of which a span is over at `now` that is not decided, with its tokens and how many of its
-- spans are over. Needs signal_hours_by_due.
  WITH due AS (
       SELECT kept.hour,
              spans.over,
              kept.token_ids
         FROM signal_hours AS kept
        CROSS JOIN LATERAL (
              SELECT count(*) AS over
                FROM unnest(%(seconds)s::integer[]) AS seconds
               WHERE kept.hour + seconds * interval '1.1 seconds' < %(now)s::timestamptz) AS spans
        WHERE kept.decided < 3
          AND kept.blockchain = ANY (%(blockchains)s::text[])
          AND kept.decided < spans.over
       ),
       oldest AS (
       SELECT min(hour) AS hour
         FROM due
       )
SELECT due.hour,
       due.over,
       array_agg(DISTINCT token.token_id) FILTER (WHERE token.token_id IS NOT NULL) AS token_ids
  FROM due
  JOIN oldest
    ON oldest.hour = due.hour
  LEFT JOIN LATERAL unnest(due.token_ids) AS token (token_id)
    ON TRUE
 GROUP BY due.hour, due.over;

-- outcomes --
-- Keep what became of tokens after an hour. What is kept stays. Needs token_outcomes_pkey.
INSERT INTO token_outcomes (token_id, hour, span_seconds, price, price_at, source, change_percent)
SELECT token_id,
       %(hour)s,
       span_seconds,
       price,
       price_at,
       source,
       change_percent
  FROM unnest(%(token_ids)s::bigint[],
              %(span_seconds)s::integer[],
              %(price)s::numeric[],
              %(price_at)s::timestamptz[],
              %(source)s::text[],
              %(change_percent)s::numeric[])
       AS outcome (token_id, span_seconds, price, price_at, source, change_percent)
    ON CONFLICT (token_id, hour, span_seconds) DO NOTHING;

-- decided --
-- Needs signal_hours_by_due.
UPDATE signal_hours
   SET decided = %(over)s
 WHERE hour = %(hour)s
   AND decided < 3
   AND decided < %(over)s
   AND blockchain = ANY (%(blockchains)s::text[]);
