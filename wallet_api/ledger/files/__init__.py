"""Files of rows: what is read from them, what of it is rejected, and what is exported."""
