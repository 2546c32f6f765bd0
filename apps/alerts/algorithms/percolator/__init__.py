"""Percolator: matches each new posting with the few saved searches that it may answer."""

from apps.alerts.algorithms.percolator.documents import Reading, read
from apps.alerts.algorithms.percolator.evaluation import DocumentView, is_personal, matches
from apps.alerts.algorithms.percolator.index_terms import IndexTerm, NoIndexTerm, Plan
from apps.alerts.algorithms.percolator.languages import group_of
from apps.alerts.algorithms.percolator.rarity import Rarity, words_of
