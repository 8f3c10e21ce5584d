-- For other statements to include, after their CTE named (token_id, name): the terms of these names of tokens, each once, with the
-- columns of token_terms. Needs tokens_pkey, token_ranks_pkey.
SELECT DISTINCT tokens.blockchain,
       part.is_word,
       reach_of(token_ranks.wallet_count) AS reach,
       part.term,
       tokens.token_id
  FROM named
  JOIN tokens
    ON tokens.token_id = named.token_id
  JOIN token_ranks
    ON token_ranks.token_id = named.token_id
 CROSS JOIN LATERAL terms_of(named.name) AS part
 WHERE part.term <> ''
