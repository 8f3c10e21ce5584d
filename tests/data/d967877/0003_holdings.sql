-- What each wallet held when it was last read, and who is reading it now: docs/holdings.md.

-- tokens is the JSON array as answered; NULL until the first success. A claim is one worker's right to
-- fetch; it lapses by itself when that worker dies. After a failure nobody asks before retry_at.
CREATE TABLE holdings_snapshots (
    wallet_id bigint PRIMARY KEY,
    tokens text,
    token_count integer,
    refreshed_at timestamptz,
    claim uuid,
    claimed_at timestamptz,
    claim_expires_at timestamptz,
    retry_at timestamptz,
    failure text
) WITH (fillfactor = 80);
