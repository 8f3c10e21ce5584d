-- Charges are settled by each worker with the balance itself: docs/credits.md. What workers had leased returns
-- to the balances.

UPDATE api_keys
   SET credits = api_keys.credits + leased.credits
  FROM (SELECT key_id,
               sum(amount - spent)::bigint AS credits
          FROM credit_leases
         GROUP BY key_id) AS leased
 WHERE api_keys.key_id = leased.key_id;

DROP TABLE credit_leases;

DROP TABLE credit_ledger;
