-- The names of wallets and tokens, by which a search finds them.

-- The terms of a name, in lower case: all of it from its beginning, and from each word in it (`is_word`). A word begins
-- after what is neither letter nor digit; in scripts that have no blanks, at each letter. Ranges instead of classes: these
-- depend on the locale of the database.
CREATE FUNCTION terms_of(name text) RETURNS TABLE (is_word boolean, term text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
SELECT DISTINCT place > 1,
       left(array_to_string(words[place:], ''), 64)
  FROM (SELECT string_to_array(
                   regexp_replace(
                       regexp_replace(
                           left(btrim(lower(name)), 64),
                           '([^a-z0-9\u00AA-\u02FF\u0370-\u1FFF\u2C00-\uD7FF\uF900-\uFDFF\uFE70-\uFEFF\uFF10-\uFFDC])(?=[a-z0-9\u00AA-\u02FF\u0370-\u1FFF\u2C00-\uD7FF\uF900-\uFDFF\uFE70-\uFEFF\uFF10-\uFFDC])',
                           '\1' || chr(31), 'g'),
                       '([\u0E00-\u0EFF\u1000-\u109F\u1780-\u17FF\u3040-\u30FF\u3400-\u9FFF\uF900-\uFAFF])', chr(31) || '\1', 'g'),
                   chr(31)) AS words) AS name
 CROSS JOIN generate_subscripts(words, 1) AS place
 WHERE place = 1
    OR words[place] <> ''
$$;

-- How widely a token is traded: 0 without a wallet, then one more for each doubling of its wallets.
CREATE FUNCTION reach_of(wallets bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN width_bucket(wallets, '{1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536}'::bigint[])::smallint;

CREATE TABLE wallet_terms (
    wallet_id bigint NOT NULL REFERENCES wallets ON DELETE CASCADE,
    is_word boolean NOT NULL,
    term text COLLATE "C" NOT NULL,
    PRIMARY KEY (is_word, term, wallet_id)
);

CREATE INDEX wallet_terms_by_wallet ON wallet_terms (wallet_id);

-- The tokens that a tracked wallet ever traded: how many wallets have a position, and the name in the newest trade of one
-- when the name became known.
CREATE TABLE token_ranks (
    token_id bigint PRIMARY KEY,
    wallet_count bigint NOT NULL,
    token_name text
) WITH (fillfactor = 80);

-- The terms of the mint, the symbol and the names of these tokens. reach is that of the token: a search begins with what is
-- traded most, and reads few of the tokens that share a name. It changes when the wallets of a token have doubled.
CREATE TABLE token_terms (
    blockchain text NOT NULL,
    is_word boolean NOT NULL,
    reach smallint NOT NULL,
    term text COLLATE "C" NOT NULL,
    token_id bigint NOT NULL
);

INSERT INTO wallet_terms
SELECT DISTINCT wallet_id,
       part.is_word,
       part.term
  FROM wallets
 CROSS JOIN LATERAL (SELECT * FROM terms_of(wallets.name) UNION ALL SELECT FALSE, lower(wallets.address)) AS part
 WHERE part.term <> '';

INSERT INTO token_ranks
SELECT token_id,
       count(*),
       (array_agg(token_name ORDER BY last_seen DESC) FILTER (WHERE token_name IS NOT NULL))[1]
  FROM positions
 GROUP BY token_id;

INSERT INTO token_terms
SELECT tokens.blockchain,
       named.is_word,
       reach_of(token_ranks.wallet_count),
       named.term,
       tokens.token_id
  FROM (SELECT token_id, part.is_word, part.term
          FROM (SELECT token_id, token_name AS name FROM positions
                 UNION
                SELECT token_id, symbol FROM token_faces
                 UNION
                SELECT token_id, name FROM token_faces) AS known
         CROSS JOIN LATERAL terms_of(known.name) AS part
         UNION
        SELECT token_id, FALSE, lower(mint) FROM tokens) AS named
  JOIN tokens
    ON tokens.token_id = named.token_id
  JOIN token_ranks
    ON token_ranks.token_id = named.token_id
 WHERE named.term <> '';

-- Faster than with each row.
ALTER TABLE token_terms ADD PRIMARY KEY (blockchain, is_word, reach, term, token_id);

CREATE INDEX token_terms_by_token ON token_terms (token_id);
