-- For calendar_months.sql to include: the plain sums of a day or a month as they are shown, with traded_usd.sql.
buy_txn AS buy_txn,
sell_txn AS sell_txn,
buy_txn + sell_txn AS txn_total,
tokens_traded AS tokens_traded,
round_half_up(invested + sold, 9) AS volume,
traded.volume_usd AS volume_usd,
round_half_up(invested, 9) AS total_buy,
traded.buy_usd AS total_buy_usd,
round_half_up(sold, 9) AS total_sell,
traded.sell_usd AS total_sell_usd
