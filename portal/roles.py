"""Celery's worker and beat without its command line, whose libraries take each process 9 MB."""

import argparse
import sys

import django
from celery.app.utils import find_app
from celery.concurrency import get_implementation
from celery.utils.nodenames import default_nodename, host_format
from django.apps import apps

from portal.databases import refuse_newer_schema


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("app", help="the module of Celery's app")
    parser.add_argument("role", choices=("worker", "beat"))
    parser.add_argument("--hostname", help="of a worker; %%h is that of this machine")
    parser.add_argument("--queues", help="that a worker consumes, separated by commas")
    parser.add_argument("--concurrency", type=int, help="threads of a worker")
    return parser.parse_args(given)


def main(given: argparse.Namespace) -> None:
    """Run a process until it is stopped."""
    app = find_app(given.app)
    if not apps.ready:  # the nursery has loaded them
        django.setup()
    refuse_newer_schema()
    if given.role == "beat":
        app.Beat(loglevel="info", quiet=True).run()
        return
    worker = app.Worker(
        hostname=host_format(default_nodename(given.hostname)),
        queues=given.queues,
        pool_cls=get_implementation("threads"),
        concurrency=given.concurrency,
        loglevel="info",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


if __name__ == "__main__":
    main(arguments(sys.argv[1:]))
