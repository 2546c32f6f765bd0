"""Pairs of postings that are one article or two, and ways to distinguish them."""
