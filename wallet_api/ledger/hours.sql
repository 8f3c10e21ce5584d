-- As sums.sql, of parts of an hour that were put in (sign 1) and taken out (sign -1): the sums of wallet_hours.
sum(sign * buy_txn) AS buy_txn,
sum(sign * sell_txn) AS sell_txn,
sum(sign * covered_txn) AS covered_txn,
sum(sign * realized) AS realized,
sum(sign * realized_usd) AS realized_usd
