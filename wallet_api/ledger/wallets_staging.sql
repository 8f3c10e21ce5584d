-- The wallets of one file, empty again at each commit; NULL is a field that the row leaves out.
CREATE TEMP TABLE IF NOT EXISTS incoming_wallets (
    line_number bigint NOT NULL,
    blockchain text NOT NULL,
    type text NOT NULL,
    address text COLLATE "C" NOT NULL,
    name text,
    image_url text,
    twitter text,
    telegram text,
    copytrade_link text
) ON COMMIT DELETE ROWS
