-- The trades of some transactions in the ledger. Needs trades_by_time, tokens_pkey.
SELECT trades.wallet_id,
       trades.tx_signature,
       tokens.mint,
       trades.is_sell,
       trades.token_amount,
       trades.value,
       trades.value_usd,
       trades.value_derived
  FROM (SELECT DISTINCT wallet_id, moment, tx_signature
          FROM unnest(%(wallet_ids)s::bigint[], %(moments)s::timestamptz[], %(signatures)s::text[])
               AS every (wallet_id, moment, tx_signature)) AS wanted
  JOIN trades
    ON trades.wallet_id = wanted.wallet_id
   AND trades.created_at = wanted.moment
   AND trades.tx_signature = wanted.tx_signature
  JOIN tokens
    ON tokens.token_id = trades.token_id
