"""Searches that stand and postings that pass: each posting is led to the few searches that it may answer."""

from apps.alerts.algorithms.standing.anchors import Anchor, NoAnchor, Plan
from apps.alerts.algorithms.standing.holding import Eyes, holds, is_personal
from apps.alerts.algorithms.standing.languages import group_of
from apps.alerts.algorithms.standing.rarity import Rarity, words_of
from apps.alerts.algorithms.standing.reading import Reading, read
