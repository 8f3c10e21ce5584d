-- As sums.sql, of days of positions that were put in (sign 1) and taken out (sign -1): the sums of token_days.
{hours},
sum(sign * covered_without_usd) AS covered_without_usd
