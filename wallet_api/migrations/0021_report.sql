-- What syncs report, in one table instead of five.

-- A fact of a chain: its total since ever, its last number and its time, as far as it has them. label is the sync, or what
-- is counted.
CREATE TABLE sync_report (
    blockchain text NOT NULL,
    name text NOT NULL,
    label text NOT NULL,
    total double precision NOT NULL,
    last double precision,
    at timestamptz,
    PRIMARY KEY (blockchain, name, label)
) WITH (fillfactor = 50);

INSERT INTO sync_report
SELECT blockchain, 'rounds', job, (succeeded_at IS NOT NULL)::integer, NULL, COALESCE(succeeded_at, first_tried_at)
  FROM sync_heartbeats;

INSERT INTO sync_report
SELECT blockchain, fact.name, job, 0, fact.last, fact.at
  FROM sync_heartbeats
 CROSS JOIN LATERAL (
       VALUES ('wallets', wallets::double precision, NULL::timestamptz),
              ('failed', failed::double precision, NULL),
              ('delay_seconds', delay_seconds, NULL),
              ('arrived', NULL, arrived_at),
              ('round_wallets', round_wallets::double precision, NULL),
              ('round_read', round_read::double precision, NULL),
              ('round_trades', round_trades::double precision, NULL)
       ) AS fact (name, last, at)
 WHERE fact.last IS NOT NULL
    OR fact.at IS NOT NULL;

INSERT INTO sync_report
SELECT blockchain, 'left_out', reason, total, last_round, NULL
  FROM sync_reasons;

INSERT INTO sync_report
SELECT blockchain, 'calls', method, total, per_minute, saved_at
  FROM sync_methods;

INSERT INTO sync_report
SELECT blockchain, fact.name, fact.label, fact.total, fact.last, saved_at
  FROM sync_follows
 CROSS JOIN LATERAL (
       VALUES ('watch_method', method, 0, NULL::double precision),
              ('watch_wallets', '', 0, wallets::double precision),
              ('watch_watched', '', 0, followed::double precision),
              ('watch_connected', '', 0, is_connected::integer::double precision),
              ('watch_reconnects', '', reconnects, NULL),
              ('watch_gaps', '', gaps, NULL)
       ) AS fact (name, label, total, last);

INSERT INTO sync_report
SELECT chain.blockchain, 'delays', bound, COALESCE(sum(met.trades), 0), NULL, NULL
  FROM (SELECT DISTINCT blockchain FROM sync_delays) AS chain
 CROSS JOIN unnest('{1.0,2.0,3.0,5.0,10.0,20.0,30.0,60.0,120.0,300.0,600.0,1800.0,3600.0,+Inf}'::text[]) AS bound
  LEFT JOIN sync_delays AS met
    ON met.blockchain = chain.blockchain
   AND met.at_most <= bound::double precision
 GROUP BY chain.blockchain, bound;

INSERT INTO sync_report
SELECT blockchain, 'delays_seconds', '', sum(seconds), NULL, NULL
  FROM sync_delays
 GROUP BY blockchain;

DROP TABLE sync_reasons;

DROP TABLE sync_heartbeats;

DROP TABLE sync_methods;

DROP TABLE sync_follows;

DROP TABLE sync_delays;
