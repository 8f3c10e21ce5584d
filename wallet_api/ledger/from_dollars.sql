-- The values of the rows of `incoming` that state dollars alone.

-- known --
-- A trade that the ledger has keeps its value, but for one that was computed from other dollars, or in another second. Needs
-- trades_pkey.
INSERT INTO valued
SELECT incoming.line_number,
       trades.value,
       trades.value_derived
  FROM incoming
  JOIN trades
 USING (wallet_id, token_id, tx_signature, is_sell, event_index)
 WHERE incoming.keeps_value
   AND (NOT trades.value_derived
        OR (trades.value_usd = incoming.value_usd
            AND date_bin('1 second', trades.created_at, 'epoch') = date_bin('1 second', incoming.created_at, 'epoch')));

-- priced --
-- The others get their dollars at the price nearest their time, to the smallest unit that a coin has. Needs wallets_pkey,
-- native_prices_pkey.
INSERT INTO valued
SELECT trade.line_number,
       quotient_to(trade.value_usd, nearest_price.usd, 18) AS value,
       TRUE AS value_derived
  FROM (SELECT incoming.line_number,
               incoming.value_usd,
               incoming.created_at,
               native_currency(wallets.blockchain) AS currency,
               TRUE AS wants_price
          FROM incoming
          JOIN wallets
            ON wallets.wallet_id = incoming.wallet_id
         WHERE incoming.keeps_value
           AND incoming.line_number NOT IN (SELECT line_number FROM valued)) AS trade
{nearest_price}
 WHERE nearest_price.usd IS NOT NULL;

-- values --
UPDATE incoming
   SET value = valued.value,
       value_derived = valued.value_derived
  FROM valued
 WHERE valued.line_number = incoming.line_number;
