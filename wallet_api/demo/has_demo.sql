-- Whether the database has a wallet of the demo.
SELECT EXISTS (SELECT FROM wallets WHERE address ~ %(demo)s::text) AS found
