"""Snippets and highlights of results."""

from apps.search.algorithms.snippets.cutting import Piece, marked, snippet, spellings
