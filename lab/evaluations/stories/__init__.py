"""Streams with known stories, methods of grouping, and their evaluation."""
