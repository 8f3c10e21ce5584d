-- The leases of one worker. Needs the index of credit_leases by worker.
SELECT lease_id,
       amount
  FROM credit_leases
 WHERE worker = %(worker)s
