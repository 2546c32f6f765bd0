"""Store the postings that a replay has served once and in order, as the reference of `chaos`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from lab.chaos import serial_run


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []  # they load all pages, a third of the start

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--record", type=Path, required=True, metavar="FILE")

    def handle(self, *args: Any, record: Path, **options: Any) -> None:
        serial_run.run(record)
