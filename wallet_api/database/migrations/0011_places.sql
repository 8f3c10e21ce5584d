-- The place of a trade in its chain, beside its time: chains make several blocks in a second.

-- block is the number of the block (a slot), block_index the place of the transaction in it; NULL where no source states
-- it. All rows get NULL without being rewritten.
ALTER TABLE trades ADD COLUMN block bigint,
                   ADD COLUMN block_index integer;

-- The newest block of a chain that a sync has seen to be final. A chain that no sync reads has no row.
CREATE TABLE final_blocks (
    blockchain text PRIMARY KEY,
    number bigint NOT NULL
) WITH (fillfactor = 50);

-- The place of each trade, for those who read with SQL.
CREATE OR REPLACE VIEW ledger_trades AS
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
       trades.quantity_after AS held_after,
       trades.block,
       trades.block_index
  FROM trades
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
  JOIN tokens
    ON tokens.token_id = trades.token_id;

-- Whether the sums of all wallets are still to be computed again, as a later file that adds one asks for: those of wallets
-- after `done_until` are. NULL: none. Always one row.
CREATE TABLE wallet_fill (
    done_until bigint
);

INSERT INTO wallet_fill VALUES (NULL);

-- As before, in the order of trades with their places.
CREATE OR REPLACE FUNCTION prices_before(token_ids bigint[], moment timestamptz, oldest timestamptz, usd numeric, min_usd numeric)
RETURNS TABLE (token_id bigint, price numeric, price_at timestamptz)
LANGUAGE plpgsql STABLE ROWS 10
AS $$
#variable_conflict use_column
DECLARE
    wanted bigint;
BEGIN
    FOREACH wanted IN ARRAY token_ids LOOP
        RETURN QUERY
        SELECT wanted,
               public.small_quotient(COALESCE(trades.exchanged_value, trades.value), trades.token_amount),
               trades.created_at
          FROM public.trades
          JOIN public.wallets
            ON wallets.wallet_id = trades.wallet_id
         WHERE trades.token_id = wanted
           AND trades.created_at <= moment
           AND trades.created_at >= oldest
           AND trades.value > 0
           AND COALESCE(trades.value_usd, trades.value * usd, min_usd) >= min_usd
         ORDER BY trades.created_at DESC, COALESCE(trades.block, -1) DESC, COALESCE(trades.block_index, -1) DESC,
                  trades.is_sell DESC, trades.tx_signature DESC, trades.event_index DESC, wallets.address DESC
         LIMIT 1;
    END LOOP;
END
$$;
