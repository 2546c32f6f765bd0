"""Whether everybody is told once of all that they wait for, and how soon, while workers are killed."""

import logging
import random
import time
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import CommandError

from lab.chaos.alerts import (
    Fleet,
    Outcome,
    Publisher,
    Taken,
    attempts,
    is_done,
    let_time_pass,
    outcome,
    people,
    prepare_all,
)
from lab.harness import LabCommand, Result
from lab.worlds.receivers import mailing, receiving

BATCH = 5  # postings stored at once
EVERY = 0.5  # s between two batches
PATIENCE = 900.0  # s after the last posting; a killed worker's leases last for minutes


class Command(LabCommand):
    help = __doc__
    fills_database = True
    seed = 1

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--people", type=int, default=20, help="each with one search (default: %(default)s)")
        parser.add_argument("--postings", type=int, default=200, help="in each half (default: %(default)s)")
        parser.add_argument("--kills", type=int, default=10, help="of workers, in the second half")

    def measure(self, *args: Any, people: int, postings: int, kills: int, seed: int, **_: Any) -> Result:
        if people < 2 or postings < BATCH:
            raise CommandError(f"It takes two people and {BATCH} postings at least.")
        logging.getLogger("mail.log").setLevel(logging.WARNING)  # of each word between the mail server and us
        chance = random.Random(seed)
        with mailing() as mail, receiving() as web, self.progress() as self.bars:
            settings.RETRIEVAL_OPEN_HOSTS = (web.open_host,)
            taken = Taken(random.Random(seed))
            _people(people, mail, web, taken)
            environment = {"EMAIL_URL": f"smtp://127.0.0.1:{mail.port}", "WIREBEAT_OPEN_HOSTS": web.open_host}
            publisher = Publisher(people, chance)
            with Fleet(environment, chance) as fleet:
                publisher.publish(BATCH)
                self._await("Waiting for the workers to begin")
                begun = datetime.now(UTC)
                self._publish(publisher, postings, fleet, 0)
                self._await("Told while nobody is killed")
                calm = outcome(taken, begun)
                self._publish(publisher, postings, fleet, kills)
                self._await("Told while workers are killed")
            found = outcome(taken, begun)
        figures = _figures(calm, found, publisher.expected, taken.refused, fleet.kills)
        self.show("Alerts by mail, browser and a webhook that fails half the time", figures, "{:,.2f}")
        is_wrong = found.lost or found.doubled or found.unexplained or found.hits != publisher.expected
        return Result(figures, failure="Somebody was not told, or told twice." if is_wrong else "")

    def _publish(self, publisher: Publisher, postings: int, fleet: Fleet, kills: int) -> None:
        rounds = postings // BATCH
        killed_after = {(number + 1) * rounds // (kills + 1) for number in range(kills)}
        for number in self.bars.track(range(rounds), description=f"Publishing, {kills} kills"):
            publisher.publish(BATCH)
            if number in killed_after:
                fleet.kill_one()
            time.sleep(EVERY)

    def _await(self, what: str) -> None:
        """Until all are told."""
        bar = self.bars.add_task(what, total=None)
        deadline = time.monotonic() + PATIENCE
        while not is_done():
            if time.monotonic() > deadline:
                raise CommandError(f"After {PATIENCE:.0f} s some messages still wait.")
            let_time_pass()
            time.sleep(1.0)
        self.bars.remove_task(bar)


def _people(count: int, *ends: Any) -> None:
    people(count, *ends)
    prepare_all()


def _figures(calm: Outcome, found: Outcome, expected: int, refused: int, kills: int) -> dict[str, float]:
    return {
        "hits": float(found.hits),
        "hits_missing": float(expected - found.hits),
        "messages": float(found.messages),
        "attempts": float(attempts()),
        "webhook_calls_refused": float(refused),
        "kills": float(kills),
        "lost": float(found.lost),
        "doubled": float(found.doubled),
        "repeated_under_the_same_key": float(found.repeated),
        "repeated_without_kills": float(calm.repeated),
        "unexplained": float(found.unexplained),
        "first_attempt_p50_s": float(np.percentile(calm.delays, 50)),
        "first_attempt_p99_s": float(np.percentile(calm.delays, 99)),
        "first_attempt_max_s": float(calm.delays.max()),
    }
