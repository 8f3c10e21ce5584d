-- Add the wallets of the batch, or update the profile and type of those already tracked.
INSERT INTO wallets AS wallet (
       blockchain, type, address, name, image_url, twitter, telegram, copytrade_link)
SELECT DISTINCT ON (blockchain, address)
       blockchain, type, address, name, image_url, twitter, telegram, copytrade_link
  FROM incoming_wallets
 ORDER BY blockchain, address, line_number DESC
    ON CONFLICT (blockchain, address) DO UPDATE
   SET type = excluded.type,
       name = excluded.name,
       image_url = excluded.image_url,
       twitter = excluded.twitter,
       telegram = excluded.telegram,
       copytrade_link = excluded.copytrade_link
