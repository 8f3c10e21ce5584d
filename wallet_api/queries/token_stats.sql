-- A token, what the wallets of one type or of all did in it and still hold, and a page of these wallets, each by itself.
-- A set of trades without a stored dollar value counts with the latest native price.
-- Needs native_prices_pkey, token_faces_pkey, and what token_block.sql and token_traders.sql need.
  WITH
{latest_price},
{token_block},
{token_traders},
{trader_page},
       summed AS (
       SELECT latest.usd,
              count(*) FILTER (WHERE buy_txn > 0) AS buyers,
              COALESCE(sum(quantity), 0) AS quantity,
              COALESCE(sum(peak), 0) AS peak,
{ledger.sums: COALESCE(sum($), 0) AS $},
              COALESCE(max(invested), 0) AS largest_position
         FROM latest
         LEFT JOIN trader
           ON true
        GROUP BY latest.usd
       ),
       entry AS (
       SELECT first_buy,
              type,
              address,
              row_number() OVER (ORDER BY first_buy, address) AS first_place,
              row_number() OVER (ORDER BY first_buy DESC, address) AS latest_place
         FROM trader
        WHERE first_buy IS NOT NULL
       ),
       total_holdings AS (
       SELECT round_half_up(quantity, 18) AS token_amount,
              round_half_up(peak, 18) AS token_amount_peak,
              percentage(quantity, NULLIF(token_block.supply, 0)) AS supply_pct,
              percentage(peak, NULLIF(token_block.supply, 0)) AS supply_pct_peak
         FROM summed
         LEFT JOIN token_block
           ON true
       ),
       total_statistics AS (
       SELECT round_half_up(invested, 9) AS total_buy,
              round_half_up(buy_usd, 4) AS total_buy_usd,
              round_half_up(sold, 9) AS total_sell,
              round_half_up(sell_usd, 4) AS total_sell_usd,
              round_half_up(invested + sold, 9) AS total_volume,
              round_half_up(dollars(invested_usd + sold_usd, invested_without_usd + sold_without_usd, buy_txn + sell_txn,
                                    buys_without_usd + sells_without_usd, usd), 4) AS total_volume_usd,
              round_half_up(invested - sold, 9) AS net_flow,
              round_half_up(buy_usd - sell_usd, 4) AS net_flow_usd,
              CASE WHEN invested + sold = 0 THEN 0
                   ELSE round_half_up(quotient(invested, invested + sold), 4)
              END AS buying_pressure,
              CASE WHEN buyers = 0 THEN 0 ELSE round_half_up(quotient(invested, buyers), 9) END AS avg_position_size,
              round_half_up(largest_position, 9) AS largest_position,
              iso_time(first.first_buy) AS first_entry_time,
              first.type AS first_entry_type,
              first.address AS first_entry_wallet_address,
              iso_time(latest.first_buy) AS latest_entry_time,
              latest.type AS latest_entry_type,
              latest.address AS latest_entry_wallet_address,
              -- An entry may be a few minutes ahead of the clock.
              CASE WHEN first.first_buy <= %(now)s
                   THEN round_half_up(quotient(extract(epoch FROM %(now)s::timestamptz - first.first_buy), 3600), 2)
                   WHEN first.first_buy > %(now)s THEN 0
              END AS time_since_first_entry_hours
         FROM summed
        -- NULL if none of them is known, 0 if there are none.
        CROSS JOIN LATERAL (
              SELECT dollars(invested_usd, invested_without_usd, buy_txn, buys_without_usd, usd) AS buy_usd,
                     dollars(sold_usd, sold_without_usd, sell_txn, sells_without_usd, usd) AS sell_usd) AS traded
         LEFT JOIN entry AS first
           ON first.first_place = 1
         LEFT JOIN entry AS latest
           ON latest.latest_place = 1
       ),
       valued AS (
       SELECT page.*,
              latest.usd,
              face.supply,
              round_half_up(invested, 9) AS buy,
              round_half_up(dollars(invested_usd, invested_without_usd, buy_txn, buys_without_usd, latest.usd), 4)
                  AS buy_usd,
              round_half_up(sold, 9) AS sell,
              round_half_up(dollars(sold_usd, sold_without_usd, sell_txn, sells_without_usd, latest.usd), 4)
                  AS sell_usd,
              -- A token that is not held is worth 0, with or without a price, also in dollars.
              CASE WHEN quantity = 0 THEN 0 ELSE quantity * price END AS worth,
              CASE WHEN quantity = 0 THEN 0 ELSE latest.usd END AS held_usd
         FROM page
        CROSS JOIN latest
         LEFT JOIN token_faces AS face
           ON face.token_id = page.token_id
        WHERE ordinal <= %(limit)s::bigint
       ),
       -- As text, since row_to_json takes twice as long. Unknown dollar values of a trader are left out.
       shown AS (
       SELECT '[' || COALESCE(
                  string_agg(
                      '{"profile":' ||
{profile}
                      || ',"trader_holdings":{"token_amount":' || round_half_up(quantity, 18)
                      || ',"token_amount_peak":' || round_half_up(peak, 18)
                      || ',"bag_pct":' || percentage(quantity, peak)
                      || ',"still_holding":' || still_holding
                      || ',"supply_pct":' || COALESCE(percentage(quantity, NULLIF(supply, 0))::text, 'null')
                      || ',"supply_pct_peak":' || COALESCE(percentage(peak, NULLIF(supply, 0))::text, 'null')
                      || ',"remaining_sol":' || COALESCE(round_half_up(worth, 9)::text, 'null')
                      || ',"remaining_usd":' || COALESCE(round_half_up(worth * held_usd, 4)::text, 'null')
                      || ',"unrealized_pnl_sol":' || COALESCE(round_half_up(worth - cost, 9)::text, 'null')
                      || ',"unrealized_pnl_usd":' || COALESCE(round_half_up((worth - cost) * held_usd, 4)::text, 'null')
                      || ',"unrealized_pnl_pct":'
                      || CASE WHEN worth IS NULL THEN 'null' ELSE percentage(worth - cost, cost)::text END
                      || ',"entry_market_cap":null,"entry_market_cap_usd":null'
                      || '},"trader_stats":{"buy":' || buy
                      || COALESCE(',"buy_usd":' || buy_usd, '')
                      || ',"buy_count":' || buy_txn
                      || ',"buy_tokens":' || round_half_up(bought_tokens, 18)
                      || ',"sell":' || sell
                      || COALESCE(',"sell_usd":' || sell_usd, '')
                      || ',"sell_count":' || sell_txn
                      || ',"sell_tokens":' || round_half_up(sold_tokens, 18)
                      || ',"volume_buy":' || buy
                      || COALESCE(',"volume_buy_usd":' || buy_usd, '')
                      || ',"volume_sell":' || sell
                      || COALESCE(',"volume_sell_usd":' || sell_usd, '')
                      || ',"avg_buy_price":' || CASE WHEN bought_tokens = 0 THEN 0
                                                     ELSE round_half_up(quotient(invested, bought_tokens), 18)
                                                END
                      || ',"realized_pnl":' || round_half_up(realized, 9)
                      || CASE WHEN covered_without_usd = 0
                              THEN ',"realized_pnl_usd":' || round_half_up(realized_usd, 4)
                              ELSE ''
                         END
                      || ',"realized_pnl_percentage":' || percentage(realized, realized_cost)
                      || ',"sold_without_cost":' || round_half_up(sold - realized - realized_cost, 9)
                      || ',"tokens_sold_without_cost":' || round_half_up(tokens_without_cost, 18)
                      || COALESCE(',"first_buy_at":"' || iso_time(first_buy) || '"', '')
                      || ',"first_trade_at":"' || iso_time(first_seen)
                      || '","last_trade_at":"' || iso_time(last_seen)
                      || '"}}', ',' ORDER BY ordinal), '') || ']' AS traders
         FROM valued
       )
SELECT token_block.*,
       ARRAY(SELECT token_id
               FROM newest_trade
              WHERE NOT makes_price) AS unpriced_ids,
       (SELECT row_to_json(total_holders)::text
          FROM total_holders) AS total_holders,
       (SELECT row_to_json(total_holdings)::text
          FROM total_holdings) AS total_holdings,
       (SELECT json_strip_nulls(row_to_json(total_statistics))::text
          FROM total_statistics) AS total_statistics,
       (SELECT traders
          FROM shown) AS traders,
       page_end.*
  FROM (VALUES (TRUE)) AS one (row)
  LEFT JOIN token_block
    ON true
 CROSS JOIN page_end
