-- Stage the trades of the ledger among these, and return the places, from 0, of those that it does not have,
-- each with whether its wallet is tracked. Needs wallets_blockchain_address_key, tokens_blockchain_mint_key,
-- trades_pkey.
  WITH wanted AS MATERIALIZED (
       SELECT identity.place - 1 AS place,
              wallets.wallet_id,
              tokens.token_id,
              identity.tx_signature,
              identity.is_sell,
              identity.event_index
         FROM unnest(%(blockchains)s::text[], %(addresses)s::text[], %(signatures)s::text[], %(mints)s::text[],
                     %(sells)s::boolean[], %(event_indexes)s::integer[]) WITH ORDINALITY
                  AS identity (blockchain, address, tx_signature, mint, is_sell, event_index, place)
         LEFT JOIN wallets
           ON wallets.blockchain = identity.blockchain
          AND wallets.address = identity.address
         LEFT JOIN tokens
           ON tokens.blockchain = identity.blockchain
          AND tokens.mint = identity.mint
       ),
       known AS MATERIALIZED (
       SELECT wanted.place,
              wanted.wallet_id,
              wanted.token_id,
              wanted.tx_signature,
              wanted.is_sell,
              wanted.event_index
         FROM wanted
         JOIN trades
           ON trades.wallet_id = wanted.wallet_id
          AND trades.token_id = wanted.token_id
          AND trades.tx_signature = wanted.tx_signature
          AND trades.is_sell = wanted.is_sell
          AND trades.event_index = wanted.event_index
       ),
       staged AS (
       INSERT INTO removed_trades
       SELECT wallet_id,
              token_id,
              tx_signature,
              is_sell,
              event_index
         FROM known
           ON CONFLICT (wallet_id, token_id, tx_signature, is_sell, event_index) DO NOTHING
       )
SELECT wanted.place,
       wanted.wallet_id IS NOT NULL AS is_tracked
  FROM wanted
 WHERE wanted.place NOT IN (SELECT known.place
                              FROM known)
