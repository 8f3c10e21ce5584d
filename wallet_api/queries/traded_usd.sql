-- For other statements to include after their FROM: the dollars of the sums of trades (ledger/sums.sql), of which those without a
-- dollar value count with latest.usd, the latest native price. NULL where there are trades, but none with a dollar value.
        CROSS JOIN LATERAL (
              SELECT round_half_up(dollars(invested_usd, invested_without_usd, buy_txn, buys_without_usd, latest.usd), 4) AS buy_usd,
                     round_half_up(dollars(sold_usd, sold_without_usd, sell_txn, sells_without_usd, latest.usd), 4) AS sell_usd,
                     round_half_up(dollars(invested_usd + sold_usd, invested_without_usd + sold_without_usd, buy_txn + sell_txn,
                                           buys_without_usd + sells_without_usd, latest.usd), 4) AS volume_usd,
                     round_half_up(dollars(invested_usd, invested_without_usd, buy_txn, buys_without_usd, latest.usd)
                                   - dollars(sold_usd, sold_without_usd, sell_txn, sells_without_usd, latest.usd), 4) AS net_flow_usd
              ) AS traded
