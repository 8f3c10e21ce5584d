-- The state of webhooks.

-- place --
SELECT cursor
  FROM notify_place;

-- move --
-- Needs notify_place_pkey.
INSERT INTO notify_place (cursor)
VALUES (%(cursor)s)
    ON CONFLICT (is_only) DO UPDATE
   SET cursor = excluded.cursor;

-- forget_place --
DELETE FROM notify_place;

-- reported --
-- Needs notify_reported_pkey.
SELECT subject,
       rule,
       message_id,
       is_reported,
       traded_at
  FROM notify_reported
 WHERE subject = ANY (%(subjects)s::text[]);

-- reported_among --
-- What is reported of the trades of a wallet, of a token, or of before a time, and of the clusters that may have them.
-- Reads the table, as seldom as wallets and times are removed.
SELECT subject,
       rule,
       message_id,
       is_reported,
       traded_at
  FROM notify_reported
 WHERE is_reported
   AND (starts_with(subject, 'cluster|')
        OR ((%(wallet)s::text IS NULL OR starts_with(subject, %(wallet)s::text))
            AND (%(mint)s::text IS NULL OR split_part(subject, '|', 3) = %(mint)s::text)
            AND (%(before)s::timestamptz IS NULL OR traded_at < %(before)s::timestamptz)))
 ORDER BY subject;

-- report --
-- Needs notify_reported_pkey.
INSERT INTO notify_reported (subject, rule, message_id, is_reported, traded_at)
SELECT subject,
       %(rule)s,
       %(message_id)s,
       %(is_reported)s,
       %(traded_at)s
  FROM unnest(%(subjects)s::text[]) AS reported (subject)
    ON CONFLICT (subject, rule) DO UPDATE
   SET message_id = excluded.message_id,
       is_reported = excluded.is_reported,
       traded_at = excluded.traded_at;

-- add --
INSERT INTO notify_messages (target, rule, message_id, body, arrived_at)
VALUES (%(target)s, %(rule)s, %(message_id)s, %(body)s, %(arrived_at)s);

-- next --
-- The oldest message to a target. Needs notify_messages_by_target.
SELECT place,
       rule,
       message_id,
       body,
       arrived_at
  FROM notify_messages
 WHERE target = %(target)s
 ORDER BY place
 LIMIT 1;

-- waiting --
-- How many messages to a target wait, as far as is counted. Needs notify_messages_by_target.
SELECT count(*) AS waiting
  FROM (SELECT
          FROM notify_messages
         WHERE target = %(target)s
         LIMIT %(most)s) AS counted;

-- remove --
-- Needs notify_messages_pkey.
DELETE FROM notify_messages
 WHERE place = %(place)s;

-- collapse --
-- Take all messages to a target that wait, and return how many, with the ids of the first and the last. Needs
-- notify_messages_by_target.
  WITH taken AS (
       DELETE FROM notify_messages
        WHERE target = %(target)s
       RETURNING place,
                 message_id,
                 arrived_at
       )
SELECT count(*) AS count,
       (array_agg(message_id ORDER BY place))[1] AS first_id,
       (array_agg(message_id ORDER BY place DESC))[1] AS last_id,
       min(arrived_at) AS first_at,
       max(arrived_at) AS last_at
  FROM taken;

-- delivered --
-- Needs notify_targets_pkey.
INSERT INTO notify_targets AS known (target, delivered, delivered_at, delay_seconds)
VALUES (%(target)s, 1, %(now)s, %(delay_seconds)s)
    ON CONFLICT (target) DO UPDATE
   SET delivered = known.delivered + 1,
       delivered_at = excluded.delivered_at,
       delay_seconds = excluded.delay_seconds,
       failures = 0,
       failing_since = NULL,
       failure = NULL;

-- failed --
-- Needs notify_targets_pkey.
INSERT INTO notify_targets AS known (target, failures, failing_since, failure)
VALUES (%(target)s, 1, %(now)s, %(failure)s)
    ON CONFLICT (target) DO UPDATE
   SET failures = known.failures + 1,
       failing_since = COALESCE(known.failing_since, excluded.failing_since),
       failure = excluded.failure
RETURNING failures,
          failing_since;

-- pause --
-- Needs notify_targets_pkey.
UPDATE notify_targets
   SET paused_at = %(now)s
 WHERE target = %(target)s;

-- held_back --
-- Needs notify_targets_pkey.
INSERT INTO notify_targets AS known (target, held_back)
VALUES (%(target)s, %(count)s)
    ON CONFLICT (target) DO UPDATE
   SET held_back = known.held_back + excluded.held_back;

-- resume --
-- Needs notify_targets_pkey.
UPDATE notify_targets
   SET paused_at = NULL,
       failures = 0,
       failing_since = NULL,
       dropped = dropped + %(dropped)s
 WHERE target = %(target)s;

-- paused --
-- Needs notify_targets_pkey.
SELECT failures,
       failing_since,
       paused_at
  FROM notify_targets
 WHERE target = %(target)s;

-- status --
-- Each target that has received something or is waited for. Needs notify_messages_by_target.
  WITH waiting AS (
       SELECT target,
              count(*) AS waiting,
              min(arrived_at) AS oldest_at
         FROM notify_messages
        GROUP BY target
       )
SELECT COALESCE(notify_targets.target, waiting.target) AS target,
       COALESCE(waiting, 0) AS waiting,
       oldest_at,
       COALESCE(delivered, 0) AS delivered,
       COALESCE(held_back, 0) AS held_back,
       COALESCE(dropped, 0) AS dropped,
       delivered_at,
       delay_seconds::double precision AS delay_seconds,
       COALESCE(failures, 0) AS failures,
       failing_since,
       failure,
       paused_at
  FROM notify_targets
  FULL JOIN waiting
    ON waiting.target = notify_targets.target
 ORDER BY 1;
