"""What all stand on: facts of chains, errors, forms of texts, times and amounts, files, caches, threads."""
