-- A token, and a page of the wallets of one type or of all that ever held it.
-- Needs native_prices_pkey, token_faces_pkey, and what token_block.sql and token_traders.sql need.
  WITH
{latest_price},
{token_block},
{token_traders},
{trader_page},
       shown AS (
       SELECT ordinal,
              '{"profile":' ||
{profile}
              || ',"holdings":{"token_amount":' || round_half_up(quantity, 18)
              || ',"token_amount_peak":' || round_half_up(peak, 18)
              || ',"bag_pct":' || percentage(quantity, peak)
              || ',"still_holding":' || still_holding
              || ',"supply_pct":' || COALESCE(percentage(quantity, NULLIF(supply, 0))::text, 'null')
              || ',"supply_pct_peak":' || COALESCE(percentage(peak, NULLIF(supply, 0))::text, 'null')
              || '}}' AS entry
         FROM page
         LEFT JOIN (SELECT token_id AS face_id,
                           supply
                      FROM token_faces) AS face
           ON face.face_id = page.token_id
        WHERE ordinal <= %(limit)s::bigint
       )
SELECT token_block.*,
       ARRAY(SELECT token_id
               FROM newest_trade
              WHERE NOT makes_price) AS unpriced_ids,
       (SELECT row_to_json(total_holders)::text
          FROM total_holders) AS total_holders,
       (SELECT count(*)
          FROM trader
         WHERE peak > 0) AS total,
       (SELECT '[' || COALESCE(string_agg(entry, ',' ORDER BY ordinal), '') || ']'
          FROM shown) AS holders,
       page_end.*
  FROM (VALUES (TRUE)) AS one (row)
  LEFT JOIN token_block
    ON true
 CROSS JOIN page_end
