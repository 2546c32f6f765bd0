"""The table of trec_eval as the thesis prints it, one column per model."""

from collections.abc import Mapping, Sequence

from lab.evaluations.search.scoring import CUTOFFS, FALLOUT_CUTOFFS, RECALL_LEVELS, Scores

Line = tuple[str, ...]


def table(scores: Mapping[str, Scores]) -> list[Line]:
    """Lines of a label and one value per model.

    Headings are lines of a label alone.

    >>> from lab.evaluations.search.scoring import mean, score
    >>> lines = table({"BM25": mean([score(["a", "b"], {"b": 1})])})
    >>> lines[0], lines[4]
    (('Queries', '1'), ('Interpolated precision',))
    """
    lines: list[Line] = []

    def add(label: str, name: str, form: str = ".4f") -> None:
        lines.append((label, *(format(one[name], form) for one in scores.values())))

    def head(label: str) -> None:
        lines.append((label,))

    for label, name in (
        ("Queries", "num_q"),
        ("Retrieved", "num_ret"),
        ("Relevant", "num_rel"),
        ("Relevant found", "num_rel_ret"),
    ):
        add(label, name, ",.0f")
    head("Interpolated precision")
    for level in RECALL_LEVELS:
        add(f"at recall {level:.2f}", f"iprec_at_recall_{level:.2f}")
    add("11-point average", "11pt_avg")
    add("3-point average", "3pt_avg")
    add("Mean average precision", "map")
    head("Precision after")
    for cutoff in CUTOFFS:
        add(f"{cutoff} documents", f"P_{cutoff}")
    add("R-precision", "Rprec")
    head("Recall after")
    for cutoff in CUTOFFS:
        add(f"{cutoff} documents", f"recall_{cutoff}")
    head("Recall after documents not relevant")
    for cutoff in FALLOUT_CUTOFFS:
        add(f"{cutoff} of them", f"fallout_recall_{cutoff}")
    add("mean of 142", "fallout_recall_avg")
    add("nDCG at 10", "ndcg_cut_10")
    return lines


def curves(scores: Mapping[str, Scores]) -> dict[str, list[tuple[float, float]]]:
    """Points (recall, interpolated precision) per model, to be plotted."""
    return {
        model: [(level, one[f"iprec_at_recall_{level:.2f}"]) for level in RECALL_LEVELS]
        for model, one in scores.items()
    }


_NAMES = {"Rprec": "r_prec", "ndcg_cut_10": "ndcg_10", "recip_rank": "mrr", "recip_rank_cut_10": "mrr_10"}


def figures(scores: Scores) -> dict[str, float]:
    """The measures under names in small letters and without points, for a file of figures.

    >>> figures({"map": 0.5, "P_10": 0.1, "ndcg_cut_10": 0.3, "iprec_at_recall_0.20": 0.4, "num_rel_ret": 7})
    {'map': 0.5, 'p_10': 0.1, 'ndcg_10': 0.3, 'precision_at_recall_020': 0.4, 'rel_ret': 7}
    """
    return {_NAMES.get(name) or _plain(name): value for name, value in scores.items()}


def _plain(name: str) -> str:
    return name.lower().removeprefix("num_").replace("iprec", "precision").replace(".", "")


def mean_of_collections(scores: Sequence[Scores]) -> Scores:
    """Each measure's mean, in which every collection counts the same; without the counts of queries and documents.

    >>> mean_of_collections([{"num_q": 3, "map": 0.25}, {"num_q": 1, "map": 0.75}])
    {'map': 0.5}
    """
    names = [name for name in scores[0] if not name.startswith("num_")]
    return {name: sum(one[name] for one in scores) / len(scores) for name in names}
