"""Algorithms that extensions share; no registry."""
