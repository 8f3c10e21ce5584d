-- For search_prices.sql to include: whether a trade makes a price. One without a dollar value counts with the latest native
-- price; without one it is large enough.
           AND trades.created_at <= %(now)s
           AND trades.value > 0
           AND COALESCE(trades.value_usd, trades.value * latest.usd, %(price_min_usd)s) >= %(price_min_usd)s
