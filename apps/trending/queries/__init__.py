"""Reads of counts and lists."""

from apps.trending.queries.lists import ListRank, listed_postings, lists_of, ranks
from apps.trending.queries.slices import Curve, curves_of
