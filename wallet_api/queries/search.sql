-- The wallets and the tokens that a text names: those whose name, symbol or address equals it, then those of which one
-- begins with it, then those with a word that does. The tokens of most wallets come first, then those traded last.
-- Of tokens that share a beginning few are read: those of each reach, the widest first, until enough are found; the steps
-- come in this order, in which the executor takes the rows of a function.
-- Needs wallet_terms_pkey, wallets_pkey, token_terms_pkey, token_ranks_pkey, tokens_pkey, token_prices_pkey,
-- token_faces_pkey.
  WITH wanted AS MATERIALIZED (
       SELECT btrim(lower(%(q)s::text)) AS first_term,
              btrim(lower(%(q)s::text)) || chr(1114111) AS last_term
       ),
       wallet AS MATERIALIZED (
       SELECT hit.wallet_id,
              min(CASE WHEN hit.is_word THEN 3 WHEN hit.term = first_term THEN 1 ELSE 2 END) AS rank,
              min(hit.term) AS term
         FROM wanted
        CROSS JOIN (VALUES (FALSE), (TRUE)) AS part (of_word)
        CROSS JOIN LATERAL (
              SELECT wallet_terms.*
                FROM wallet_terms
                JOIN wallets
                  ON wallets.wallet_id = wallet_terms.wallet_id
               WHERE wallet_terms.is_word = part.of_word
                 AND wallet_terms.term >= wanted.first_term
                 AND wallet_terms.term < wanted.last_term
                 AND wallets.blockchain = ANY (%(blockchains)s::text[])
                 AND (%(types)s::text[] IS NULL OR wallets.type = ANY (%(types)s::text[]))
               ORDER BY wallet_terms.term, wallet_terms.wallet_id
               LIMIT %(most)s) AS hit
        WHERE NOT part.of_word
           OR %(finds_words)s::boolean
        GROUP BY hit.wallet_id
       ),
       step AS MATERIALIZED (
       SELECT hit.rank,
              hit.token_id,
              hit.wallet_count,
              hit.token_name,
              hit.traded_at
         FROM wanted
        CROSS JOIN unnest(%(ranks)s::integer[], %(reaches)s::smallint[]) AS next (rank, reach)
        CROSS JOIN LATERAL (
              SELECT next.rank,
                     near.token_id,
                     token_ranks.wallet_count,
                     token_ranks.token_name,
                     token_prices.created_at AS traded_at
                FROM (SELECT DISTINCT term.token_id
                        FROM unnest(%(blockchains)s::text[]) AS chain (name)
                       CROSS JOIN LATERAL (
                             SELECT token_terms.token_id
                               FROM token_terms
                              WHERE token_terms.blockchain = chain.name
                                AND token_terms.is_word = (next.rank = 3)
                                AND token_terms.reach = next.reach
                                AND token_terms.term >= wanted.first_term
                                AND token_terms.term <= CASE WHEN next.rank = 1 THEN wanted.first_term
                                                             ELSE wanted.last_term END
                              LIMIT %(most)s) AS term) AS near
                JOIN token_ranks
                  ON token_ranks.token_id = near.token_id
                LEFT JOIN token_prices
                  ON token_prices.token_id = near.token_id
               ORDER BY token_ranks.wallet_count DESC, token_prices.created_at DESC NULLS LAST, near.token_id
               LIMIT %(limit)s) AS hit
        LIMIT 3 * %(limit)s
       ),
       token AS MATERIALIZED (
       SELECT DISTINCT ON (token_id) *
         FROM step
        ORDER BY token_id, rank
       ),
       profiles AS (
       SELECT row_number() OVER (ORDER BY wallet.rank, wallet.term, wallets.address) AS place,
              wallets.address AS wallet_address,
              wallets.name,
              wallets.image_url,
              wallets.twitter,
              wallets.telegram,
              wallets.copytrade_link,
              wallets.blockchain,
              wallets.type,
              native_currency(wallets.blockchain) AS currency
         FROM wallet
         JOIN wallets
           ON wallets.wallet_id = wallet.wallet_id
        ORDER BY wallet.rank, wallet.term, wallets.address
        LIMIT %(limit)s
       ),
       shown AS (
       SELECT row_number() OVER (ORDER BY token.rank, token.wallet_count DESC, token.traded_at DESC NULLS LAST,
                                          tokens.mint) AS place,
              tokens.blockchain,
              native_currency(tokens.blockchain) AS currency,
              tokens.mint,
              face.symbol,
              COALESCE(token.token_name, face.name, '') AS token_name,
              iso_time(token.traded_at) AS last_trade_at,
              token.wallet_count
         FROM token
         JOIN tokens
           ON tokens.token_id = token.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = token.token_id
        ORDER BY token.rank, token.wallet_count DESC, token.traded_at DESC NULLS LAST, tokens.mint
        LIMIT %(limit)s
       ),
       head AS (
       SELECT 1 AS place,
              first_term
         FROM wanted
       )
{lists: profiles shown}
