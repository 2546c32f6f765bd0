"""Reads of counts and lists."""

from apps.trending.queries.curves import Curve, curves_of
from apps.trending.queries.lists import ListRank, listed_postings, lists_of, ranks
