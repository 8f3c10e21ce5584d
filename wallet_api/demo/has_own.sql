-- Whether the database has a wallet that is not the demo's, or prices without a wallet.
SELECT EXISTS (SELECT FROM wallets WHERE address !~ %(demo)s::text)
       OR (EXISTS (SELECT FROM native_prices)
           AND NOT EXISTS (SELECT FROM wallets)) AS found
