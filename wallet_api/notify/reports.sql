-- Up to where the feed was read, and what was reported of it.

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
-- What the rules reported last of some trades. Needs notify_reported_pkey.
SELECT subject,
       rule,
       message_id,
       is_reported,
       traded_at
  FROM notify_reported
 WHERE subject = ANY (%(subjects)s::text[]);

-- report --
-- Needs notify_reported_pkey.
INSERT INTO notify_reported (subject, rule, message_id, is_reported, traded_at, reported_at)
SELECT *
  FROM unnest(%(subjects)s::text[], %(rules)s::text[], %(message_ids)s::text[], %(are_reported)s::boolean[],
              %(traded_at)s::timestamptz[], %(reported_at)s::timestamptz[])
    ON CONFLICT (subject, rule) DO UPDATE
   SET message_id = excluded.message_id,
       is_reported = excluded.is_reported,
       traded_at = excluded.traded_at,
       reported_at = excluded.reported_at;

-- newest_among --
-- Of each rule that reported any of the trades that a change of many removed, the message about the newest one.
SELECT DISTINCT ON (rule) rule,
       message_id
  FROM notify_reported
 WHERE is_reported
{among}
 ORDER BY rule, traded_at DESC, subject DESC;

-- take_back --
-- They are reported no longer.
UPDATE notify_reported
   SET message_id = %(message_id)s,
       is_reported = FALSE,
       reported_at = %(reported_at)s
 WHERE is_reported
   AND rule = %(rule)s
{among};

-- clusters --
-- What the rules reported of clusters in some tokens. Needs notify_clusters_pkey.
SELECT blockchain,
       notify_clusters.mint,
       rule,
       ended_at,
       message_id,
       is_reported,
       wallets
  FROM unnest(%(chains)s::text[], %(mints)s::text[]) AS token (chain, mint)
  JOIN notify_clusters
    ON blockchain = token.chain
   AND notify_clusters.mint = token.mint;

-- clusters_among --
-- The clusters that may have a trade of a wallet, in a token, or before a time. Reads the table, which is small.
SELECT blockchain,
       mint,
       rule,
       ended_at,
       message_id,
       is_reported,
       wallets
  FROM notify_clusters
 WHERE is_reported
   AND (%(chain)s::text IS NULL OR blockchain = %(chain)s::text)
   AND (%(mint)s::text IS NULL OR mint = %(mint)s::text)
   AND (%(wallet)s::text IS NULL OR wallets @> ARRAY[%(wallet)s::text] OR wallets = '{}')
   AND (%(before)s::timestamptz IS NULL OR ended_at < %(before)s::timestamptz + interval '168 hours')
 ORDER BY blockchain, mint, rule, ended_at;

-- report_clusters --
-- The wallets of each are one text. Needs notify_clusters_pkey.
INSERT INTO notify_clusters (blockchain, mint, rule, ended_at, message_id, is_reported, wallets, reported_at)
SELECT chain,
       mint,
       rule,
       ended_at,
       message_id,
       is_reported,
       string_to_array(wallets, ' '),
       reported_at
  FROM unnest(%(chains)s::text[], %(mints)s::text[], %(rules)s::text[], %(ended_at)s::timestamptz[],
              %(message_ids)s::text[], %(are_reported)s::boolean[], %(wallets)s::text[], %(reported_at)s::timestamptz[])
       AS cluster (chain, mint, rule, ended_at, message_id, is_reported, wallets, reported_at)
    ON CONFLICT (blockchain, mint, rule, ended_at) DO UPDATE
   SET message_id = excluded.message_id,
       is_reported = excluded.is_reported,
       wallets = excluded.wallets,
       reported_at = excluded.reported_at;

-- forget --
-- Forget some of what was reported before a time; return how much. Needs notify_reported_by_report, notify_reported_pkey.
  WITH forgotten AS (
       DELETE FROM notify_reported
        WHERE (subject, rule) IN (SELECT subject,
                                         rule
                                    FROM notify_reported
                                   WHERE reported_at < %(horizon)s
                                   ORDER BY reported_at
                                   LIMIT %(most)s)
       RETURNING 1
       )
UPDATE notify_place
   SET forgotten = forgotten + (SELECT count(*)
                                  FROM forgotten)
RETURNING (SELECT count(*)
             FROM forgotten) AS count;

-- forget_clusters --
-- The same of clusters. Needs notify_clusters_by_report, notify_clusters_pkey.
  WITH forgotten AS (
       DELETE FROM notify_clusters
        WHERE reported_at < %(horizon)s
       RETURNING 1
       )
UPDATE notify_place
   SET forgotten = forgotten + (SELECT count(*)
                                  FROM forgotten);

-- forgotten --
SELECT forgotten
  FROM notify_place;
