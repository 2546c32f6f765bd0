"""Serve recorded or made-up postings as feeds on loopback, faster than they were published, and read them."""

import signal
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.live import Live
from rich.progress import track

from apps.accounts.models import User
from apps.retrieval.actions import learn_profiles, replan_changed
from apps.sources.models import Source
from lab.harness import clear_errors
from lab.worlds.actions import add_feeds, follow_in_folders, store_history
from lab.worlds.faults import choose_faults
from lab.worlds.leases import lease
from lab.worlds.lines import RecordError
from lab.worlds.loading import Loaded, Wanted, load
from lab.worlds.queries import unobserved
from lab.worlds.record import RecordFile, read_beginning
from lab.worlds.responses import Options
from lab.worlds.searches import add_searches
from lab.worlds.server import Replay, serving
from lab.worlds.timeline import Timeline
from lab.worlds.vocabulary import ENGLISH

# What makes it the same replay; a record can only be continued with the same.
IDENTITY = ("synthetic", "items", "sources", "good", "from", "days", "history_days", "seed", "speed", "port", "window")

STORED_A_SECOND = 400  # postings of a history, on a slow machine
LEARNING_TIME = 30.0  # s


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()  # they load all pages, a third of the start

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--synthetic", type=int, default=0, metavar="N", help="make up N sources")
        what.add_argument("--items", type=Path, metavar="FILE", help="recorded postings, .jsonl or .jsonl.xz")
        parser.add_argument("--sources", type=Path, metavar="FILE", help="the sources of --items, .csv")
        parser.add_argument("--good", action="store_true", help="only sources whose times can be trusted")
        parser.add_argument("--from", type=_day, metavar="DATE", help="first day (default: that of the recording)")
        parser.add_argument("--days", type=float, default=7.0, help="days to replay (default: %(default)g)")
        parser.add_argument("--history-days", type=float, default=2.0, help="days before (default: %(default)g)")
        parser.add_argument("--seed", type=int, default=1, help="of everything drawn at random")
        parser.add_argument("--speed", type=float, default=60.0, help="seconds per real second (default: %(default)g)")
        parser.add_argument("--port", type=int, default=8700, help="on 127.0.0.1 (default: %(default)s)")
        parser.add_argument("--window", type=int, default=50, help="postings in a feed (default: %(default)s)")
        parser.add_argument("--faults", type=float, default=0.0, metavar="SHARE", help="share of faulty sources, 0..1")
        parser.add_argument("--delta", action="store_true", help="answer 226 to requests with A-IM: feed")
        parser.add_argument("--record", type=Path, metavar="FILE", help="write down all that happens; continue it")
        parser.add_argument("--no-add", action="store_true", help="serve only, add no sources to the portal")
        parser.add_argument("--for", type=float, metavar="SECONDS", help="stop after these real seconds")
        parser.add_argument(
            "--learn", action="store_true", help="store the history and learn the feeds' posting rates from it first"
        )
        parser.add_argument(
            "--searches", type=int, default=0, metavar="N", help="let N people search for what sources write; --learn"
        )
        parser.add_argument(
            "--follow", action="store_true", help="let the first admin follow the English sources, in folders"
        )
        parser.add_argument(
            "--retrieve-every", type=int, metavar="SECONDS", help="shortest gap between requests, in replayed seconds"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console()
        wanted = _wanted(options)
        with clear_errors(OSError, ValueError):
            loaded = load(wanted, lambda lines: _watch(lines, console))
            with ExitStack() as stack:
                replay = stack.enter_context(self._serve(loaded, options, stack))
                stack.enter_context(lease(replay.addresses.open_host))
                if not options["no_add"]:
                    _add(replay, options, console)
                _show_until_stopped(replay, loaded, options["for"], console)

    def _serve(self, loaded: Loaded, options: dict[str, Any], stack: ExitStack) -> Any:
        setup = _setup(options) | {"began": datetime.now(UTC).timestamp()}
        start, done, record = datetime.now(UTC).timestamp(), None, None
        if options["learn"]:
            # The first day begins when the history is stored and learnt from; until then the days before it pass.
            known = sum(feed.count_until(loaded.origin) for feed in loaded.feeds)
            start += LEARNING_TIME + known / STORED_A_SECOND
        if path := options["record"]:
            if beginning := read_beginning(path):
                _require_same(path, beginning[0].setup, setup)
                start, done = beginning[0].start, beginning[1]
            record = stack.enter_context(closing(RecordFile(path)))
        return serving(
            loaded.feeds,
            timeline=Timeline(loaded.origin, start, options["speed"]),
            faults=choose_faults((feed.number for feed in loaded.feeds), options["faults"], options["seed"]),
            options=Options(window=options["window"], delta=options["delta"], end=loaded.end),
            record=record or _forget,
            setup=setup,
            port=options["port"],
            done=done,
        )


def _wanted(options: dict[str, Any]) -> Wanted:
    if bool(options["items"]) != bool(options["sources"]):
        raise CommandError("--items and --sources belong together.")
    for name in ("days", "speed", "window"):
        if options[name] <= 0:
            raise CommandError(f"--{name} must be more than 0.")
    if options["searches"] and not options["learn"]:
        raise CommandError("--searches needs --learn: only of sources that have published is known what they write.")
    return Wanted(
        synthetic=options["synthetic"],
        items=options["items"],
        sources=options["sources"],
        good=options["good"],
        begin=options["from"],
        days=options["days"],
        history_days=options["history_days"],
        seed=options["seed"],
    )


def _setup(options: dict[str, Any]) -> dict[str, str | int | float | bool | None]:
    values = {name: options[name] for name in (*IDENTITY, "faults", "delta")}
    return {name: value if isinstance(value, int | float | None) else str(value) for name, value in values.items()}


def _require_same(path: Path, recorded: dict[str, Any], setup: dict[str, Any]) -> None:
    for name in IDENTITY:
        if recorded.get(name) != setup[name]:
            raise RecordError(f"{path} was made with --{name.replace('_', '-')} {recorded.get(name)}; take a new file")


def _add(replay: Replay, options: dict[str, Any], console: Console) -> None:
    speed, min_gap = options["speed"], options["retrieve_every"]
    ids = add_feeds(replay.feeds, replay.addresses, speed=speed, min_gap=min_gap, now=datetime.now(UTC))
    if options["follow"]:
        _follow(ids)
    if not options["learn"]:
        return
    feeds = list(zip(replay.feeds, ids, strict=True))
    for feed, source_id in track(feeds, "Storing the history", console=console, transient=True):
        store_history(feed, source_id, replay.addresses, replay.timeline, now=datetime.now(UTC))
    with console.status("Waiting until the portal has fetched every feed once"):
        while unobserved(ids) and datetime.now(UTC).timestamp() < replay.timeline.start:
            time.sleep(1)
    learn_profiles(now=datetime.now(UTC))
    if options["searches"]:
        add_searches(ids, options["searches"], seed=options["seed"], now=datetime.now(UTC))
    replan_changed(now=datetime.now(UTC))
    left = replay.timeline.start - datetime.now(UTC).timestamp()
    console.print(f"Learnt. The recording's first day begins in {max(left, 0):.0f} s.")


def _follow(ids: Sequence[int]) -> None:
    admin = User.objects.filter(is_superuser=True).order_by("pk").first()
    if admin is None:
        raise CommandError("--follow needs an admin; `manage.py createsuperuser` makes one.")
    english = Source.objects.filter(pk__in=ids, language=ENGLISH.language).order_by("pk")
    follow_in_folders(admin, english, now=datetime.now(UTC))


def _show_until_stopped(replay: Replay, loaded: Loaded, seconds: float | None, console: Console) -> None:
    stop = time.monotonic() + seconds if seconds is not None else float("inf")
    terminate = signal.signal(signal.SIGTERM, signal.default_int_handler)  # end like Ctrl-C, with a summary
    console.print(f"{len(replay.feeds):,} feeds at {replay.local_url(replay.feeds[0].number)} and so on. Ctrl-C stops.")
    try:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            while (left := stop - time.monotonic()) > 0:
                live.update(_progress(replay, loaded), refresh=True)
                time.sleep(min(1.0, left))
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, terminate)
    console.print(f"Stopped. {_progress(replay, loaded)}")


def _progress(replay: Replay, loaded: Loaded) -> str:
    recorded = replay.timeline.recorded(datetime.now(UTC).timestamp())
    shown = datetime.fromtimestamp(min(recorded, loaded.end), UTC)
    over = ", the recording is over" if recorded >= loaded.end else ""
    return (
        f"{shown:%a %Y-%m-%d %H:%M}, {(min(recorded, loaded.end) - loaded.origin) / 86400:.2f} days replayed{over}:"
        f" {len(replay.feeds):,} sources, {replay.published:,} postings published,"
        f" {replay.requests_answered:,} requests"
    )


def _watch(lines: Iterable[str], console: Console) -> Iterable[str]:
    return track(lines, "Reading the recording", console=console, update_period=0.5, transient=True)


def _forget(_line: object) -> None:
    """Without --record."""


def _day(text: str) -> datetime:
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"not a date: {text!r}, write 2023-09-11") from None
    return day if day.tzinfo else day.replace(tzinfo=UTC)
