"""How soon the plan follows each setting under each policy, and whether the budget holds on the day after."""

import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import CommandError
from django.db.models import F

from apps.accounts.models import User
from apps.following.models import Follow
from apps.retrieval.actions import change_plan, current_plan, learn_profiles, replan_changed
from apps.retrieval.actions.following import follow_all
from apps.retrieval.models import Schedule, SourceChange
from apps.retrieval.policies import all_policies
from apps.retrieval.queries import hourly_budget, wanted
from apps.sources.actions.editing import edit_source, set_interests
from lab.evaluations.retrieval.virtual_days import VirtualDays
from lab.harness import LabCommand, table, workers
from lab.worlds.actions import add_feeds, store_history
from lab.worlds.leases import lease
from lab.worlds.server import REAL_TIME, serving
from lab.worlds.synthetic import make_feeds

BUDGET = 8.0  # a day and source
MORE = 16  # times the worth
LONGEST_GAP, SHORTER_LONGEST_GAP = 24.0, 8.0  # h
LONGER_SHORTEST_GAP = 6 * 3_600  # s
SETTLING = 6.0  # h of the former setting before each change
POLLED_EVERY = 0.2  # s
MAX_WAIT = 300.0  # s until all is planned again, the what-if curve included
MAX_BEGINNING = 300.0  # s until all sources were retrieved once
MAX_AGE = timedelta(minutes=40)  # of the first retrievals: later ones come after an hour

Set = Callable[[Sequence[int], bool], object]


def _weigh(chosen: Sequence[int], more: bool) -> None:
    for source_id in chosen:
        edit_source(source_id, weight=float(MORE) if more else 1.0)


def _follow(chosen: Sequence[int], more: bool) -> None:
    if not more:
        Follow.objects.all().delete()
        return
    for number in range(MORE - 1):
        reader, _ = User.objects.get_or_create(username=f"reader{number}")
        follow_all(reader, chosen, now=datetime.now(UTC))


def _space(chosen: Sequence[int], more: bool) -> None:
    for source_id in chosen:
        edit_source(source_id, min_gap=LONGER_SHORTEST_GAP if more else None)


# Each sets some sources, or the plan, to another value, or back to the usual one.
WORTH: Mapping[str, Set] = {
    "weight": _weigh,
    "followers": _follow,
    "interest": lambda chosen, more: set_interests(dict.fromkeys(chosen, float(MORE) if more else 1.0)),
}
EQUAL = ("uniform", "scheduling")  # policies by which all sources count the same
SETTINGS: Mapping[str, Set] = {
    **WORTH,
    "budget": lambda _chosen, more: change_plan(budget=1.5 * BUDGET if more else BUDGET),
    "longest_gap": lambda _chosen, more: change_plan(longest_gap=SHORTER_LONGEST_GAP if more else LONGEST_GAP),
    "shortest_gap": _space,
}


class Command(LabCommand):
    help = (
        f"{__doc__} Our own policy and CAM keep to the budget of a week: they retrieve more on days on which more is"
        " published. Due times are moved by real beat and workers, after feeds on loopback were retrieved; the days"
        " that follow are virtual: each source is retrieved at the very time it is due, without a network. A policy has"
        " no figures of a setting that it ignores by definition."
    )
    fills_database = True
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--sources", type=int, default=96, help="default: %(default)s")
        parser.add_argument("--changed", type=int, default=16, help="of these (default: %(default)s)")
        parser.add_argument("--policies", nargs="+", choices=all_policies(), default=list(all_policies()))
        parser.add_argument("--knobs", nargs="+", choices=SETTINGS, dest="chosen", default=list(SETTINGS))
        parser.add_argument("--history-days", type=int, default=14, help="default: %(default)s")
        parser.add_argument("--days", type=int, default=1, help="after each change (default: %(default)s)")

    def measure(
        self, *args: Any, sources: int, changed: int, policies: Sequence[str], chosen: Sequence[str],
        history_days: int, days: int, seed: int, **options: Any
    ) -> Mapping[str, float]:  # fmt: skip
        if not 1 <= changed <= sources:
            raise CommandError("--changed must lie between 1 and --sources.")
        cells = [
            (policy, setting)
            for policy in policies
            for setting in chosen
            if setting not in WORTH or policy not in EQUAL
        ]
        now = datetime.now(UTC)
        lasting = 2 + len(cells) * (days + SETTLING / 24)
        feeds = make_feeds(
            sources, seed=seed, begin=now.timestamp() - history_days * 86_400, end=now.timestamp() + lasting * 86_400
        )
        figures: dict[str, float] = {}
        with serving(feeds) as replay:
            ids = add_feeds(feeds, replay.addresses, speed=1.0, min_gap=None, now=now)
            some = ids[:: max(1, sources // changed)][:changed]
            change_plan(budget=BUDGET, longest_gap=LONGEST_GAP)
            with lease(replay.addresses.open_host), workers():
                _await(lambda: not Schedule.objects.filter(observed_at=None).exists(), MAX_BEGINNING)
                began = time.monotonic()
                for policy, setting in self.track(cells, "moving due times"):
                    if time.monotonic() - began > MAX_AGE.total_seconds():
                        raise CommandError("Too slow: sources would be retrieved again meanwhile. Name fewer policies.")
                    figures[f"{policy}.{setting}.moved_s"] = _moved_at_last(policy, setting, some)
        now = datetime.now(UTC)
        for feed, source_id in zip(feeds, ids, strict=True):
            store_history(feed, source_id, replay.addresses, REAL_TIME, now=now)
        learn_profiles(now=now)
        world = VirtualDays(dict(zip(ids, feeds, strict=True)), replay.addresses, now)
        for policy, setting in self.track(cells, "virtual days"):
            figures[f"{policy}.{setting}.spent_ratio"] = _spent(policy, SETTINGS[setting], some, world, days)
        self._print(figures, policies, chosen)
        return figures

    def _print(self, figures: Mapping[str, float], policies: Sequence[str], settings: Sequence[str]) -> None:
        shown = table("Due times moved after, s; retrievals of the next days / budget", "", *settings)
        for policy in policies:
            cells = [[figures.get(f"{policy}.{name}.{key}") for key in ("moved_s", "spent_ratio")] for name in settings]
            shown.add_row(policy, *("ignored" if a is None or b is None else f"{a:.0f}; {b:.3f}" for a, b in cells))
        self.console.print(shown)


@contextmanager
def _usually(policy: str, change: Set, chosen: Sequence[int], now: Callable[[], datetime]) -> Iterator[None]:
    """All due times follow a policy and usual settings; afterwards the setting is back at its usual value."""
    change_plan(policy=policy)
    _settle(now())
    try:
        yield
    finally:
        change(chosen, False)


def _settle(now: datetime) -> None:
    """Plan as beat has it done; it may be at it at the same time."""
    while SourceChange.objects.exists() or current_plan().planned_revision != current_plan().revision:
        replan_changed(now=now)
        time.sleep(0.01)


def _moved_at_last(policy: str, setting: str, chosen: Sequence[int]) -> float:
    """The seconds of `_moved`; of a second change if the portal has just replaced the interest by its own."""
    for _ in range(2 if setting == "interest" else 1):
        if (moved := _moved(policy, setting, chosen)) is not None:
            return moved
    raise CommandError(f"{policy}: no due time has moved after a change of {setting}")


def _moved(policy: str, setting: str, chosen: Sequence[int]) -> float | None:
    """Seconds until the latest due time has moved, by beat and a worker alone; 0 if all satisfy the new longest gap.

    None if none has moved.
    """
    change = SETTINGS[setting]

    def due_times() -> dict[int, datetime | None]:
        return dict(Schedule.objects.values_list("pk", "due_at"))

    with _usually(policy, change, chosen, lambda: datetime.now(UTC)):
        _settle(datetime.now(UTC))
        before = seen = due_times()
        began = time.monotonic()
        moved = 0.0
        change(chosen, True)
        while True:
            caught_up = not SourceChange.objects.exists() and current_plan().planned_revision == current_plan().revision
            now = due_times()
            if now != seen:
                seen, moved = now, time.monotonic() - began
            if caught_up:
                break
            if time.monotonic() - began > MAX_WAIT:
                raise CommandError(f"{policy}: due times had not followed {setting} after {MAX_WAIT:.0f} s")
            time.sleep(POLLED_EVERY)
        is_unmoved = seen == before and not (setting == "longest_gap" and _keeps_longest_gap())
    return None if is_unmoved else moved


def _keeps_longest_gap() -> bool:
    latest = F("observed_at") + timedelta(hours=current_plan().longest_gap)
    return not Schedule.objects.filter(due_at__gt=latest).exists()


def _spent(policy: str, change: Set, chosen: Sequence[int], world: VirtualDays, days: int) -> float:
    """Retrievals of the days after a change over the budget of these days."""
    with _usually(policy, change, chosen, lambda: world.now):
        world.note_change()
        world.run(SETTLING)
        change(chosen, True)
        world.note_change()
        _settle(world.now)
        spent = world.run(24.0 * days) / (24 * days * hourly_budget(current_plan(), wanted()))
    world.note_change()
    _settle(world.now)
    return spent


def _await(condition: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise CommandError(f"not all sources were retrieved within {seconds:.0f} s")
        time.sleep(0.5)
