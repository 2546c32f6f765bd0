"""Kinds of sources."""
