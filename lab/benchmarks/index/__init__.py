"""Parts shared by benchmarks and proofs of the index: archives, queries, continuous load."""
