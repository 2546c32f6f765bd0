"""Retrieval models: pure functions from an index and a query to a ranking."""
