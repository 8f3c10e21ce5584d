-- As sums.sql, of the volume of groups: sign is -1 of a trade that is taken out.
sum(sign) AS txn,
COALESCE(sum(sign) FILTER (WHERE value_usd IS NULL), 0) AS txn_without_usd,
sum(sign * value) AS volume,
COALESCE(sum(sign * value_usd), 0) AS volume_usd,
COALESCE(sum(sign * value) FILTER (WHERE value_usd IS NULL), 0) AS volume_without_usd
