"""The views: each loads its arguments, asks one question, and answers."""
