"""The quality of search on collections with relevance judgements, through the real index."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from django.core.management.base import CommandError
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table

from lab.evaluations.search import known_items
from lab.evaluations.search.collections import (
    DOCUMENTS,
    JUDGEMENTS,
    QUERIES,
    BadCollection,
    Collection,
    read_collection,
    read_headlines,
    unknown_documents,
)
from lab.evaluations.search.comparison import Comparison, compare, gain, robustness
from lab.evaluations.search.runs import MODELS, Evaluation, evaluate
from lab.evaluations.search.scoring import Scores
from lab.evaluations.search.table import curves, figures, mean_of_collections, table
from lab.harness import LabCommand, Result
from lab.plots import linear_plot

OURS, PLAIN, RIVALS = "ours", "plain", ("bm25", "rm3", "vsm")
SUMMARY = {"map": "MAP", "ndcg_cut_10": "nDCG@10", "P_10": "P@10", "recip_rank_cut_10": "MRR@10"}
CHINESE = "chinese"
MEAN = "mean"
ARCHIVE = 100_000  # postings among which known items are looked for


class Command(LabCommand):
    help = (
        "Run the queries of test collections by the models of the thesis, BM25, BM25 with RM3 and ours, all through"
        " the real index, and print what trec_eval measures. One set of parameters serves all collections."
    )
    fills_database = True
    seed = 26
    plotted = "recall and precision"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--collection",
            type=Path,
            action="append",
            default=[],
            metavar="DIR",
            help=f"folder with {DOCUMENTS} (_id, title, text), {QUERIES} and {JUDGEMENTS} (TREC); may be repeated",
        )
        parser.add_argument(
            "--chinese", type=Path, metavar="FILE", help="stories with headlines, JSON lines: headline finds its story"
        )

        parser.add_argument(
            "--items", type=Path, metavar="FILE", help="items.jsonl.xz: three words of a headline find its article"
        )
        parser.add_argument("--known", type=int, default=500, help="headlines drawn (default: %(default)s)")
        parser.add_argument("--archive", type=int, default=ARCHIVE, help="items they stand among")

    def measure(
        self,
        *args: Any,
        collection: list[Path],
        chinese: Path | None,
        items: Path | None,
        known: int,
        archive: int,
        seed: int,
        **_: Any,
    ) -> Result:
        if items:
            return Result(self._measure_known_items(items, chinese, known, archive, seed))
        collections = _read_all(collection, chinese, self.console)
        evaluations: dict[str, Evaluation] = {}
        for name, one in collections.items():
            evaluations[name] = evaluate(one, partial(_watch, self.console, name))
            _print_one(self.console, name, evaluations[name])
        judged = {name: one for name, one in evaluations.items() if name != CHINESE}
        means = _means(judged)
        _print_summary(self.console, evaluations, means)
        if judged:
            _print_comparisons(self.console, judged)
            for name, evaluation in judged.items():
                self.show(f"{name}, ours with feedback against without", _robustness(evaluation), "{:.3f}")
        return Result(_figures(evaluations, means), lambda: _draw(evaluations, means))

    def _measure_known_items(
        self, items: Path, chinese: Path | None, count: int, archive: int, seed: int
    ) -> dict[str, float]:
        known_items.fill(items, chinese, archive, seed=seed)
        known = known_items.draw_known_items(count, seed=seed)
        shares = known_items.shares_found(known, self.track)
        self.show(f"{len(known)} articles among the first three for three words of their headline", shares, "{:.1%}")
        return shares


# --- reading ----------------------------------------------------------------------------------------------------------
def _read_all(folders: Sequence[Path], chinese: Path | None, console: Console) -> dict[str, Collection]:
    """Read all collections by name before the evaluation, to report unreadable files at once."""
    found: dict[str, Collection] = {}
    for folder in folders:
        name = folder.resolve().name
        if name in found or name in (CHINESE, MEAN):
            raise CommandError(f"{folder}: there is another collection of the name {name}")
        found[name] = _read(folder)
        if unknown := unknown_documents(found[name]):
            console.print(
                f"{folder}: {unknown} relevant documents of {JUDGEMENTS} are not in {DOCUMENTS}; nobody can find them."
            )
    if chinese:
        try:
            with chinese.open("rb") as lines:
                found[CHINESE] = read_headlines(str(chinese), lines)
        except (OSError, BadCollection) as error:
            raise CommandError(str(error)) from None
    if not found:
        raise CommandError("Name at least one collection: --collection DIR or --chinese FILE")
    return found


def _read(folder: Path) -> Collection:
    try:
        with (
            (folder / DOCUMENTS).open("rb") as documents,
            (folder / QUERIES).open("rb") as queries,
            (folder / JUDGEMENTS).open("rb") as judgements,
        ):
            return read_collection(documents, queries, judgements)
    except OSError as error:
        raise CommandError(f"{error.filename} cannot be read: {error.strerror}") from None
    except BadCollection as error:
        raise CommandError(f"{folder}: {error}") from None


def _watch(console: Console, name: str, queries: Sequence[str], model: str) -> Iterable[str]:
    return track(queries, f"{name}, {model}", console=console, transient=True, disable=not console.is_terminal)


# --- results ----------------------------------------------------------------------------------------------------------
def _means(evaluations: Mapping[str, Evaluation]) -> dict[str, Scores]:
    if not evaluations:
        return {}
    return {model: mean_of_collections([one.scores[model] for one in evaluations.values()]) for model in MODELS}


def _comparisons(evaluations: Mapping[str, Evaluation], rival: str) -> dict[str, Comparison]:
    """Ours against the rival in average precision, by collection; at last the means, with all queries together."""
    scores = {
        name: [[query["map"] for query in one.by_query[model]] for model in (OURS, rival)]
        for name, one in evaluations.items()
    }
    together = compare(*([value for one in scores.values() for value in one[side]] for side in (0, 1)))
    means = _means(evaluations)
    return {name: compare(*one) for name, one in scores.items()} | {
        MEAN: replace(together, gain=gain(means[OURS]["map"], means[rival]["map"]))
    }


def _robustness(evaluation: Evaluation) -> dict[str, float]:
    precisions = [[query["map"] for query in evaluation.by_query[model]] for model in (OURS, PLAIN)]
    found = robustness(*precisions)
    reciprocal_rank = evaluation.scores[OURS]["recip_rank"]
    return {"hurt": found.hurt, "rr": reciprocal_rank, "ri": found.ri, "added": median(evaluation.added)}


def _table(title: str) -> Table:
    """With a column for each model, narrow enough for a terminal of 80 characters."""
    shown = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    shown.add_column("")
    for label in MODELS.values():
        shown.add_column(label, justify="right", no_wrap=True)
    return shown


def _print_one(console: Console, name: str, evaluation: Evaluation) -> None:
    shown = _table(f"{name}, {evaluation.documents:,} documents")
    for label, *values in table(evaluation.scores):
        shown.add_row(f" {label}" if values else label, *values)
    console.print(shown)


def _print_summary(console: Console, evaluations: Mapping[str, Evaluation], means: Mapping[str, Scores]) -> None:
    rows = {name: one.scores for name, one in evaluations.items()} | ({MEAN: means} if means else {})
    shown = _table("All collections")
    for measure, label in SUMMARY.items():
        for name, scores in rows.items():
            shown.add_row(f"{name} {label}", *(f"{scores[model][measure]:.4f}" for model in MODELS))
    console.print(shown)


def _print_comparisons(console: Console, evaluations: Mapping[str, Evaluation]) -> None:
    shown = Table(title="Ours in MAP; p by Student's t-test of paired differences", box=SIMPLE_HEAD)
    for heading in ("", "over", "by", "queries won", "lost", "p"):
        shown.add_column(heading, justify="right")
    for rival in RIVALS:
        for name, found in _comparisons(evaluations, rival).items():
            shown.add_row(name, MODELS[rival], f"{found.gain:+.1%}", str(found.won), str(found.lost), f"{found.p:.2g}")
    console.print(shown)


def _draw(evaluations: Mapping[str, Evaluation], means: Mapping[str, Scores]) -> str:
    """The mean of the collections; of the Chinese stories, if there is nothing else."""
    names = [name for name in evaluations if name != CHINESE] or [CHINESE]
    scores = means or evaluations[CHINESE].scores
    labelled = {MODELS[model]: points for model, points in curves(scores).items()}
    title = f"Interpolated precision on {', '.join(names)}"
    return linear_plot(title, "recall", "precision", labelled, most=(1.0, 1.0))


def _figures(evaluations: Mapping[str, Evaluation], means: Mapping[str, Scores]) -> dict[str, float]:
    rows = {name: one.scores for name, one in evaluations.items()} | ({MEAN: means} if means else {})
    written = {
        f"{name}.{model}.{measure}": value
        for name, scores in rows.items()
        for model in MODELS
        for measure, value in figures(scores[model]).items()
    }
    judged = {name: one for name, one in evaluations.items() if name != CHINESE}
    for name, one in judged.items():
        written |= {f"{name}.{OURS}.{measure}": value for measure, value in _robustness(one).items()}
    for rival in RIVALS if judged else ():
        for name, found in _comparisons(judged, rival).items():
            written[f"{name}.{OURS}_over_{rival}.map"] = found.gain
            written[f"{name}.{OURS}_over_{rival}.p"] = found.p
    return written
