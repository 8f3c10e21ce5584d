-- The messages that wait, and the state of the targets.

-- add --
-- Needs notify_targets_pkey.
  WITH added AS (
       INSERT INTO notify_messages (target, rule, message_id, body, arrived_at)
       SELECT *
         FROM unnest(%(targets)s::text[], %(rules)s::text[], %(message_ids)s::text[], %(bodies)s::text[],
                     %(arrived_at)s::timestamptz[])
       RETURNING target
       )
INSERT INTO notify_targets AS known (target, waiting)
SELECT target,
       count(*)
  FROM added
 GROUP BY target
    ON CONFLICT (target) DO UPDATE
   SET waiting = known.waiting + excluded.waiting;

-- next --
-- The state of a target, and the oldest message to it. Needs notify_targets_pkey, notify_messages_by_target.
SELECT failures,
       paused_at,
       oldest.*
  FROM notify_targets
 CROSS JOIN LATERAL (SELECT place,
                            message_id,
                            body,
                            arrived_at
                       FROM notify_messages
                      WHERE notify_messages.target = notify_targets.target
                      ORDER BY place
                      LIMIT 1) AS oldest
 WHERE target = %(target)s;

-- delivered --
-- Remove a message that was received, and count it. Needs notify_messages_pkey, notify_targets_pkey.
  WITH removed AS (
       DELETE FROM notify_messages
        WHERE place = %(place)s
       RETURNING 1
       )
UPDATE notify_targets
   SET waiting = waiting - (SELECT count(*)
                              FROM removed),
       delivered = delivered + 1,
       delivered_at = %(now)s,
       delay_seconds = %(delay_seconds)s,
       failures = 0,
       failing_since = NULL,
       failure = NULL
 WHERE target = %(target)s;

-- failed --
-- Count a try that failed. After an hour without one it begins to fail anew; after three days it is paused. Needs
-- notify_targets_pkey.
UPDATE notify_targets
   SET failures = failures + 1,
       failed_at = %(now)s,
       failing_since = since,
       failure = %(failure)s,
       paused_at = CASE WHEN %(now)s - since >= %(paused_after)s THEN %(now)s::timestamptz END
  FROM (SELECT CASE WHEN %(now)s - failed_at < interval '1 hour' THEN COALESCE(failing_since, %(now)s)
                    ELSE %(now)s::timestamptz
               END AS since
          FROM notify_targets
         WHERE target = %(target)s) AS failing
 WHERE target = %(target)s
RETURNING failures,
          paused_at;

-- lock --
-- Let nobody else take messages to a target. Needs notify_targets_pkey.
SELECT waiting
  FROM notify_targets
 WHERE target = %(target)s
   FOR UPDATE;

-- flood --
-- Some of the oldest messages to a target, if more than its number for a minute have arrived within one: how many, and those that
-- one of them stands for already; NULL without such. Needs notify_messages_by_target.
  WITH oldest AS (
       SELECT *
         FROM notify_messages
        WHERE target = %(target)s
        ORDER BY place
        LIMIT %(most)s
       ),
       flood AS (
       SELECT *
         FROM oldest
        WHERE arrived_at < (SELECT arrived_at
                              FROM oldest
                             ORDER BY place
                             LIMIT 1) + interval '1 minute'
       )
SELECT count(*) AS rows,
       sum(COALESCE(held_back, 1))::bigint AS count,
       count(*) FILTER (WHERE held_back IS NULL) AS added,
       min(place) AS first_place,
       max(place) AS last_place,
       (array_agg(message_id ORDER BY place))[1] AS first_id,
       (array_agg(message_id ORDER BY place DESC))[1] AS last_id,
       min(COALESCE(first_at, arrived_at)) AS first_at,
       max(arrived_at) AS last_at
  FROM flood
HAVING count(*) > %(per_minute)s;

-- hold_back --
-- Let the last message of a flood stand for all of them. Needs notify_messages_by_target, notify_messages_pkey, notify_targets_pkey.
  WITH removed AS (
       DELETE FROM notify_messages
        WHERE target = %(target)s
          AND place >= %(first_place)s
          AND place < %(last_place)s
       ),
       replaced AS (
       UPDATE notify_messages
          SET rule = '',
              message_id = %(message_id)s,
              body = %(body)s,
              arrived_at = %(last_at)s,
              first_at = %(first_at)s,
              held_back = %(count)s
        WHERE place = %(last_place)s
       )
UPDATE notify_targets
   SET held_back = held_back + %(added)s,
       waiting = waiting - %(rows)s + 1
 WHERE target = %(target)s;

-- drop --
-- Drop some of the messages to a target, and count them. Needs notify_messages_by_target, notify_messages_pkey, notify_targets_pkey.
  WITH removed AS (
       DELETE FROM notify_messages
        WHERE place IN (SELECT place
                          FROM notify_messages
                         WHERE target = %(target)s
                         ORDER BY place
                         LIMIT %(most)s)
       RETURNING 1
       ),
       counted AS (
       SELECT count(*) AS count
         FROM removed
       )
UPDATE notify_targets
   SET dropped = dropped + counted.count,
       waiting = waiting - counted.count
  FROM counted
 WHERE target = %(target)s
RETURNING counted.count;

-- resume --
-- Needs notify_targets_pkey.
UPDATE notify_targets
   SET paused_at = NULL,
       failures = 0,
       failing_since = NULL,
       failure = NULL
 WHERE target = %(target)s
RETURNING waiting;

-- take_all --
-- All messages.
DELETE FROM notify_messages
RETURNING place,
          target,
          message_id,
          body;

-- status --
-- Each target for which there ever was a message. Needs notify_messages_by_target.
SELECT target,
       waiting,
       (SELECT COALESCE(first_at, arrived_at)
          FROM notify_messages
         WHERE notify_messages.target = notify_targets.target
         ORDER BY place
         LIMIT 1) AS oldest_at,
       delivered,
       held_back,
       dropped,
       delivered_at,
       delay_seconds::double precision AS delay_seconds,
       failures,
       failing_since,
       failure,
       paused_at
  FROM notify_targets
 ORDER BY target;
