-- A token, what the wallets of one type or of all did in it and still hold, and a page of these wallets, each by itself.
-- Needs native_prices_pkey, token_faces_pkey, and what token_block.sql and token_traders.sql need.
  WITH
{latest_price},
{token_block},
{token_traders},
{trader_page},
       summed AS (
       SELECT count(*) FILTER (WHERE buy_txn > 0) AS buyers,
              COALESCE(sum(quantity), 0) AS quantity,
              COALESCE(sum(peak), 0) AS peak,
{ledger.sums: COALESCE(sum($), 0) AS $},
              COALESCE(max(invested), 0) AS largest_position
         FROM trader
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
       SELECT round_half_up(quantity, 18) AS total_holdings_token_amount,
              round_half_up(peak, 18) AS total_holdings_token_amount_peak,
              percentage(quantity, NULLIF(token_block.supply, 0)) AS total_holdings_supply_pct,
              percentage(peak, NULLIF(token_block.supply, 0)) AS total_holdings_supply_pct_peak
         FROM summed
         LEFT JOIN token_block
           ON true
       ),
       total_statistics AS (
       SELECT
{bought_and_sold: @ AS total_statistics_total_$},
              round_half_up(invested + sold, 9) AS total_statistics_total_volume,
              traded.volume_usd AS total_statistics_total_volume_usd,
              round_half_up(invested - sold, 9) AS total_statistics_net_flow,
              traded.net_flow_usd AS total_statistics_net_flow_usd,
              CASE WHEN invested + sold = 0 THEN 0
                   ELSE round_half_up(quotient(invested, invested + sold), 4)
              END AS total_statistics_buying_pressure,
              CASE WHEN buyers = 0 THEN 0 ELSE round_half_up(quotient(invested, buyers), 9) END AS total_statistics_avg_position_size,
              round_half_up(largest_position, 9) AS total_statistics_largest_position,
              iso_time(first.first_buy) AS total_statistics_first_entry_time,
              first.type AS total_statistics_first_entry_type,
              first.address AS total_statistics_first_entry_wallet_address,
              iso_time(last.first_buy) AS total_statistics_latest_entry_time,
              last.type AS total_statistics_latest_entry_type,
              last.address AS total_statistics_latest_entry_wallet_address,
              -- An entry may be a few minutes ahead of the clock.
              CASE WHEN first.first_buy <= %(now)s
                   THEN round_half_up(quotient(extract(epoch FROM %(now)s::timestamptz - first.first_buy), 3600), 2)
                   WHEN first.first_buy > %(now)s THEN 0
              END AS total_statistics_time_since_first_entry_hours
         FROM summed
        CROSS JOIN latest
{traded_usd}
         LEFT JOIN entry AS first
           ON first.first_place = 1
         LEFT JOIN entry AS last
           ON last.latest_place = 1
       ),
       valued AS (
       SELECT page.*,
              latest.usd,
              face.supply,
{bought_and_sold},
{profit},
              -- A token that is not held is worth 0, with or without a price, also in dollars.
              CASE WHEN quantity = 0 THEN 0 ELSE quantity * price END AS worth,
              CASE WHEN quantity = 0 THEN 0 ELSE latest.usd END AS held_usd
         FROM page
        CROSS JOIN latest
{traded_usd}
         LEFT JOIN token_faces AS face
           ON face.token_id = page.token_id
        WHERE ordinal <= %(limit)s::bigint
       ),
       shown AS (
       SELECT ordinal AS place,
{profile},
              round_half_up(quantity, 18) AS trader_holdings_token_amount,
              round_half_up(peak, 18) AS trader_holdings_token_amount_peak,
              percentage(quantity, peak) AS trader_holdings_bag_pct,
              still_holding AS trader_holdings_still_holding,
              percentage(quantity, NULLIF(supply, 0)) AS trader_holdings_supply_pct,
              percentage(peak, NULLIF(supply, 0)) AS trader_holdings_supply_pct_peak,
              round_half_up(worth, 9) AS trader_holdings_remaining_sol,
              round_half_up(worth * held_usd, 4) AS trader_holdings_remaining_usd,
              round_half_up(worth - cost, 9) AS trader_holdings_unrealized_pnl_sol,
              round_half_up((worth - cost) * held_usd, 4) AS trader_holdings_unrealized_pnl_usd,
              CASE WHEN worth IS NOT NULL THEN percentage(worth - cost, cost) END AS trader_holdings_unrealized_pnl_pct,
              NULL AS trader_holdings_entry_market_cap,
              NULL AS trader_holdings_entry_market_cap_usd,
              buy AS trader_stats_buy,
              buy_usd AS trader_stats_buy_usd,
              buy_txn AS trader_stats_buy_count,
              round_half_up(bought_tokens, 18) AS trader_stats_buy_tokens,
              sell AS trader_stats_sell,
              sell_usd AS trader_stats_sell_usd,
              sell_txn AS trader_stats_sell_count,
              round_half_up(sold_tokens, 18) AS trader_stats_sell_tokens,
              buy AS trader_stats_volume_buy,
              buy_usd AS trader_stats_volume_buy_usd,
              sell AS trader_stats_volume_sell,
              sell_usd AS trader_stats_volume_sell_usd,
              CASE WHEN bought_tokens = 0 THEN 0
                   ELSE price_per_token(invested, bought_tokens)
              END AS trader_stats_avg_buy_price,
{profit: $ AS trader_stats_$},
              round_half_up(tokens_without_cost, 18) AS trader_stats_tokens_sold_without_cost,
              iso_time(first_buy) AS trader_stats_first_buy_at,
              iso_time(first_seen) AS trader_stats_first_trade_at,
              iso_time(last_seen) AS trader_stats_last_trade_at
         FROM valued
       ),
       head AS (
       SELECT 1 AS place,
              token_block.*,
              total_holders.*,
              total_holdings.*,
              total_statistics.*,
              page_end.*
         FROM page_end
        CROSS JOIN total_holders
        CROSS JOIN total_holdings
        CROSS JOIN total_statistics
         LEFT JOIN token_block
           ON true
       )
{lists: shown}
