-- For other statements to include: what a `quantity` is worth at a `price` and the `latest` native price; NULL without them.
round_price(price) AS price,
price_source,
round_half_up(quantity * price, 9) AS worth,
round_half_up(quantity * price * latest.usd, 4) AS worth_usd
