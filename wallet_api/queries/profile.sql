-- For other statements to include, as a column: the public profile of a wallet. The columns of wallets are in scope, and
-- no others of their names.
              (SELECT row_to_json(profile)
                 FROM (SELECT address AS wallet_address, name, image_url, twitter, telegram, copytrade_link, blockchain,
                              type, %(currency)s::text AS currency) AS profile) AS profile
