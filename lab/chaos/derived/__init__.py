"""Whether derived data is the same however often it is computed and whichever workers are killed meanwhile."""
