"""Kill the indexer and Postgres repeatedly; nothing confirmed may be lost, no reader may get wrong results."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from lab.chaos.index.crashes import figures, prove
from lab.harness import LabCommand, Result
from portal.launcher.embedded import StartError


class Command(LabCommand):
    help = f"{__doc__} Runs on a Postgres of its own. Ends with 1 if anything is wrong."
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kills", type=int, default=10)

    def measure(self, *args: Any, kills: int, seed: int, **options: Any) -> Result:
        try:
            proof = prove(kills, seed=seed, log=self.say)
        except StartError as error:
            raise CommandError(str(error)) from error
        self.say(
            f"{sum(proof.kills.values())} deaths, {proof.postings:,} postings confirmed, {proof.steps} generations"
            f" sealed or merged, {proof.answers:,} answers to readers."
        )
        for fault in proof.faults:
            self.say(fault)
        if proof.faults:
            return Result(figures(proof), failure="The index did not survive it.")
        self.say("Nothing confirmed is lost, the index agrees with itself, and no answer was wrong.")
        return Result(figures(proof))
