"""The share of changes of made-up pages that a limited number of page checks catches."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from django.core.management.base import CommandError
from rich.table import Table

from apps.retrieval.algorithms.cam.allocation import best_pairs
from lab.evaluations.cam.lateness import Lateness, lateness, made_up_jobs
from lab.evaluations.cam.pages import METHODS, Caught, Pages, caught, learning, made_up
from lab.harness import LabCommand, Result, table
from lab.plots import log_log_plot

PAGES, SLOTS, EPOCHS = 200, 24, 200
BUDGETS = (5, 10, 25, 50)  # per cent of all slots
USUAL = 10  # the budget whose figures have no prefix in the JSON
SEED = 4
OTHER_SEEDS = range(100, 110)
TRACKING = 4  # epochs
STEADY = 50  # epochs after which learning is nearly complete
LEARNT = "cam_learnt"
STAGES = (0, TRACKING, 8, 16, 32, STEADY)  # epochs between which its progress is shown
LOADS = (80, 95)  # per cent, of the processes that fetch
PROCESSES = 16
JOBS = 20_000
WIDTH = 120  # characters


class Found(NamedTuple):
    """The result of one method in one world."""

    caught: Caught
    spent: float  # checks made, as a share of those allowed


class Progress(NamedTuple):
    """Changes that learning CAM catches at their update instant, as a share of those of CAM that knows."""

    begin: int  # epoch
    end: int
    share: float


class Command(LabCommand):
    help = "Compare CAM with simpler allocations of page checks: weighted share of changes caught."
    plotted = "changes caught over checks"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--epochs", type=int, default=EPOCHS, help=f"that are simulated; by default {EPOCHS}")
        parser.add_argument("--worlds", type=int, default=len(OTHER_SEEDS), help="other worlds to show the spread of")

    def measure(self, *args: Any, epochs: int, worlds: int, **options: Any) -> Result:
        if epochs <= STEADY:
            raise CommandError(f"--epochs must be more than {STEADY}, which CAM takes to learn, not {epochs}")
        self.console.width = max(self.console.width, WIDTH)
        runs = [(SEED, budget) for budget in BUDGETS]
        runs += [(seed, budget) for seed in OTHER_SEEDS[:worlds] for budget in BUDGETS]
        results: dict[tuple[int, int], dict[str, Found]] = {}
        progress: dict[int, list[Progress]] = {}
        for seed, budget in self.track(runs, "worlds and budgets"):
            pages = made_up(PAGES, SLOTS, epochs, np.random.default_rng(seed))
            results[seed, budget] = _known(pages, budget, seed)
            if seed == SEED:
                results[seed, budget][LEARNT], progress[budget] = _learnt(pages, budget)
        for budget in BUDGETS:
            self.console.print(_table(budget, results))
        self.console.print(_progress_table(progress))
        late = {
            load: lateness(made_up_jobs(JOBS, load / 100, PROCESSES, np.random.default_rng(SEED)), PROCESSES)
            for load in LOADS
        }
        self.console.print(_lateness_table(late))
        own = {budget: results[SEED, budget] for budget in BUDGETS}
        return Result(_figures(own, progress) | _lateness_figures(late), lambda: _plot(own))


def _tasks(budget: int) -> int:
    return round(budget / 100 * PAGES * SLOTS)


def _known(pages: Pages, budget: int, seed: int) -> dict[str, Found]:
    """The results of each method that knows all probabilities."""
    tasks = _tasks(budget)
    found = {}
    for name, method in METHODS.items():
        chosen = method(pages, tasks, np.random.default_rng(seed))
        found[name] = Found(caught(pages, chosen), float(chosen.sum()) / tasks)
    return found


def _learnt(pages: Pages, budget: int) -> tuple[Found, list[Progress]]:
    """The results of CAM that knows the weights only: in the long run, and its progress."""
    tasks = _tasks(budget)
    epochs = list(learning(pages, tasks, TRACKING, np.random.default_rng(SEED)))
    chosen = np.array([epoch.chosen for epoch in epochs])
    steady = Pages(pages.weights, pages.probabilities, pages.updates[STEADY:])
    expected = (pages.gains * chosen).sum(axis=(1, 2)) / pages.gains[best_pairs(pages.gains, tasks)].sum()
    bounds = zip(STAGES, (*STAGES[1:], len(epochs)), strict=True)
    stages = [Progress(begin, end, float(expected[begin:end].mean())) for begin, end in bounds]
    return Found(caught(steady, chosen[STEADY:]), float(chosen[STEADY:].sum(axis=(1, 2)).mean()) / tasks), stages


def _table(budget: int, results: Mapping[tuple[int, int], Mapping[str, Found]]) -> Table:
    shown = table(
        f"{PAGES} pages with {SLOTS} slots, checks in {budget} % of them",
        "method",
        "at the update instant",
        "other worlds",
        "newest version",
        "other worlds",
        "checks spent",
        caption="Share of all changes, by weight, and its mean and standard deviation over other worlds.",
    )
    for name, (own, spent) in results[SEED, budget].items():
        others = [
            of[name].caught
            for (seed, of_budget), of in results.items()
            if seed != SEED and of_budget == budget and name in of
        ]
        shown.add_row(
            name.replace("_", " "),
            f"{own.at_update_instant:.3f}",
            _spread([each.at_update_instant for each in others]),
            f"{own.newest:.3f}",
            _spread([each.newest for each in others]),
            f"{spent:.0%}",
        )
    return shown


def _spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}" if values else ""


def _progress_table(progress: Mapping[int, list[Progress]]) -> Table:
    shown = Table(
        title="CAM that learns the probabilities from its own checks, as a share of CAM that knows them",
        caption=f"Changes caught at the update instant, in expectation. The first {TRACKING} epochs track all pages;"
        " later 5 % of the checks explore.",
    )
    shown.add_column("checks")
    for begin, end, _ in progress[BUDGETS[0]]:
        shown.add_column(f"epochs {begin + 1}–{end}", justify="right")
    for budget, stages in progress.items():
        shown.add_row(f"{budget} %", *(f"{stage.share:.2f}" for stage in stages))
    return shown


def _lateness_table(late: Mapping[int, Mapping[str, Lateness]]) -> Table:
    shown = Table(
        title=f"{JOBS:,} fetches on {PROCESSES} processes: lateness in seconds, mean by weight and longest",
        caption="The order in which those that wait are taken. CAM's is weighted with ageing.",
    )
    shown.add_column("first is")
    for load in late:
        shown.add_column(f"load {load} %", justify="right")
    for order in late[LOADS[0]]:
        found = [of_order[order] for of_order in late.values()]
        shown.add_row(order.replace("_", ", "), *(f"{each.mean:.3f}, {each.longest:.1f}" for each in found))
    return shown


def _lateness_figures(late: Mapping[int, Mapping[str, Lateness]]) -> dict[str, float]:
    figures = {}
    for load, orders in late.items():
        for order, found in orders.items():
            figures[f"load{load}.{order}.lateness"] = found.mean
            figures[f"load{load}.{order}.longest"] = found.longest
    return figures


def _figures(own: Mapping[int, Mapping[str, Found]], progress: Mapping[int, list[Progress]]) -> dict[str, float]:
    figures = {}
    for budget, methods in own.items():
        prefix = "" if budget == USUAL else f"{budget}."
        for name, (found, spent) in methods.items():
            figures[f"{prefix}{name}.at_instant"] = found.at_update_instant
            figures[f"{prefix}{name}.newest"] = found.newest
            figures[f"{prefix}{name}.spent"] = spent
        figures[f"{prefix}{LEARNT}.of_known"] = progress[budget][-1].share
    return figures


def _plot(own: Mapping[int, Mapping[str, Found]]) -> str:
    curves = {
        name.replace("_", " "): [
            (budget, 100 * methods[name].caught.at_update_instant) for budget, methods in own.items()
        ]
        for name in own[USUAL]
    }
    return log_log_plot(
        "Changes caught at their update instant", "checks, % of all slots", "caught, % by weight", curves
    )
