-- A token as the head, and a page of the wallets of one type or of all that ever held it.
-- Needs native_prices_pkey, token_faces_pkey, and what token_block.sql and token_traders.sql need.
  WITH
{latest_price},
{token_block},
{token_traders},
{trader_page},
       shown AS (
       SELECT ordinal AS place,
{profile},
              round_half_up(quantity, 18) AS holdings_token_amount,
              round_half_up(peak, 18) AS holdings_token_amount_peak,
              percentage(quantity, peak) AS holdings_bag_pct,
              still_holding AS holdings_still_holding,
              percentage(quantity, NULLIF(supply, 0)) AS holdings_supply_pct,
              percentage(peak, NULLIF(supply, 0)) AS holdings_supply_pct_peak
         FROM page
         LEFT JOIN (SELECT token_id AS face_id,
                           supply
                      FROM token_faces) AS face
           ON face.face_id = page.token_id
        WHERE ordinal <= %(limit)s::bigint
       ),
       head AS (
       SELECT 1 AS place,
              token_block.*,
              total_holders.*,
              (SELECT count(*)
                 FROM trader
                WHERE peak > 0) AS total,
              page_end.*
         FROM page_end
        CROSS JOIN total_holders
         LEFT JOIN token_block
           ON true
       )
{lists: shown}
