-- For other statements to include, after their CTE wanted (token_id), of a single token. It adds trader, the positions of
-- the token with their wallets, of one type or of all; and total_holders, how many there are, as they are shown.
-- Needs positions_by_token, wallets_pkey.
       trader AS MATERIALIZED (
       SELECT positions.*,
              still_held(positions.quantity, positions.peak) AS still_holding,
              wallets.type,
              wallets.address,
              wallets.name,
              wallets.image_url,
              wallets.twitter,
              wallets.telegram,
              wallets.copytrade_link,
              wallets.blockchain
         FROM wanted
         JOIN positions
           ON positions.token_id = wanted.token_id
         JOIN wallets
           ON wallets.wallet_id = positions.wallet_id
        WHERE wallets.type = COALESCE(%(type)s::text, wallets.type)
       ),
       total_holders AS (
       SELECT count(*) FILTER (WHERE type = 'kol') AS kol_count,
              count(*) FILTER (WHERE type = 'smart') AS smart_count,
              count(*) FILTER (WHERE type = 'whale') AS whale_count,
              count(*) FILTER (WHERE still_holding) AS still_holding_count
         FROM trader
       )
