-- The messages that wait, and the state of the targets.

-- add --
-- Needs notify_targets_pkey.
  WITH added AS (
       INSERT INTO notify_messages (target, rule, message_id, body, arrived_at, due_at)
       SELECT *
         FROM unnest(%(targets)s::text[], %(rules)s::text[], %(message_ids)s::text[], %(bodies)s::text[],
                     %(arrived_at)s::timestamptz[], %(due_at)s::timestamptz[])
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
                            rule,
                            message_id,
                            body,
                            arrived_at,
                            refusals
                       FROM notify_messages
                      WHERE notify_messages.target = notify_targets.target
                        AND refused_at IS NULL
                        AND due_at IS NULL
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
       failure = NULL,
       refused_in_a_row = 0
 WHERE target = %(target)s;

-- failed --
-- Count a try that failed. After an hour without one it begins to fail anew; after three days it is paused.
-- Needs notify_targets_pkey.
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

-- refused --
-- Count a try at which a message was refused. Needs notify_messages_pkey.
UPDATE notify_messages
   SET refusals = refusals + 1
 WHERE place = %(place)s;

-- set_aside --
-- Set a refused message aside; after some in a row the target is paused, or at once. Needs
-- notify_messages_pkey, notify_targets_pkey.
  WITH aside AS (
       UPDATE notify_messages
          SET refused_at = %(now)s,
              status = %(status)s
        WHERE place = %(place)s
          AND refused_at IS NULL
       RETURNING 1
       )
UPDATE notify_targets
   SET waiting = waiting - (SELECT count(*)
                              FROM aside),
       refused = refused + (SELECT count(*)
                              FROM aside),
       refused_in_a_row = refused_in_a_row + 1,
       failed_at = %(now)s,
       failures = 0,
       failing_since = NULL,
       failure = CASE WHEN %(pauses)s OR refused_in_a_row + 1 >= %(most_in_a_row)s THEN %(failure)s::text END,
       paused_at = CASE
                   WHEN %(pauses)s OR refused_in_a_row + 1 >= %(most_in_a_row)s
                   THEN %(now)s::timestamptz
                   END
 WHERE target = %(target)s
RETURNING paused_at;

-- retry --
-- Let all refused messages to a target wait again, in their order. Needs notify_messages_by_refusal,
-- notify_targets_pkey.
  WITH again AS (
       UPDATE notify_messages
          SET refused_at = NULL,
              status = NULL,
              refusals = 0
        WHERE target = %(target)s
          AND refused_at IS NOT NULL
       RETURNING 1
       )
UPDATE notify_targets
   SET waiting = waiting + (SELECT count(*)
                              FROM again),
       refused = refused - (SELECT count(*)
                              FROM again),
       refused_in_a_row = 0
 WHERE target = %(target)s
RETURNING (SELECT count(*)
             FROM again) AS count,
          paused_at;

-- drop_refused --
-- Drop refused messages, and count them: the one of an id to a target, or those to all targets that were
-- refused before a time. Needs notify_messages_by_refusal, notify_targets_pkey.
  WITH removed AS (
       DELETE FROM notify_messages
        WHERE refused_at IS NOT NULL
          AND target = COALESCE(%(target)s::text, target)
          AND (message_id = %(message_id)s::text OR refused_at < %(horizon)s::timestamptz)
       RETURNING target
       ),
       counted AS (
       SELECT target,
              count(*) AS count
         FROM removed
        GROUP BY target
       )
UPDATE notify_targets
   SET refused = refused - counted.count,
       dropped = dropped + counted.count
  FROM counted
 WHERE notify_targets.target = counted.target
RETURNING counted.count;

-- collected --
-- Remove the messages of digests that are due by now; of each digest, the first ones, how many, their ids and
-- times. Needs notify_messages_by_digest, notify_targets_pkey.
  WITH removed AS (
       DELETE FROM notify_messages
        WHERE due_at <= %(now)s
          AND target = ANY (%(targets)s::text[])
       RETURNING *
       ),
       counted AS (
       UPDATE notify_targets
          SET waiting = waiting - of_target.count
         FROM (SELECT target,
                      count(*) AS count
                 FROM removed
                GROUP BY target) AS of_target
        WHERE notify_targets.target = of_target.target
       )
SELECT target,
       rule,
       count(*) AS count,
       (array_agg(body ORDER BY place))[:%(most)s::integer] AS items,
       (array_agg(message_id ORDER BY place))[1] AS first_id,
       (array_agg(message_id ORDER BY place DESC))[1] AS last_id,
       min(arrived_at) AS first_at,
       max(arrived_at) AS last_at
  FROM removed
 GROUP BY due_at, rule, target
 ORDER BY due_at, rule, target;

-- lock --
-- Let nobody else take messages to a target. Needs notify_targets_pkey.
SELECT waiting
  FROM notify_targets
 WHERE target = %(target)s
   FOR UPDATE;

-- flood --
-- Some of the oldest messages to a target, if more than its number for a minute have arrived within one: how
-- many, and those that one of them stands for already; NULL without such. Needs notify_messages_by_target.
  WITH oldest AS (
       SELECT *
         FROM notify_messages
        WHERE target = %(target)s
          AND refused_at IS NULL
          AND due_at IS NULL
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
-- Let the last message of a flood stand for all of them. Needs notify_messages_by_target,
-- notify_messages_pkey, notify_targets_pkey.
  WITH removed AS (
       DELETE FROM notify_messages
        WHERE target = %(target)s
          AND refused_at IS NULL
          AND due_at IS NULL
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
              held_back = %(count)s,
              refusals = 0
        WHERE place = %(last_place)s
       )
UPDATE notify_targets
   SET held_back = held_back + %(added)s,
       waiting = waiting - %(rows)s + 1
 WHERE target = %(target)s;

-- drop --
-- Drop some of the messages to a target, and count them. Needs notify_messages_by_target,
-- notify_messages_pkey, notify_targets_pkey.
  WITH removed AS (
       DELETE FROM notify_messages
        WHERE place IN (SELECT place
                          FROM notify_messages
                         WHERE target = %(target)s
                           AND refused_at IS NULL
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
       failure = NULL,
       refused_in_a_row = 0
 WHERE target = %(target)s
RETURNING waiting;

-- take_all --
-- All messages that are to be sent.
DELETE FROM notify_messages
 WHERE due_at IS NULL
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
           AND refused_at IS NULL
           AND due_at IS NULL
         ORDER BY place
         LIMIT 1) AS oldest_at,
       delivered,
       refused,
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

-- refused_messages --
-- Of each target, the oldest of the messages that it refused. Needs notify_messages_by_refusal.
SELECT aside.target,
       message_id,
       rule,
       status,
       refused_at
  FROM notify_targets
 CROSS JOIN LATERAL (SELECT *
                       FROM notify_messages
                      WHERE notify_messages.target = notify_targets.target
                        AND refused_at IS NOT NULL
                      ORDER BY place
                      LIMIT %(most)s) AS aside
 WHERE refused > 0
 ORDER BY aside.target, place;
