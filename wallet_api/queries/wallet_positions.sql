-- For other statements to include. It adds latest, token_price, and valued: the positions of a wallet, with the names of their
-- tokens, the prices of what is held, and what is gained on it; NULL without a price.
-- Needs positions_pkey, token_faces_pkey, native_prices_pkey, and what token_price.sql needs.
       -- Only tokens that are held need a price.
       wanted AS (
       SELECT token_id
         FROM positions
        WHERE wallet_id = %(wallet_id)s
          AND quantity > 0
       ),
{latest_price},
{token_price},
       record AS (
       SELECT *
         FROM positions
        WHERE wallet_id = %(wallet_id)s
       ),
       valued AS (
       SELECT record.*,
              face.symbol AS face_symbol,
              face.name AS face_name,
              token_price.price,
              token_price.price_source,
              record.quantity * token_price.price - record.cost AS unrealized
         FROM record
         LEFT JOIN token_faces AS face
           ON face.token_id = record.token_id
         LEFT JOIN token_price
           ON token_price.token_id = record.token_id
       )
