"""Kill the indexer and Postgres again and again; nothing that was confirmed may be lost, no reader misled."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from lab.chaos.index.crashes import as_json, prove
from portal.launcher.embedded import StartError


class Command(BaseCommand):
    help = f"{__doc__} Runs on a Postgres of its own. Ends with 1 if anything is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kills", type=int, default=10)
        parser.add_argument("--seed", type=int, default=7)
        parser.add_argument("--json", type=Path, metavar="FILE")

    def handle(self, *args: Any, kills: int, seed: int, json: Path | None, **options: Any) -> None:
        try:
            proof = prove(kills, seed=seed, tell=self.stdout.write)
        except StartError as error:
            raise CommandError(str(error)) from error
        if json:
            json.write_text(as_json(proof), encoding="utf-8")
        self.stdout.write(
            f"{sum(proof.kills.values())} deaths, {proof.postings:,} postings confirmed, {proof.steps} generations"
            f" sealed or merged, {proof.answers:,} answers to readers."
        )
        for fault in proof.faults:
            self.stdout.write(fault)
        if proof.faults:
            raise CommandError("The index did not survive it.")
        self.stdout.write("Nothing confirmed is lost, the index agrees with itself, and no answer was wrong.")
