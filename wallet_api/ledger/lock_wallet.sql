-- Take the lock of one wallet.
SELECT pg_advisory_xact_lock(%(lock_class)s, (%(wallet_id)s %% 64)::integer)
