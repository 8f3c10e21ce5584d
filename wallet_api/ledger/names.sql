-- The names by which a search finds tokens, and how many wallets trade each: what changes of them with the walked positions.
-- All in a transaction that holds the lock of newest trades.

-- counted --
-- The positions that are there now, less those that were: a token's wallets change where one first trades it.
-- Needs token_ranks_pkey.
INSERT INTO token_ranks AS rank (token_id, wallet_count, is_renamed)
SELECT token_id,
       sum(wallets),
       FALSE
  FROM (SELECT token_id,
               1 AS wallets
          FROM walked
         WHERE is_last
         UNION ALL
        SELECT token_id,
               -1
          FROM continued
         UNION ALL
        SELECT token_id,
               -1
          FROM affected
         WHERE is_late) AS change
 GROUP BY token_id
HAVING sum(wallets) <> 0
    ON CONFLICT (token_id) DO UPDATE
   SET wallet_count = rank.wallet_count + excluded.wallet_count
RETURNING rank.token_id;

-- reached --
-- Needs token_terms_by_token, token_ranks_pkey.
UPDATE token_terms
   SET reach = reach_of(token_ranks.wallet_count)
  FROM token_ranks
 WHERE token_terms.token_id = ANY (%(token_ids)s::bigint[])
   AND token_ranks.token_id = token_terms.token_id
   AND token_terms.reach <> reach_of(token_ranks.wallet_count);

-- named_before --
-- The mint of tokens without terms, and what their nodes returned of them. Needs tokens_pkey, token_faces_pkey,
-- token_terms_by_token.
INSERT INTO named (token_id, name)
SELECT tokens.token_id,
       known.name
  FROM tokens
  LEFT JOIN token_faces AS face
    ON face.token_id = tokens.token_id
 CROSS JOIN LATERAL (VALUES (tokens.mint), (face.symbol), (face.name)) AS known (name)
 WHERE tokens.token_id = ANY (%(token_ids)s::bigint[])
   AND known.name IS NOT NULL
   AND NOT EXISTS (SELECT FROM token_terms WHERE token_terms.token_id = tokens.token_id);

-- named --
-- The names that positions did not have before.
INSERT INTO named (token_id, name, named_at)
SELECT walked.token_id,
       (walked.state).token_name,
       walked.created_at
  FROM walked
  LEFT JOIN continued
    ON continued.wallet_id = walked.wallet_id
   AND continued.token_id = walked.token_id
 WHERE walked.is_last
   AND (walked.state).token_name IS NOT NULL
   AND (walked.state).token_name IS DISTINCT FROM continued.token_name;

-- shown --
-- Needs token_ranks_pkey.
UPDATE token_ranks
   SET token_name = newest.name,
       is_renamed = is_renamed OR newest.names > 1 OR COALESCE(token_name <> newest.name, FALSE)
  FROM (SELECT token_id,
               count(DISTINCT name) AS names,
               (array_agg(name ORDER BY named_at DESC, name))[1] AS name
          FROM named
         WHERE named_at IS NOT NULL
         GROUP BY token_id) AS newest
 WHERE token_ranks.token_id = newest.token_id
   AND (newest.names > 1 OR token_ranks.token_name IS DISTINCT FROM newest.name);

-- terms --
-- Those of names that a token does not have yet. Needs tokens_pkey, token_ranks_pkey, token_terms_by_token.
INSERT INTO token_terms (blockchain, is_word, reach, term, token_id)
  WITH named AS (
       SELECT DISTINCT token_id, name FROM named
       )
{terms_of_tokens}
   AND NOT EXISTS (SELECT
                     FROM token_terms AS known
                    WHERE known.token_id = named.token_id
                      AND NOT known.is_word
                      AND known.term = substr(btrim(lower(named.name)), 1, 64))
    ON CONFLICT DO NOTHING;

-- thinned --
-- The tokens of positions that lost a trade, are gone, or have another name: names of theirs may be gone too.
SELECT affected.token_id
  FROM affected
  LEFT JOIN walked
    ON walked.wallet_id = affected.wallet_id
   AND walked.token_id = affected.token_id
  LEFT JOIN removed
    ON removed.wallet_id = affected.wallet_id
   AND removed.token_id = affected.token_id
 WHERE affected.is_late
   AND (walked.wallet_id IS NULL OR removed.wallet_id IS NOT NULL)
 UNION
SELECT walked.token_id
  FROM walked
  JOIN (SELECT wallet_id, token_id, token_name FROM continued
         UNION
        SELECT wallet_id, token_id, token_name FROM taken) AS earlier
    ON earlier.wallet_id = walked.wallet_id
   AND earlier.token_id = walked.token_id
 WHERE walked.is_last
   AND earlier.token_name <> COALESCE((walked.state).token_name, '');
