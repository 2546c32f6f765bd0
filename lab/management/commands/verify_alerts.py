"""Whether every alert is delivered exactly once, and how soon, while workers are killed."""

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
    Deliveries,
    Fleet,
    Outcome,
    Publisher,
    add_users,
    attempts,
    expire_back_off,
    is_done,
    outcome,
    prepare_all,
)
from lab.harness import LabCommand, Result
from lab.worlds.receivers import mailing, receiving

BATCH = 5  # postings
BATCH_SECONDS = 0.5  # between two batches
DELIVERY_TIMEOUT_SECONDS = 900.0  # after the last posting; leases of a killed worker last for minutes


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
            raise CommandError(f"At least two people and {BATCH} postings are needed.")
        logging.getLogger("mail.log").setLevel(logging.WARNING)  # it logs every SMTP command
        chance = random.Random(seed)
        with mailing() as mail, receiving() as web, self.progress() as self.bars:
            settings.RETRIEVAL_OPEN_HOSTS = (web.open_host,)
            accepted = Deliveries(random.Random(seed))
            _add_users(people, mail, web, accepted)
            environment = {"EMAIL_URL": f"smtp://127.0.0.1:{mail.port}", "WIREBEAT_OPEN_HOSTS": web.open_host}
            publisher = Publisher(people, chance)
            with Fleet(environment, chance) as fleet:
                publisher.publish(BATCH)
                self._await("Waiting for the workers to begin")
                begun = datetime.now(UTC)
                self._publish(publisher, postings, fleet, 0)
                self._await("Delivering without kills")
                calm = outcome(accepted, begun)
                self._publish(publisher, postings, fleet, kills)
                self._await("Delivering while workers are killed")
            found = outcome(accepted, begun)
        figures = _figures(calm, found, publisher.expected, accepted.refused, fleet.kills)
        self.show("Alerts by mail, browser and a webhook that fails half the time", figures, "{:,.2f}")
        is_wrong = found.lost or found.doubled or found.unexplained or found.hits != publisher.expected
        return Result(figures, failure="An alert was lost or delivered twice." if is_wrong else "")

    def _publish(self, publisher: Publisher, postings: int, fleet: Fleet, kills: int) -> None:
        rounds = postings // BATCH
        killed_after = {(number + 1) * rounds // (kills + 1) for number in range(kills)}
        for number in self.bars.track(range(rounds), description=f"Publishing, {kills} kills"):
            publisher.publish(BATCH)
            if number in killed_after:
                fleet.kill_one()
            time.sleep(BATCH_SECONDS)

    def _await(self, what: str) -> None:
        """Wait until all alerts are delivered."""
        bar = self.bars.add_task(what, total=None)
        deadline = time.monotonic() + DELIVERY_TIMEOUT_SECONDS
        while not is_done():
            if time.monotonic() > deadline:
                raise CommandError(f"After {DELIVERY_TIMEOUT_SECONDS:.0f} s some messages still wait.")
            expire_back_off()
            time.sleep(1.0)
        self.bars.remove_task(bar)


def _add_users(count: int, *ends: Any) -> None:
    add_users(count, *ends)
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
