from apps.search.algorithms.models.ranking import bm25
from apps.search.rankings import Model

MODEL = Model(label="BM25", answer=lambda index, _, query, count: (bm25(index, query, count), {}))
