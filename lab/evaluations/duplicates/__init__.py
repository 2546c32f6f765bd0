"""Pairs of postings that are one article or two, and ways to tell them apart."""
