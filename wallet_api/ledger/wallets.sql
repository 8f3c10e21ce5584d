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
RETURNING 1 AS changed
