-- The trades of some transactions as the ledger has them. Needs trades_by_time, tokens_pkey.
SELECT trades.wallet_id,
       trades.tx_signature,
       tokens.mint,
       trades.is_sell,
       trades.token_amount,
       trades.value,
       trades.value_usd
  FROM (SELECT DISTINCT wallet_id, moment, tx_signature
          FROM unnest(%(wallet_ids)s::bigint[], %(moments)s::timestamptz[], %(signatures)s::text[])
               AS every (wallet_id, moment, tx_signature)) AS asked
  JOIN trades
    ON trades.wallet_id = asked.wallet_id
   AND trades.created_at = asked.moment
   AND trades.tx_signature = asked.tx_signature
  JOIN tokens
    ON tokens.token_id = trades.token_id
