"""The measures of trec_eval, under its names."""

import math
from collections.abc import Mapping, Sequence

RETRIEVED = 1000  # documents of a ranking that count
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALL_LEVELS = tuple(level / 10 for level in range(11))
FALLOUT_CUTOFFS = (0, 14, 28, 42, 56, 71, 85, 99, 113, 127, 142)  # of documents that are not relevant
GAIN_CUTOFF = 10

Scores = dict[str, float]


def score(ranking: Sequence[str], grades: Mapping[str, int]) -> Scores:
    """All measures of one ranking.

    Parameters
    ----------
    ranking : sequence of str
        Documents from the best to the worst, none twice; the first 1,000 count.
    grades : mapping of document to grade
        1 and more is relevant, and all that is relevant counts the same; what is not named is not relevant. At least
        one is relevant.

    Returns
    -------
    dict
        ``num_ret``, ``num_rel``, ``num_rel_ret``; ``map`` (average precision); ``P_5`` to ``P_1000``; ``recall_5`` to
        ``recall_1000``; ``Rprec``; ``iprec_at_recall_0.00`` to ``1.00``, their means ``11pt_avg`` and, at .2, .5 and
        .8, ``3pt_avg``; ``ndcg_cut_10``; ``recip_rank`` and ``recip_rank_cut_10``; ``fallout_recall_0`` to ``142``
        (recall before the next document beyond so many that are not relevant) and ``fallout_recall_avg``.

    Raises ValueError if no document is relevant. Interpolated precision at recall r is the largest precision at any
    rank at which at least ``int(r * R + 0.9)`` of the R relevant documents were found, as in trec_eval: r * R rounded
    up, except for errors of binary fractions.

    References
    ----------
    trec_eval 9.0, and for the fallout measures its versions up to 8.

    Examples
    --------
    >>> scores = score(["a", "x", "c"], {"a": 1, "c": 2, "d": 1, "x": 0})
    >>> {name: round(scores[name], 3) for name in ("map", "P_5", "Rprec", "ndcg_cut_10", "fallout_recall_0")}
    {'map': 0.556, 'P_5': 0.4, 'Rprec': 0.667, 'ndcg_cut_10': 0.704, 'fallout_recall_0': 0.333}
    """
    relevant = sum(grade >= 1 for grade in grades.values())
    if not relevant:
        raise ValueError("a query without a relevant document cannot be scored")
    hits = [grades.get(document, 0) >= 1 for document in ranking[:RETRIEVED]]
    ranks = [rank for rank, hit in enumerate(hits, 1) if hit]
    precisions = [found / rank for found, rank in enumerate(ranks, 1)]
    interpolated = [max(precisions[max(int(level * relevant + 0.9), 1) - 1 :], default=0.0) for level in RECALL_LEVELS]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, GAIN_CUTOFF) + 1))
    return {
        "num_ret": len(hits),
        "num_rel": relevant,
        "num_rel_ret": len(ranks),
        "map": sum(precisions) / relevant,
        **{f"P_{cutoff}": sum(hits[:cutoff]) / cutoff for cutoff in CUTOFFS},
        **{f"recall_{cutoff}": sum(hits[:cutoff]) / relevant for cutoff in CUTOFFS},
        "Rprec": sum(hits[:relevant]) / relevant,
        **{f"iprec_at_recall_{level:.2f}": value for level, value in zip(RECALL_LEVELS, interpolated, strict=True)},
        "11pt_avg": sum(interpolated) / len(interpolated),
        "3pt_avg": (interpolated[2] + interpolated[5] + interpolated[8]) / 3,
        "ndcg_cut_10": sum(1 / math.log2(rank + 1) for rank in ranks if rank <= GAIN_CUTOFF) / ideal,
        "recip_rank": 1 / ranks[0] if ranks else 0.0,
        "recip_rank_cut_10": 1 / ranks[0] if ranks and ranks[0] <= GAIN_CUTOFF else 0.0,
        **_fallout(ranks, relevant, len(hits)),
    }


def _fallout(ranks: Sequence[int], relevant: int, retrieved: int) -> Scores:
    """Recall before each document that is not relevant; what was not retrieved leaves it as it was in the end."""
    last = FALLOUT_CUTOFFS[-1]
    recalls: list[float] = []
    found = 0
    hits = set(ranks)
    for rank in range(1, retrieved + 1):
        if rank in hits:
            found += 1
        else:
            recalls.append(found / relevant)
    recalls += [len(ranks) / relevant] * (last + 1 - len(recalls))
    return {
        **{f"fallout_recall_{cutoff}": recalls[cutoff] for cutoff in FALLOUT_CUTOFFS},
        "fallout_recall_avg": sum(recalls[:last]) / last,
    }


def mean(scores: Sequence[Scores]) -> Scores:
    """Over queries: sums of the three counts and means of the rest, with ``num_q``, how many queries there were.

    >>> both = mean([score(["a"], {"a": 1}), score(["b"], {"a": 1})])
    >>> both["num_q"], both["num_ret"], both["map"]
    (2, 2, 0.5)
    """
    if not scores:
        raise ValueError("no query can be scored: none has a relevant document")
    totals = {name: sum(one[name] for one in scores) for name in scores[0]}
    means = {name: value if name.startswith("num_") else value / len(scores) for name, value in totals.items()}
    return {"num_q": len(scores), **means}
