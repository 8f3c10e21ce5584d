-- As counts.sql, of intraday positions that have a covered sell: what wallet_days has of them.
COALESCE(sum(sign) FILTER (WHERE bucket = 0), 0) AS intraday_below_zero,
COALESCE(sum(sign) FILTER (WHERE bucket = 1), 0) AS intraday_above_zero_to_100,
COALESCE(sum(sign) FILTER (WHERE bucket = 2), 0) AS intraday_above_100_to_500,
COALESCE(sum(sign) FILTER (WHERE bucket = 3), 0) AS intraday_above_500,
sum(sign * loss_of(realized, realized_cost)) AS intraday_losses
