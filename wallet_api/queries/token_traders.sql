-- For other statements to include, after their CTE wanted (token_id), of a single token. It adds trader, the positions of
-- the token with their wallets, of one type or of all; and total_holders, how many there are, as they are shown. Those that
-- match are of the requested `still_holding`, and without `with_never_held` ever held the token.
-- Needs positions_by_token, wallets_pkey.
       trader AS MATERIALIZED (
       SELECT wallets.address,
              wallets.type,
              wallets.name,
              wallets.image_url,
              wallets.twitter,
              wallets.telegram,
              wallets.copytrade_link,
              wallets.blockchain,
              positions.*,
              still_held(positions.quantity, positions.peak) AS still_holding,
              (%(with_never_held)s::boolean OR positions.peak > 0)
              AND COALESCE(%(still_holding)s::boolean = still_held(positions.quantity, positions.peak), true) AS matches
         FROM wanted
         JOIN positions
           ON positions.token_id = wanted.token_id
         JOIN wallets
           ON wallets.wallet_id = positions.wallet_id
        WHERE wallets.type = COALESCE(%(type)s::text, wallets.type)
       ),
       total_holders AS (
       SELECT
{wallet_types: count(*) FILTER (WHERE type = '$') AS total_holders_$_count},
              count(*) FILTER (WHERE still_holding) AS total_holders_still_holding_count
         FROM trader
       )
