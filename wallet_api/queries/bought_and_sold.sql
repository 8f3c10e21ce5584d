-- For other statements to include, with traded_usd.sql: what is shown of the purchases and the sales of sums (ledger/sums.sql).
round_half_up(invested, 9) AS buy,
traded.buy_usd AS buy_usd,
round_half_up(sold, 9) AS sell,
traded.sell_usd AS sell_usd
