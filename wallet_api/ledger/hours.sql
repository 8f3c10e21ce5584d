-- As sums.sql, of parts of an hour that were put in (sign 1) and taken out (sign -1): the sums of wallet_hours.
sum(sign * buy_txn) AS buy_txn,
sum(sign * sell_txn) AS sell_txn,
sum(sign * covered_txn) AS covered_txn,
sum(sign * buys_without_usd) AS buys_without_usd,
sum(sign * sells_without_usd) AS sells_without_usd,
sum(sign * invested) AS invested,
sum(sign * sold) AS sold,
sum(sign * invested_usd) AS invested_usd,
sum(sign * sold_usd) AS sold_usd,
sum(sign * invested_without_usd) AS invested_without_usd,
sum(sign * sold_without_usd) AS sold_without_usd,
sum(sign * realized) AS realized,
sum(sign * realized_usd) AS realized_usd
