"""Whether counts of unread articles are right while several devices of a person change everything and are killed."""

from argparse import ArgumentParser
from typing import Any

from apps.accounts.models import User
from apps.following import actions
from apps.sources.models import Source
from lab.chaos import counts
from lab.harness import LabCommand, Result


class Command(LabCommand):
    help = (
        "Several devices of one person mark, follow and look at once while feeds publish copies and postings expire."
        " Devices are killed and replaced, and stored counts are compared with the states of single postings."
    )
    fills_database = True
    seed = 7

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--operations", type=int, default=10_000)
        parser.add_argument("--devices", type=int, default=4)
        parser.add_argument("--kills", type=int, default=60)

    def measure(self, *args: Any, operations: int, devices: int, kills: int, seed: int, **_: Any) -> Result:
        feeds = [Source(url=f"https://feed{number}.example/", title=f"Feed {number}") for number in range(counts.FEEDS)]
        Source.objects.bulk_create(feeds)
        user = User.objects.create(username="reader", email="reader@people.example")
        actions.follows.follow(user, [feed.pk for feed in feeds], now=counts.now())
        figures = counts.run(user, devices=devices, operations=operations, kills=kills, seed=seed)
        self.show("Counts of unread articles", figures)
        is_right = not figures["wrong_counts"] and not figures["errors"]
        return Result(figures, failure="" if is_right else "Counts are wrong, or an operation failed.")
