-- The wallets of a file.

-- staging --
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
) ON COMMIT DELETE ROWS;

-- repeated --
-- The wallets that the file has more than once with different values, in the order of their first rows: the
-- lines, the types where they differ, and the other fields that do.
SELECT blockchain,
       address,
       array_agg(line_number ORDER BY line_number) AS lines,
       CASE WHEN min(type) <> max(type)
            THEN array_agg(type ORDER BY line_number)
       END AS types,
       array_remove(ARRAY[
           CASE WHEN min(name) <> max(name) THEN 'name' END,
           CASE WHEN min(image_url) <> max(image_url) THEN 'image_url' END,
           CASE WHEN min(twitter) <> max(twitter) THEN 'twitter' END,
           CASE WHEN min(telegram) <> max(telegram) THEN 'telegram' END,
           CASE WHEN min(copytrade_link) <> max(copytrade_link) THEN 'copytrade_link' END], NULL) AS fields
  FROM incoming_wallets
 GROUP BY blockchain, address
HAVING count(*) > 1
   AND (min(type) <> max(type)
        OR min(name) <> max(name)
        OR min(image_url) <> max(image_url)
        OR min(twitter) <> max(twitter)
        OR min(telegram) <> max(telegram)
        OR min(copytrade_link) <> max(copytrade_link))
 ORDER BY min(line_number);

-- retyped --
-- The tracked wallets whose type the batch changes. Needs wallets_blockchain_address_key.
SELECT wallets.wallet_id
  FROM wallets
  JOIN (SELECT DISTINCT ON (blockchain, address) blockchain, address, type
          FROM incoming_wallets
         ORDER BY blockchain, address, line_number DESC) AS latest
    ON latest.blockchain = wallets.blockchain
   AND latest.address = wallets.address
 WHERE latest.type <> wallets.type;

-- add --
-- Add the wallets of the file, or update the type and profile of those already tracked. Of each field the last
-- row that gives it wins; one that no row gives stays as it is. Return a row for each change, since Citus counts the rows
-- of the file. Needs wallets_blockchain_address_key.
INSERT INTO wallets AS wallet (
       blockchain, type, address, name, image_url, twitter, telegram, copytrade_link)
  WITH latest AS (
       SELECT blockchain,
              address,
              (array_agg(type ORDER BY line_number DESC))[1] AS type,
              (array_agg(name ORDER BY line_number DESC) FILTER (WHERE name IS NOT NULL))[1] AS name,
              (array_agg(image_url ORDER BY line_number DESC)
                    FILTER (WHERE image_url IS NOT NULL))[1] AS image_url,
              (array_agg(twitter ORDER BY line_number DESC)
                    FILTER (WHERE twitter IS NOT NULL))[1] AS twitter,
              (array_agg(telegram ORDER BY line_number DESC)
                    FILTER (WHERE telegram IS NOT NULL))[1] AS telegram,
              (array_agg(copytrade_link ORDER BY line_number DESC)
                    FILTER (WHERE copytrade_link IS NOT NULL))[1] AS copytrade_link
         FROM incoming_wallets
        GROUP BY blockchain, address
       )
SELECT latest.blockchain,
       latest.type,
       latest.address,
       COALESCE(latest.name, known.name, ''),
       COALESCE(latest.image_url, known.image_url, ''),
       COALESCE(latest.twitter, known.twitter, ''),
       COALESCE(latest.telegram, known.telegram, ''),
       COALESCE(latest.copytrade_link, known.copytrade_link, '')
  FROM latest
  LEFT JOIN wallets AS known
    ON known.blockchain = latest.blockchain
   AND known.address = latest.address
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
 WHERE wallet_group.wallet_count <> excluded.wallet_count
