-- The wallets of a file.

-- staging --
-- The wallets of one file, empty again at each commit; NULL is a field that the row leaves out.
CREATE TEMP TABLE IF NOT EXISTS incoming_wallets (
    line_number bigint NOT NULL,
    line bytea NOT NULL,
    blockchain text NOT NULL,
    type text NOT NULL,
    address text COLLATE "C" NOT NULL,
    name text,
    image_url text,
    twitter text,
    telegram text,
    copytrade_link text
) ON COMMIT DELETE ROWS;

-- repeated --
-- The rows of the wallets that the file has more than once with different values.
SELECT *
  FROM incoming_wallets
 WHERE (blockchain, address) IN (
       SELECT blockchain,
              address
         FROM incoming_wallets
        GROUP BY blockchain, address
       HAVING count(*) > 1
          AND (min(type) <> max(type)
               OR min(name) <> max(name)
               OR min(image_url) <> max(image_url)
               OR min(twitter) <> max(twitter)
               OR min(telegram) <> max(telegram)
               OR min(copytrade_link) <> max(copytrade_link)))
 ORDER BY blockchain, address, line_number;

-- reject --
DELETE FROM incoming_wallets
 WHERE line_number = ANY (%(line_numbers)s);

-- retyped --
-- The tracked wallets whose type the batch changes. Needs wallets_blockchain_address_key.
SELECT wallets.wallet_id
  FROM wallets
  JOIN (SELECT DISTINCT blockchain, address, type
          FROM incoming_wallets) AS given
    ON given.blockchain = wallets.blockchain
   AND given.address = wallets.address
 WHERE given.type <> wallets.type;

-- add --
-- Add the wallets of the file, or update the type and profile of those already tracked. A field that no row gives stays as
-- it is. Return a row for each change, since Citus counts the rows of the file. Needs wallets_blockchain_address_key.
INSERT INTO wallets AS wallet (
       blockchain, type, address, name, image_url, twitter, telegram, copytrade_link)
  WITH given AS (
       SELECT blockchain,
              address,
              min(type) AS type,
              min(name) AS name,
              min(image_url) AS image_url,
              min(twitter) AS twitter,
              min(telegram) AS telegram,
              min(copytrade_link) AS copytrade_link
         FROM incoming_wallets
        GROUP BY blockchain, address
       )
SELECT given.blockchain,
       given.type,
       given.address,
       COALESCE(given.name, known.name, ''),
       COALESCE(given.image_url, known.image_url, ''),
       COALESCE(given.twitter, known.twitter, ''),
       COALESCE(given.telegram, known.telegram, ''),
       COALESCE(given.copytrade_link, known.copytrade_link, '')
  FROM given
  LEFT JOIN wallets AS known
    ON known.blockchain = given.blockchain
   AND known.address = given.address
    ON CONFLICT (blockchain, address) DO UPDATE
   SET type = excluded.type,
       name = excluded.name,
       image_url = excluded.image_url,
       twitter = excluded.twitter,
       telegram = excluded.telegram,
       copytrade_link = excluded.copytrade_link
 WHERE (wallet.type, wallet.name, wallet.image_url, wallet.twitter, wallet.telegram, wallet.copytrade_link)
       IS DISTINCT FROM
       (excluded.type, excluded.name, excluded.image_url, excluded.twitter, excluded.telegram,
        excluded.copytrade_link)
RETURNING 1 AS changed;

-- lifetimes --
-- The lifetimes of wallets whose type has changed, in their new groups. Needs lifetimes_pkey, wallets_pkey.
UPDATE lifetimes
   SET type = wallets.type
  FROM wallets
 WHERE wallets.wallet_id = lifetimes.wallet_id
   AND lifetimes.wallet_id = ANY (%(wallet_ids)s)
   AND lifetimes.type <> wallets.type;

-- groups --
-- Recount the wallets of each group; as many rows are changed as counts were wrong.
INSERT INTO wallet_groups AS wallet_group (blockchain, type, wallet_count)
SELECT blockchain,
       type,
       sum(counted)
  FROM (SELECT blockchain,
               type,
               1 AS counted
          FROM wallets
         UNION ALL
        SELECT blockchain,
               type,
               0
          FROM wallet_groups) AS wallet
 GROUP BY blockchain, type
    ON CONFLICT (blockchain, type) DO UPDATE
   SET wallet_count = excluded.wallet_count
 WHERE wallet_group.wallet_count <> excluded.wallet_count;
