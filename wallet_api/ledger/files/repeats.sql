-- The rows of a batch that the ledger rejects: those that correct trades, of which an earlier batch of the file may have
-- stated something else, and those without a value.

-- corrections --
-- The corrections, with the fields that they change. Needs trades_pkey.
SELECT incoming.line_number,
       fresh.wallet_id,
       fresh.token_id,
       fresh.tx_signature,
       fresh.is_sell,
       fresh.event_index,
       array_remove(ARRAY[
           -- A part of the second that one of them leaves out is no difference.
           CASE WHEN fresh.created_at <> trades.created_at
                 AND date_bin('1 second', fresh.created_at, 'epoch') <> trades.created_at
                THEN 'created_at'
           END,
           CASE WHEN fresh.token_name IS DISTINCT FROM trades.token_name THEN 'token_name' END,
           CASE WHEN fresh.token_amount <> trades.token_amount THEN 'token_amount' END,
           CASE WHEN NOT keeps_value AND fresh.value <> trades.value THEN 'value' END,
           CASE WHEN NOT keeps_usd
                 AND (fresh.usd_derived <> trades.usd_derived
                      OR fresh.value_usd IS DISTINCT FROM trades.value_usd)
                THEN 'value_usd'
           END,
           CASE WHEN fresh.exchanged_value IS DISTINCT FROM trades.exchanged_value THEN 'exchanged_value' END,
           CASE WHEN fresh.block <> trades.block THEN 'block' END,
           CASE WHEN fresh.block = trades.block AND fresh.block_index <> trades.block_index THEN 'block_index' END
       ], NULL) AS fields
  FROM fresh
  JOIN incoming
 USING (wallet_id, token_id, tx_signature, is_sell, event_index)
  JOIN trades
 USING (wallet_id, token_id, tx_signature, is_sell, event_index)
 WHERE fresh.first_arrival IS NOT NULL
    OR fresh.arrival > 0;

-- rows --
-- Some rows of the batch as lines of NDJSON. Needs wallets_pkey, tokens_pkey.
SELECT line_number,
       (jsonb_build_object(
            'blockchain', wallets.blockchain,
            'wallet_address', wallets.address,
            'tx_signature', tx_signature,
            'mint', tokens.mint,
            'transaction_type', CASE WHEN is_sell THEN 'sell' ELSE 'buy' END,
            'token_amount', token_amount::text,
            'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
            'event_index', event_index)
        || CASE WHEN keeps_value THEN '{}' ELSE jsonb_build_object('value', value::text) END
        || CASE WHEN keeps_name THEN '{}' ELSE jsonb_build_object('token_name', token_name) END
        || CASE WHEN keeps_usd THEN '{}' ELSE jsonb_build_object('value_usd', value_usd::text) END
        || CASE WHEN keeps_exchanged THEN '{}' ELSE jsonb_build_object('exchanged_value', exchanged_value::text) END
        || jsonb_strip_nulls(jsonb_build_object('block', block, 'block_index', block_index))
       )::text AS line
  FROM incoming
  JOIN wallets
    ON wallets.wallet_id = incoming.wallet_id
  JOIN tokens
    ON tokens.token_id = incoming.token_id
 WHERE line_number = ANY (%(line_numbers)s);

-- reject --
DELETE FROM fresh
 USING incoming
 WHERE incoming.line_number = ANY (%(line_numbers)s)
   AND incoming.wallet_id = fresh.wallet_id
   AND incoming.token_id = fresh.token_id
   AND incoming.tx_signature = fresh.tx_signature
   AND incoming.is_sell = fresh.is_sell
   AND incoming.event_index = fresh.event_index;

-- unvalued --
-- The rows whose dollars no price has made a value of.
SELECT line_number,
       wallet_id,
       token_id,
       tx_signature,
       is_sell,
       event_index
  FROM incoming
 WHERE value IS NULL;

-- reject_unvalued --
DELETE FROM incoming
 WHERE value IS NULL;
