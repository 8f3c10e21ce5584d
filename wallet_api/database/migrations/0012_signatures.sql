-- Hashes of transactions in one form, and links that cannot run as programs.

-- The form in which a signature is stored and compared, as in ledger/signatures.py: a hash of an EVM chain as 0x and lower
-- case, any other as it is, without blanks around it.
CREATE FUNCTION stored_signature(signature text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN signature ~ '^\s*(0[xX]|\\[xX])?[0-9A-Fa-f]{64}\s*$'
            THEN '0x' || lower(right(btrim(signature, E' \t\n\r\f\x0b'), 64))
            ELSE btrim(signature, E' \t\n\r\f\x0b')
       END;

-- The positions with trades whose signature has another form. `wallet-api migrate` merges them afterwards, and deletes these rows.
CREATE TABLE respelled_positions (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    PRIMARY KEY (wallet_id, token_id)
);

INSERT INTO respelled_positions
SELECT DISTINCT wallet_id,
       token_id
  FROM trades
 WHERE length(tx_signature) NOT IN (87, 88)
   AND tx_signature !~ '^0x[0-9a-f]{64}$'
   AND tx_signature <> stored_signature(tx_signature);

UPDATE wallets
   SET image_url = CASE WHEN image_url ~* '^\s*(javascript|vbscript|data):' AND image_url !~* '^data:image/' THEN ''
                        ELSE image_url
                   END,
       twitter = CASE WHEN twitter ~* '^\s*(javascript|vbscript|data):' THEN '' ELSE twitter END,
       telegram = CASE WHEN telegram ~* '^\s*(javascript|vbscript|data):' THEN '' ELSE telegram END,
       copytrade_link = CASE WHEN copytrade_link ~* '^\s*(javascript|vbscript|data):' THEN '' ELSE copytrade_link END
 WHERE concat_ws(' ', image_url, twitter, telegram, copytrade_link) ~* '(javascript|vbscript|data):';
