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
 ORDER BY min(line_number)
