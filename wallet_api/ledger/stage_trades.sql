-- Stage the trades of the ledger among these, and return the places, from 0, of those that it does not have,
-- each with whether its wallet is tracked. Looked up one by one: a join might read all trades each time.
-- Needs wallets_blockchain_address_key, tokens_blockchain_mint_key, trades_pkey.
  WITH wanted AS (
       SELECT place - 1 AS place,
              wallet.wallet_id,
              token.token_id,
              identity.tx_signature,
              identity.is_sell,
              identity.event_index,
              EXISTS (SELECT
                        FROM trades
                       WHERE trades.wallet_id = wallet.wallet_id
                         AND trades.token_id = token.token_id
                         AND trades.tx_signature = identity.tx_signature
                         AND trades.is_sell = identity.is_sell
                         AND trades.event_index = identity.event_index
                      OFFSET 0) AS is_known
         FROM unnest(%(blockchains)s::text[], %(addresses)s::text[], %(signatures)s::text[], %(mints)s::text[],
                     %(sells)s::boolean[], %(event_indexes)s::integer[]) WITH ORDINALITY
                  AS identity (blockchain, address, tx_signature, mint, is_sell, event_index, place)
         LEFT JOIN LATERAL (
              SELECT wallets.wallet_id
                FROM wallets
               WHERE wallets.blockchain = identity.blockchain
                 AND wallets.address = identity.address
              OFFSET 0) AS wallet
           ON TRUE
         LEFT JOIN LATERAL (
              SELECT tokens.token_id
                FROM tokens
               WHERE tokens.blockchain = identity.blockchain
                 AND tokens.mint = identity.mint
              OFFSET 0) AS token
           ON TRUE
       ),
       staged AS (
       INSERT INTO removed_trades
       SELECT wallet_id,
              token_id,
              tx_signature,
              is_sell,
              event_index
         FROM wanted
        WHERE is_known
           ON CONFLICT (wallet_id, token_id, tx_signature, is_sell, event_index) DO NOTHING
       )
SELECT place,
       wallet_id IS NOT NULL AS is_tracked
  FROM wanted
 WHERE NOT is_known
