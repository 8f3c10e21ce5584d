-- For other statements to include: the public profile of a wallet, as the text of a JSON object. The columns of wallets are in
-- scope, and no others of their names.
              '{"wallet_address":' || to_json(address)
              || ',"name":' || to_json(name)
              || ',"image_url":' || to_json(image_url)
              || ',"twitter":' || to_json(twitter)
              || ',"telegram":' || to_json(telegram)
              || ',"copytrade_link":' || to_json(copytrade_link)
              || ',"blockchain":"' || blockchain
              || '","type":"' || type
              || '","currency":"' || native_currency(blockchain)
              || '"}'
