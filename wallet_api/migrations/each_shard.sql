-- Give each shard that has none a number in each_shard, by which Citus asks the shard; `marked` are those there.
INSERT INTO wallet_api_shards.each_shard (wallet_id)
SELECT DISTINCT ON (shard) number
  FROM (SELECT number,
               get_shard_id_for_distribution_column('public.trades', number) AS shard
          -- A shard of one wallet alone is found by that wallet.
          FROM generate_series(1, greatest((SELECT count(*) FROM pg_dist_shard) * 100,
                                           (SELECT max(wallet_id) FROM wallets))) AS given (number)) AS placed
 WHERE shard <> ALL (ARRAY(SELECT get_shard_id_for_distribution_column('public.trades', mark)
                             FROM unnest(%(marked)s::bigint[]) AS known (mark)))
 ORDER BY shard, number
