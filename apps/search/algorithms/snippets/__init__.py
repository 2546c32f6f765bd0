"""What of a text a reader is shown beside a result."""

from apps.search.algorithms.snippets.cutting import Piece, marked, snippet
from apps.search.algorithms.snippets.spelling import spellings
