-- Webhooks: clusters by their time, how long it is known what was reported, and how many messages wait.

-- What each rule reported of clusters in a token: ended_at is the time of the trade that made one. wallets are the addresses that
-- it has, and maybe some that it had; none, if it was reported before they were stored.
CREATE TABLE notify_clusters (
    blockchain text COLLATE "C" NOT NULL,
    mint text COLLATE "C" NOT NULL,
    rule text COLLATE "C" NOT NULL,
    ended_at timestamptz NOT NULL,
    message_id text NOT NULL,
    is_reported boolean NOT NULL,
    wallets text[] COLLATE "C" NOT NULL,
    reported_at timestamptz NOT NULL,
    PRIMARY KEY (blockchain, mint, rule, ended_at)
);

CREATE INDEX notify_clusters_by_report ON notify_clusters (reported_at);

INSERT INTO notify_clusters
SELECT split_part(subject, '|', 2),
       split_part(subject, '|', 3),
       rule,
       traded_at,
       message_id,
       is_reported,
       '{}',
       now()
  FROM notify_reported
 WHERE starts_with(subject, 'cluster|');

DELETE FROM notify_reported
 WHERE starts_with(subject, 'cluster|');

-- When the change arrived of which was reported last.
ALTER TABLE notify_reported ADD COLUMN reported_at timestamptz NOT NULL DEFAULT now();

ALTER TABLE notify_reported ALTER COLUMN reported_at DROP DEFAULT;

CREATE INDEX notify_reported_by_report ON notify_reported (reported_at);

-- What was forgotten, since it was reported so long ago.
ALTER TABLE notify_place ADD COLUMN forgotten bigint NOT NULL DEFAULT 0;

-- A message that stands for others, which were held back, has how many they were, and when the first of them arrived.
ALTER TABLE notify_messages ADD COLUMN held_back bigint;

ALTER TABLE notify_messages ADD COLUMN first_at timestamptz;

-- How many messages wait; when the last try failed.
ALTER TABLE notify_targets ADD COLUMN waiting bigint NOT NULL DEFAULT 0;

ALTER TABLE notify_targets ADD COLUMN failed_at timestamptz;

INSERT INTO notify_targets AS known (target, waiting)
SELECT target,
       count(*)
  FROM notify_messages
 GROUP BY target
    ON CONFLICT (target) DO UPDATE
   SET waiting = excluded.waiting;
