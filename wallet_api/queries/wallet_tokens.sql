-- A page of the tokens of a wallet by a figure, and how many there are.
-- A place is a figure times `direction`, infinite where the figure is unknown.
-- Needs wallets_pkey, and what wallet_positions.sql needs.
  WITH
{wallet_positions},
       placed AS MATERIALIZED (
       SELECT COALESCE(
                  CASE %(sort)s::text
                       WHEN 'last_seen' THEN extract(epoch FROM last_seen)
                       WHEN 'realized_pnl' THEN round_half_up(realized, 9)
                       WHEN 'unrealized_pnl' THEN CASE WHEN quantity = 0 THEN 0 ELSE round_half_up(unrealized, 9) END
                       WHEN 'invested' THEN round_half_up(invested, 9)
                       WHEN 'open_cost' THEN round_half_up(cost, 9)
                       WHEN 'token_amount' THEN round_half_up(quantity, 18)
                  END * %(direction)s::numeric, 'Infinity') AS figure,
              valued.*
         FROM valued
        WHERE %(still_holding)s::boolean IS NULL
           OR still_held(quantity, peak) = %(still_holding)s::boolean
       ),
       candidate AS (
       SELECT *
         FROM placed
        WHERE (figure, mint) > (%(figure)s::numeric, %(mint)s::text)
        ORDER BY figure, mint
        LIMIT %(limit)s::bigint + 1
       ),
       page AS MATERIALIZED (
       SELECT candidate.*,
              row_number() OVER (ORDER BY figure, mint) AS ordinal
         FROM candidate
       ),
       shown AS (
       SELECT ordinal AS place,
{token_overview},
{worth}
         FROM page
        CROSS JOIN latest
{traded_usd}
        WHERE ordinal <= %(limit)s::bigint
       ),
       head AS (
       SELECT 1 AS place,
{coin_price},
              (SELECT count(*)
                 FROM placed) AS total,
              EXISTS (SELECT FROM page
                       WHERE ordinal > %(limit)s::bigint) AS has_more,
              last.figure,
              last.mint
         FROM wallets
         LEFT JOIN page AS last
           ON last.ordinal = %(limit)s::bigint
        WHERE wallets.wallet_id = %(wallet_id)s
       )
{lists: shown}
