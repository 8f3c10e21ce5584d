-- The tokens of the signals of a group in a window that ends at `now`, in their order. Needs what chosen_signals.sql needs.
  WITH
{chosen_signals}
SELECT token_id
  FROM wanted
 ORDER BY ordinal
