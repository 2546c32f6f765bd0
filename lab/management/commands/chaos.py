"""Kill, freeze and restart the processes of a portal during a replay; its tables must equal those of a serial run."""

import os
import sys
import time
from argparse import SUPPRESS, ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from rich.console import Console
from rich.table import Table

from lab import throwaway
from lab.benchmarks.lateness import figures as lateness_figures
from lab.chaos.disks import data_folder, may_mount
from lab.chaos.endpoints import for_arguments, from_environment
from lab.chaos.faults import BY_NAME, CUT_OFF_RETRIEVAL, FAULTS, ON_SMALL_DISK
from lab.chaos.scenario import Outcome, Scenario, Wanted
from lab.chaos.topology import running_topology
from lab.harness import LabCommand, Result
from portal.launcher import processes
from portal.launcher.embedded import StartError

INSIDE = "--inside"  # the environment names the servers


class Command(LabCommand):
    help = f"{__doc__} Uses its own servers and delivers every message twice. Ends with 1 if anything differs."
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=120.0, help="of the replay (default: %(default)g)")
        parser.add_argument("--faults", type=int, default=12, help="default: %(default)s, each kind once")
        parser.add_argument("--sources", type=int, default=60, help="default: %(default)s")
        parser.add_argument(
            "--only",
            choices=[fault.name for fault in (*FAULTS, *BY_NAME, CUT_OFF_RETRIEVAL)],
            default="",
            help="inject faults of this kind alone",
        )
        how_long = parser.add_mutually_exclusive_group()
        how_long.add_argument(
            "--lasting",
            type=float,
            metavar="SECONDS",
            help="how long a fault of --only lasts, such as a server kept away (default: 20 to 40, by its kind)",
        )
        how_long.add_argument(
            "--until-alert",
            action="store_true",
            help="let Prometheus watch, and faults of which an operator gets an alert last until it fires",
        )
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--debian", action="store_true", help="with Debian's RabbitMQ and Postgres, by TCP")
        where.add_argument(
            "--hosts", action="store_true", help="each worker on its own host, which may be cut off; needs root"
        )
        parser.add_argument(INSIDE, action="store_true", help=SUPPRESS)

    def run_from_argv(self, argv: list[str]) -> None:
        if {INSIDE, "-h", "--help"} & set(argv):
            super().run_from_argv(argv)
        else:
            sys.exit(run_inside(argv))

    def measure(
        self,
        *args: Any,
        seconds: float,
        faults: int,
        seed: int,
        sources: int,
        only: str,
        until_alert: bool,
        lasting: float | None,
        hosts: bool,
        **options: Any,
    ) -> Result:
        if min(seconds, 1.0 if lasting is None else lasting) <= 0 or faults < 0 or sources < 1:
            raise CommandError("--seconds, --lasting and --sources must be more than 0, --faults not less.")
        if only == CUT_OFF_RETRIEVAL.name and not hosts:
            raise CommandError(f'--only "{only}" needs --hosts.')
        if lasting is not None and only in {"", *(fault.name for fault in FAULTS)}:
            raise CommandError("--lasting needs --only with a fault that lasts, such as one that keeps a server away.")
        console, begun = self.console, time.monotonic()
        try:
            with (
                console.status("") as status,
                running_topology(from_environment(settings.VAR_DIR, os.environ), on_hosts=hosts) as made,
            ):

                def say(what: str) -> None:
                    status.update(what)
                    console.print(f"{time.monotonic() - begun:5.0f} s  {what}", highlight=False)

                wanted = Wanted(seconds, faults, seed, sources, only, until_alert, lasting)
                outcome = Scenario(made, wanted, say).run()
        except StartError as error:
            raise CommandError(str(error)) from error
        _print(outcome, console)
        failure = "" if outcome.passed else "The stored data differs from that of the serial run."
        return Result(_figures(outcome), failure=failure)


def run_inside(argv: list[str]) -> int:
    """Run the command again with settings for the servers that it starts and kills; return its exit code."""
    processes.hold_signals()
    try:
        wanted = Command().create_parser(argv[0], argv[1]).parse_args(argv[2:])
        to_fill = may_mount() and (wanted.only == ON_SMALL_DISK.name or (wanted.until_alert and not wanted.only))
        with throwaway.folder() as own, data_folder(own / "var", on_small_disk=to_fill) as var:
            environment = os.environ | for_arguments(var, argv).environment
            return throwaway.run_in_front([sys.executable, *argv, INSIDE], environment).code
    except StartError as error:
        sys.exit(str(error))
    except processes.Stopped as stopped:
        return 128 + stopped.number


def _print(outcome: Outcome, console: Console) -> None:
    injected = Table("Second", "Fault", "Process", "Recovered after", "Longest pause", "Takeover after", "Alert")
    for each in outcome.injected:
        takeover = "" if each.takeover is None else f"{each.takeover:.1f} s"
        recovery, pause = f"{each.recovered_after:.1f} s", f"{each.pause:.1f} s"
        alert = f"{each.alert.name} after {each.alert.after:.0f} s" if each.alert.name else ""
        injected.add_row(f"{each.at:.0f}", each.name, each.process, recovery, pause, takeover, alert)
    console.print(injected)
    for alert, remedy in {each.alert.name: each.alert.remedy for each in outcome.injected if each.alert.name}.items():
        console.print(f"{alert}: {remedy}", highlight=False, markup=False)
    found = outcome.findings
    compared = Table("Table", "Rows", "Missing", "Too many", "Different")
    for name, rows in found.rows.items():
        wrong = (kind.get(name, 0) for kind in (found.missing, found.added, found.different))
        compared.add_row(name, f"{rows:,}", *(f"{count:,}" for count in wrong))
    console.print(compared)
    for fault in found.faults:
        console.print(fault, highlight=False, markup=False)
    verdict = outcome.verdict
    if late := lateness(outcome):
        console.print(
            f"Begun after the first due time: p50 {late['begun_p50_s']:.1f} s, p99 {late['begun_p99_s']:.1f} s, at most"
            f" {late['begun_max_s']:.1f} s; stored at most {late['stored_max_s']:.1f} s;"
            f" {late['not_begun']:.0f} still due.",
            highlight=False,
        )
    console.print(
        f"{found.folded_otherwise:,} postings are folded with other ones than in the serial run, where other repeated"
        " text was known when they came.",
        highlight=False,
    )
    console.print(f"{outcome.revived} processes exited by themselves and were restarted.")
    console.print(
        f"{verdict.published:,} postings published, {verdict.served:,} served, {verdict.stored:,} stored in"
        f" {outcome.retrievals:,} retrievals: lost {verdict.lost_count}, doubled {verdict.doubled_count},"
        f" unobtainable {verdict.unobtainable_count}, sources stranded {outcome.stranded},"
        f" rows differing {found.differing}.",
        highlight=False,
    )


def lateness(outcome: Outcome) -> dict[str, float]:
    return lateness_figures([outcome.lateness]) if outcome.lateness.begun else {}


def _figures(outcome: Outcome) -> dict[str, float]:
    takeovers = [each.takeover for each in outcome.injected if each.takeover is not None]
    return {
        "faults": len(outcome.injected),
        "alerts": sum(bool(each.alert.remedy) for each in outcome.injected),
        "published": outcome.verdict.published,
        "served": outcome.verdict.served,
        "stored": outcome.verdict.stored,
        "retrievals": outcome.retrievals,
        "revived": outcome.revived,
        "lost": outcome.verdict.lost_count,
        "unobtainable": outcome.verdict.unobtainable_count,
        "doubled": outcome.verdict.doubled_count,
        "stranded": outcome.stranded,
        "rows": sum(outcome.findings.rows.values()),
        "differing_rows": outcome.findings.differing,
        "folded_otherwise": outcome.findings.folded_otherwise,
        "takeover_max_s": max(takeovers, default=0.0),
        "whole_again_max_s": max((each.recovered_after for each in outcome.injected), default=0.0),
        **lateness(outcome),
        "pause_max_s": max((each.pause for each in outcome.injected), default=0.0),
    }
