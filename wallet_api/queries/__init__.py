"""One question each: a function, and beside it the SQL that answers it."""
