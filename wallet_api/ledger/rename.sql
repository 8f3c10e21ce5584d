-- The names by which a search finds tokens and wallets, from what the ledger has.

-- wanted_ranks --
-- Needs positions_by_token.
INSERT INTO wanted_ranks (token_id, wallet_count, token_name, is_renamed)
SELECT token_id,
       count(*),
       (array_agg(token_name ORDER BY last_seen DESC) FILTER (WHERE token_name IS NOT NULL))[1],
       count(DISTINCT token_name) > 1
  FROM positions
 WHERE token_id = ANY (%(token_ids)s::bigint[])
 GROUP BY token_id;

-- ranks --
-- A token that nobody trades any more keeps its row, with 0. Needs token_ranks_pkey.
INSERT INTO token_ranks AS rank (token_id, wallet_count, token_name, is_renamed)
SELECT wanted.token_id,
       wanted.wallet_count,
       wanted.token_name,
       wanted.is_renamed
  FROM (SELECT * FROM wanted_ranks
         UNION ALL
        SELECT token_id,
               0,
               NULL,
               FALSE
          FROM token_ranks
         WHERE token_id = ANY (%(token_ids)s::bigint[])
           AND token_id NOT IN (SELECT token_id FROM wanted_ranks)) AS wanted
    ON CONFLICT (token_id) DO UPDATE
   SET wallet_count = excluded.wallet_count,
       token_name = excluded.token_name,
       is_renamed = excluded.is_renamed
 WHERE (rank.wallet_count, rank.is_renamed) <> (excluded.wallet_count, excluded.is_renamed)
    -- Which of several names is shown depends on the order in which they became known.
    OR (NOT excluded.is_renamed AND rank.token_name IS DISTINCT FROM excluded.token_name);

-- wanted_terms --
-- Needs positions_by_token, tokens_pkey, token_faces_pkey, token_ranks_pkey.
INSERT INTO wanted_terms (blockchain, is_word, reach, term, token_id)
  WITH named AS (
       SELECT token_id, token_name AS name FROM positions WHERE token_id = ANY (%(token_ids)s::bigint[])
        UNION
       SELECT token_id, symbol FROM token_faces WHERE token_id = ANY (%(token_ids)s::bigint[])
        UNION
       SELECT token_id, name FROM token_faces WHERE token_id = ANY (%(token_ids)s::bigint[])
        UNION
       SELECT token_id, mint FROM tokens WHERE token_id = ANY (%(token_ids)s::bigint[])
       )
{terms_of_tokens};

-- unwanted --
-- Needs token_terms_by_token.
DELETE FROM token_terms
 WHERE token_id = ANY (%(token_ids)s::bigint[])
   AND (blockchain, is_word, reach, term, token_id) NOT IN (SELECT blockchain, is_word, reach, term, token_id
                                                              FROM wanted_terms);

-- missing --
-- Needs token_terms_pkey.
INSERT INTO token_terms (blockchain, is_word, reach, term, token_id)
SELECT *
  FROM wanted_terms
    ON CONFLICT DO NOTHING;

-- unwanted_of_wallets --
-- Needs wallet_terms_pkey, wallets_pkey.
DELETE FROM wallet_terms
 USING wallets
 WHERE wallets.wallet_id = wallet_terms.wallet_id
   AND wallet_terms.term <> lower(wallets.address)
   AND (wallet_terms.is_word, wallet_terms.term) NOT IN (SELECT part.is_word, part.term
                                                           FROM terms_of(wallets.name) AS part);

-- missing_of_wallets --
-- Needs wallet_terms_pkey.
INSERT INTO wallet_terms (wallet_id, is_word, term)
SELECT DISTINCT wallets.wallet_id,
       part.is_word,
       part.term
  FROM wallets
 CROSS JOIN LATERAL (SELECT * FROM terms_of(wallets.name) UNION ALL SELECT FALSE, lower(wallets.address)) AS part
 WHERE part.term <> ''
    ON CONFLICT DO NOTHING;
