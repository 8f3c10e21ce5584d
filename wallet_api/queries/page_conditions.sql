-- For feed.sql to include, as conditions on trades: after `since`, and before the key at which the page starts, in
-- the order of the feed. The conditions on created_at alone use the index; mint and address are read for ties only.
                 AND created_at > %(since)s::timestamptz
                 AND created_at <= %(created_at)s::timestamptz
                 AND (
{ledger.trade_order: @},
                      (SELECT mint
                         FROM tokens
                        WHERE tokens.token_id = trades.token_id),
                      (SELECT address
                         FROM wallets
                        WHERE wallets.wallet_id = trades.wallet_id))
                     < (
{ledger.trade_order: %($)s},
                        %(last_mint)s::text, %(address)s::text)
