"""Whether what follows from postings is the same, however often it is worked out and whoever is killed meanwhile."""
