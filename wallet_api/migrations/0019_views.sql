-- What people read with SQL, by names that stay: docs/ledger.md.

-- Each trade with its wallet and its token. realized, cost and realized_usd are those of a sell of what was bought before, and
-- NULL in all other trades; realized_usd is NULL too where a dollar value is unknown.
CREATE VIEW ledger_trades AS
SELECT wallets.blockchain,
       wallets.type,
       wallets.address AS wallet_address,
       wallets.name AS wallet_name,
       tokens.mint,
       trades.token_name,
       trades.tx_signature,
       trades.event_index,
       CASE WHEN trades.is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
       trades.created_at,
       trades.token_amount,
       trades.value,
       trades.value_usd,
       trades.realized,
       trades.realized_cost AS cost,
       trades.realized_usd,
       trades.quantity_after AS held_after
  FROM trades
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
  JOIN tokens
    ON tokens.token_id = trades.token_id;

-- Each wallet in each token that it traded: what it holds by its trades, at what cost, and the sums over all of its trades. Dollars
-- are NULL where a trade among them has none.
CREATE VIEW ledger_positions AS
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
       positions.last_seen
  FROM positions
  JOIN wallets
    ON wallets.wallet_id = positions.wallet_id;
