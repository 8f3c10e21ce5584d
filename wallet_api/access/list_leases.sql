-- The leases of one worker, and what it held and had spent when it last renewed them. Needs the index of credit_leases by worker.
SELECT lease_id,
       amount - spent AS held,
       spent
  FROM credit_leases
 WHERE worker = %(worker)s
