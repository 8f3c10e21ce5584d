-- The faces of tokens.

-- due --
-- The tokens of a chain without a face, the newest first, then those tried longest ago that were traded since
-- a time. Needs tokens_blockchain_mint_key, token_faces_pkey, token_prices_pkey.
SELECT tokens.token_id,
       tokens.mint
  FROM tokens
  LEFT JOIN token_faces AS face
    ON face.token_id = tokens.token_id
  LEFT JOIN token_prices AS newest
    ON newest.token_id = tokens.token_id
 WHERE tokens.blockchain = %(blockchain)s
   AND (face.token_id IS NULL
        OR (face.tried_at < %(tried_before)s AND newest.created_at >= %(traded_since)s))
 ORDER BY face.tried_at NULLS FIRST, tokens.token_id DESC
 LIMIT %(most)s;

-- save --
-- Keep faces. What a node does not return now is kept from before. Needs token_faces_pkey.
INSERT INTO token_faces AS kept (token_id, symbol, name, decimals, supply, tried_at, read_at)
SELECT given.token_id,
       given.symbol,
       given.name,
       given.decimals,
       given.supply,
       %(now)s::timestamptz,
       CASE WHEN given.known THEN %(now)s::timestamptz END
  FROM unnest(%(token_ids)s::bigint[], %(known)s::boolean[], %(symbol)s::text[], %(name)s::text[],
              %(decimals)s::integer[], %(supply)s::numeric[])
       AS given (token_id, known, symbol, name, decimals, supply)
    ON CONFLICT (token_id) DO UPDATE
   SET symbol = COALESCE(excluded.symbol, kept.symbol),
       name = COALESCE(excluded.name, kept.name),
       decimals = COALESCE(excluded.decimals, kept.decimals),
       supply = COALESCE(excluded.supply, kept.supply),
       tried_at = excluded.tried_at,
       read_at = COALESCE(excluded.read_at, kept.read_at);

-- terms --
-- Let a search find tokens by these symbols and names. Needs tokens_pkey, token_ranks_pkey.
INSERT INTO token_terms (blockchain, is_word, reach, term, token_id)
  WITH named AS (
       SELECT *
         FROM unnest(%(token_ids)s::bigint[] || %(token_ids)s::bigint[], %(symbol)s::text[] || %(name)s::text[])
              AS given (token_id, name)
       )
{ledger.terms_of_tokens}
    ON CONFLICT DO NOTHING;
