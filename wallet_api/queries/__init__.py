"""The queries of the operations: for each a function, with its SQL beside it."""
