"""Compares policies of retrieval on recorded or made-up postings, with equal numbers of retrievals."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from rich.table import Table

from apps.retrieval.algorithms.calendar import WEEK
from lab.evaluations.retrieval import byte_budgets
from lab.evaluations.retrieval.contenders import (
    PAPERS,
    STATISTICS,
    ContenderJob,
    Statistics,
    at_own_cost,
    averaged,
    contenders,
    run,
)
from lab.evaluations.retrieval.folds import NamedFold, cut, day_of
from lab.evaluations.retrieval.peers import FIXED, RIVALS
from lab.evaluations.retrieval.synthetic import VARIANTS, synthetic_fold
from lab.evaluations.retrieval.trace_file import read_trace
from lab.harness import LabCommand, clear_errors
from lab.plots import log_log_plot
from portal.launcher import processes

PAPER_BEST = "paper_best"
BASES = ("uniform", "combined", PAPER_BEST)  # the denominators of ratios
SAME_AS_UNIFORM = f"uniform: {', '.join(rival.name.split(',')[0] for rival in FIXED)}."
ALL = "all"  # the name of the mean over the folds
WIDTH = 120  # characters of the tables

# By fold, then policy, then retrievals per source and day.
Results = Mapping[str, Mapping[str, Mapping[float, Statistics]]]


class Command(LabCommand):
    help = "Compare policies of retrieval at equal numbers of retrievals: delays per posting, and postings lost."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--trace", type=Path, metavar="FILE", help="postings as src,epoch lines, may be gzipped")
        parser.add_argument("--good", action="store_true", help="only sources that sources.csv beside it calls good")
        parser.add_argument(
            "--folds",
            type=_weeks,
            default=(8, 18, 28),
            metavar="WEEKS",
            help="weeks in which tests begin, e.g. 8,18,28",
        )
        parser.add_argument(
            "--synthetic", nargs="?", choices=VARIANTS, const=VARIANTS[0], help="made-up postings instead of a trace"
        )
        parser.add_argument(
            "--x", type=_budgets, default=(1.0, 2.0, 4.0, 8.0, 16.0), metavar="NUMBERS",
            help="retrievals per source and day, e.g. 1,2,4",
        )  # fmt: skip
        parser.add_argument("--policies", type=_names, metavar="NAMES", help=f"some of {','.join(contenders())}")
        parser.add_argument(
            "--items", type=Path, metavar="FILE",
            help="items.jsonl.xz, sources.csv beside it, instead of a trace: a budget of bytes against one of requests",
        )  # fmt: skip
        parser.add_argument("--cap", type=float, default=24.0, metavar="HOURS", help="longest gap of ours_capped")
        parser.add_argument("--svg", type=Path, metavar="DIR", help="write a plot per fold into this folder")

    def measure(self, *args: Any, **options: Any) -> Mapping[str, float]:
        if not 0 < options["cap"] <= WEEK:
            raise CommandError(f"--cap must be more than 0 and at most {WEEK:g} hours, not {options['cap']:g}")
        if options["items"]:
            return self._in_bytes(options["items"], options["folds"], options["x"])
        policies = _policies(options["policies"], known_truth=bool(options["synthetic"]))
        folds = _folds(options["trace"], options["folds"], options["synthetic"], good_only=options["good"])
        if options["svg"]:
            _make_folder(options["svg"])
        self.console.width = max(self.console.width, WIDTH)
        jobs = [
            ContenderJob(fold, policy=policy, budgets=options["x"], cap=options["cap"])
            for fold in folds
            for policy in policies
        ]
        results = _with_mean(_with_best_of_papers(evaluate(jobs, self)), folds)
        titles = {fold.name: _title(fold) for fold in folds} | {ALL: "mean of the folds, weighted by postings"}
        for fold, of_policies in results.items():
            self.console.print(_table(titles[fold], of_policies))
        own = {} if options["policies"] else {fold.name: at_own_cost(fold) for fold in folds}
        for name, of_rivals in own.items():
            self.console.print(_own_costs(name, of_rivals))
        if options["svg"]:
            for fold, of_policies in results.items():
                (options["svg"] / f"{fold}.svg").write_text(_plot(titles[fold], of_policies), "utf-8")
        return _figures(results) | {
            f"{fold}.own_cost.{rival}.{name}": getattr(found, name)
            for fold, of_rivals in own.items()
            for rival, found in of_rivals.items()
            for name in STATISTICS
        }

    def _in_bytes(self, items: Path, weeks: Sequence[int], budgets: Sequence[float]) -> dict[str, float]:
        figures: dict[str, float] = {}
        for week in weeks:
            with clear_errors(OSError, ValueError):
                fold, sizes = byte_budgets.read_fold(items, week)
            for budget in budgets:
                found = byte_budgets.compare(fold, sizes, budget)
                self.show(f"{_title(fold)}; x = {budget:g}", found, "{:.3f}")
                figures |= {f"{fold.name}.x{budget:g}.{name}": value for name, value in found.items()}
        return figures


def evaluate(jobs: Sequence[ContenderJob], command: LabCommand) -> Results:
    """Run all jobs on all processors, the longest first."""
    found: dict[tuple[str, str], dict[float, Statistics]] = {}
    order = sorted(jobs, key=lambda job: -contenders()[job.policy].effort * job.fold.test.times.size)
    workers = min(os.cpu_count() or 1, len(jobs))
    # Killed at once, this process cannot stop the pool's.
    with ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=processes.end_with_parent, initargs=(os.getpid(),)
    ) as pool:
        pending = {pool.submit(run, job): job for job in order}
        try:
            for future in command.track(as_completed(pending), "Evaluating", total=len(pending)):
                job = pending[future]
                found[job.fold.name, job.policy] = dict(zip(job.budgets, future.result(), strict=True))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    results: dict[str, dict[str, dict[float, Statistics]]] = {}
    for job in jobs:
        results.setdefault(job.fold.name, {})[job.policy] = found[job.fold.name, job.policy]
    return results


def _folds(trace: Path | None, weeks: Sequence[int], synthetic: Any, *, good_only: bool) -> list[NamedFold]:
    if bool(trace) == bool(synthetic):
        raise CommandError("Give either --trace or --synthetic.")
    if synthetic:
        return [synthetic_fold(synthetic)]
    assert trace is not None
    if not trace.is_file():
        raise CommandError(f"{trace} is no file")
    try:
        postings = read_trace(trace, good_only=good_only)
        return [cut(postings, week) for week in weeks]
    except ValueError as error:
        raise CommandError(str(error)) from error


def _policies(names: Sequence[str] | None, *, known_truth: bool) -> list[str]:
    for name in names or ():
        if name not in contenders():
            raise CommandError(f"There is no policy {name!r}; choose from {', '.join(contenders())}.")
        if contenders()[name].needs_truth and not known_truth:
            raise CommandError(f"{name} knows the true rates, which only --synthetic has.")
    return list(names or (name for name, policy in contenders().items() if known_truth or not policy.needs_truth))


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{path} cannot be made a folder: {error.strerror}") from error


def _with_mean(results: Results, folds: Sequence[NamedFold]) -> Results:
    if len(folds) == 1:
        return results
    weights = {fold.name: float(fold.test.times.size) for fold in folds}
    mean = {
        policy: {
            budget: averaged([(results[fold][policy][budget], weight) for fold, weight in weights.items()])
            for budget in of_budgets
        }
        for policy, of_budgets in results[folds[0].name].items()
    }
    return {**results, ALL: mean}


def _with_best_of_papers(results: Results) -> Results:
    """The published policy that is the best in each fold and at each budget, as one more."""
    best: dict[str, dict[float, Statistics]] = {}
    for fold, of_policies in results.items():
        published = [of_policies[name] for name in PAPERS if name in of_policies]
        if len(published) > 1:
            best[fold] = {
                budget: min((each[budget] for each in published), key=lambda found: found.mean)
                for budget in published[0]
            }
    return {
        fold: {**of_policies, **({PAPER_BEST: best[fold]} if fold in best else {})}
        for fold, of_policies in results.items()
    }


def _title(fold: NamedFold) -> str:
    size = f"{len(fold.trace)} sources, {fold.test.times.size} postings"
    return f"{fold.name}: {size}" if fold.profiles else f"{fold.name}, {day_of(fold.start)} on: {size}"


def _table(title: str, results: Mapping[str, Mapping[float, Statistics]]) -> Table:
    bases = [base for base in BASES if base in results]
    table = Table(
        title=title, caption=f"Delays in minutes per posting; x retrievals per source and day; {SAME_AS_UNIFORM}"
    )
    table.add_column("x", justify="right")
    table.add_column("policy")
    for heading in ("mean", "median", "p95", "max", "std", "lost at 15", "realised", *(f"/ {base}" for base in bases)):
        table.add_column(heading, justify="right")
    for budget in next(iter(results.values())):
        for policy, of_budgets in results.items():
            found = of_budgets[budget]
            delays = (found.mean, found.median, found.p95, found.max, found.std)
            ratios = (found.mean / results[base][budget].mean for base in bases)
            row = [f"{budget:g}", policy, *(f"{delay:.1f}" for delay in delays), f"{found.lost15:.1%}"]
            table.add_row(*row, f"{found.retrievals:.2f}", *(f"{ratio:.3f}" for ratio in ratios))
        table.add_section()
    return table


def _own_costs(fold: str, results: Mapping[str, Statistics]) -> Table:
    table = Table(title=f"{fold}: other readers at their own cost", caption="Delays in minutes per posting.")
    table.add_column("reader and rule")
    for heading in ("is the default", "checks per source and day", "mean", "p95", "read in"):
        table.add_column(heading, justify="right" if heading in ("mean", "p95") else "left")
    for rival in (*FIXED, *RIVALS.values()):
        found = results[rival.name]
        figures = (f"{found.retrievals:.1f}", f"{found.mean:.1f}", f"{found.p95:.1f}")
        table.add_row(rival.name, "yes" if rival.is_default else "no", *figures, rival.read)
    return table


def _figures(results: Results) -> dict[str, float]:
    return {
        f"{fold}.x{budget:g}.{policy}.{name}": getattr(found, name)
        for fold, of_policies in results.items()
        for policy, of_budgets in of_policies.items()
        for budget, found in of_budgets.items()
        for name in STATISTICS
    }


def _plot(title: str, results: Mapping[str, Mapping[float, Statistics]]) -> str:
    curves = {
        policy: [(budget, found.mean) for budget, found in sorted(of_budgets.items())]
        for policy, of_budgets in results.items()
    }
    return log_log_plot(title, "retrievals per source and day", "mean delay, minutes", curves)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.split(",")))


def _weeks(text: str) -> tuple[int, ...]:
    try:
        weeks = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no list of whole weeks such as 8,18") from error
    return weeks


def _budgets(text: str) -> tuple[float, ...]:
    try:
        budgets = tuple(dict.fromkeys(float(part) for part in text.split(",")))
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no list of numbers such as 1,2,4") from error
    if not all(1 / 7 <= budget <= 288 for budget in budgets):
        raise ArgumentTypeError(f"{text!r}: retrievals per source and day lie between 1/7 and 288")
    return budgets
