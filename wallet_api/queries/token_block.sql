-- A token that any tracked wallet ever traded: its price, and the name in the newest trade that has one.
-- Needs tokens_blockchain_mint_key, positions_by_token, trades_by_token, wallets_pkey, token_prices_pkey,
-- native_prices_pkey, pending_fills_pkey.
  WITH wanted AS MATERIALIZED (
       SELECT tokens.token_id
         FROM tokens
         JOIN positions
           ON positions.token_id = tokens.token_id
        WHERE tokens.blockchain = %(blockchain)s
          AND tokens.mint = %(mint)s
          AND NOT EXISTS (SELECT FROM pending_fills)
        LIMIT 1
       ),
       named AS (
       SELECT newest.token_name
         FROM (SELECT *
                 FROM trades
                WHERE token_id = (SELECT token_id
                                    FROM wanted)
                  AND token_name IS NOT NULL
                ORDER BY created_at DESC
                FETCH FIRST 1 ROW WITH TIES) AS newest
         JOIN wallets
           ON wallets.wallet_id = newest.wallet_id
        ORDER BY newest.is_sell DESC, newest.tx_signature DESC, newest.event_index DESC, wallets.address DESC
        LIMIT 1
       ),
{latest_price},
{token_price}
SELECT wanted.token_id,
       COALESCE((SELECT token_name
                   FROM named), '') AS token_name,
       round_half_up(token_price.price, 18) AS price,
       round_half_up(token_price.price * latest.usd, 18) AS price_usd,
       to_char(token_price.price_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS price_at,
       CASE WHEN %(blockchain)s = 'solana' THEN round_half_up(latest.usd, 4) END AS sol_price_usd
  FROM wanted
 CROSS JOIN latest
  LEFT JOIN token_price
    ON token_price.token_id = wanted.token_id
