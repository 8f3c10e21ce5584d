-- The table that a backup is copying, and how many bytes of it have been written.
SELECT progress.relid AS oid,
       progress.bytes_processed
  FROM pg_stat_progress_copy AS progress
  JOIN pg_stat_activity AS activity ON activity.pid = progress.pid
 WHERE progress.datname = current_database()
   AND activity.application_name = 'wallet-api backup'
