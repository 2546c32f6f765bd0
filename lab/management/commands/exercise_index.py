"""Puts continuous load on the index, with made-up postings; `benchmark_search` and `verify_index` start it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from lab.chaos.index.exercise import run


class Command(BaseCommand):
    help = "Read, write or maintain the index until the parent process exits, with a line of JSON for each turn."
    requires_system_checks = []  # they load all pages, a third of the start

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=["read", "write", "maintain", "prove"])
        parser.add_argument(
            "outputs", nargs="*", type=Path, help="output files of writers, to prove that nothing is lost"
        )
        parser.add_argument("--parent", type=int, required=True, metavar="PID", help="of the starting process")
        parser.add_argument("--label", default="1", help="of what is written; a reader's seed, a number")
        parser.add_argument(
            "--levels",
            type=lambda text: [int(part) for part in text.split(",")],
            default=[],
            metavar="SMALLEST,MIDDLE,LARGEST",
            help="sizes of generations, for short trials",
        )
        parser.add_argument("--pause", type=float, default=0.0, metavar="SECONDS", help="after each turn")

    def handle(
        self,
        *args: Any,
        kind: str,
        parent: int,
        outputs: list[Path],
        label: str,
        levels: list[int],
        pause: float,
        **options: Any,
    ) -> None:
        run(kind, parent=parent, label=label, sizes=levels, pause=pause, outputs=outputs)
