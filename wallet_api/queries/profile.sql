-- For other statements to include: the columns of a wallet's public profile. The columns of wallets are in scope, and no
-- others of their names.
              address AS profile_wallet_address,
              name AS profile_name,
              image_url AS profile_image_url,
              twitter AS profile_twitter,
              telegram AS profile_telegram,
              copytrade_link AS profile_copytrade_link,
              blockchain AS profile_blockchain,
              type AS profile_type,
              native_currency(blockchain) AS profile_currency
