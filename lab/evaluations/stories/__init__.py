"""Streams with known stories, ways of grouping beside ours, and how well each does."""
