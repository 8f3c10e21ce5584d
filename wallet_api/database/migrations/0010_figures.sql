-- Prices of tokens that have quadrillions of units, and the cost of what is held in dollars for those who read with SQL.

-- A price as it is shown, rounded half away from zero: to 18 decimals, and to 12 significant digits below 10^-7. As in
-- round_half_up, the last digits of quotients are removed first.
CREATE FUNCTION round_price(price numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN price > 0 AND price < 1e-7
            THEN trim_scale(round(round(price, 23 + length(div(1, price)::text)), 11 + length(div(1, price)::text)))
            ELSE round_half_up(price, 18)
       END;

-- The same of a value / an amount of tokens. A short quotient is enough for most, and takes a tenth of the time.
CREATE FUNCTION price_per_token(value numeric, token_amount numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value > 0 AND value < token_amount * 1e-7 THEN round_price(small_quotient(value, token_amount))
            ELSE round_half_up(quotient(value, token_amount), 18)
       END;

-- open_cost_usd is the cost in dollars of what a position holds, NULL where a buy behind it has none.
CREATE OR REPLACE VIEW ledger_positions AS
SELECT wallets.blockchain,
       wallets.type,
       wallets.address AS wallet_address,
       wallets.name AS wallet_name,
       positions.mint,
       positions.token_name,
       positions.quantity AS held,
       positions.cost AS open_cost,
       positions.buy_txn,
       positions.sell_txn,
       positions.bought_tokens,
       positions.sold_tokens,
       positions.invested,
       CASE WHEN positions.buys_without_usd = 0 THEN positions.invested_usd END AS invested_usd,
       positions.sold,
       CASE WHEN positions.sells_without_usd = 0 THEN positions.sold_usd END AS sold_usd,
       positions.realized,
       positions.realized_cost AS cost,
       CASE WHEN positions.covered_without_usd = 0 THEN positions.realized_usd END AS realized_usd,
       positions.first_seen,
       positions.last_seen,
       positions.cost_usd AS open_cost_usd
  FROM positions
  JOIN wallets
    ON wallets.wallet_id = positions.wallet_id;
