"""Jobs at the command line."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from apps.jobs import actions, queries
from apps.jobs.actions import working
from apps.jobs.kinds import all_kinds
from apps.jobs.management.progress import follow_job
from apps.jobs.models import Job

LISTED = 20
CHANGES = {
    "pause": (actions.claiming.pause, "is paused"),
    "resume": (actions.claiming.resume, "goes on"),
    "cancel": (actions.claiming.cancel, "is cancelled"),
    "retry": (actions.claiming.try_again, "is tried again"),
}


class Command(BaseCommand):
    help = "List, show, start, pause, resume, cancel or retry jobs; work until none is left; print durations."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True)
        what.add_parser("list", help="the latest jobs")
        what.add_parser("times", help="durations of splits so far, as JSON lines for benchmark_split --times")
        for name in ("show", *CHANGES):
            what.add_parser(name).add_argument("job", type=int)
        start = what.add_parser("start", help="request a job; workers begin within seconds")
        start.add_argument("kind", choices=[kind.name for kind in all_kinds()])
        start.add_argument("parameters", nargs="*", metavar="NAME=NUMBER", help="source=7, say")
        work = what.add_parser("work", help="work here, too, until nothing is left to do: a process for a core")
        work.add_argument("job", type=int, nargs="?", help="this one alone, with a progress bar")

    def handle(self, *args: Any, what: str, job: int | None = None, **options: Any) -> None:
        self.console = Console(file=self.stdout)  # type: ignore[arg-type]  # it has what a file needs
        if job is not None and queries.job(job) is None:
            raise CommandError(f"There is no job {job}.")
        if what in CHANGES and job is not None:
            self._change(what, job)
        elif what == "start":
            self._start(options["kind"], options["parameters"])
        elif what == "work":
            self._work(job)
        elif what == "times":
            for row in queries.recorded_times():
                self.stdout.write(json.dumps(row))
        elif job is not None:
            self._show(job)
        else:
            self._list()

    def _change(self, what: str, job_id: int) -> None:
        change, outcome = CHANGES[what]
        if not change(job_id):
            state = Job.objects.get(pk=job_id).get_state_display().lower()
            raise CommandError(f"Job {job_id} is {state}; this change is not possible in that state.")
        self.stdout.write(f"Job {job_id} {outcome}.")

    def _start(self, kind: str, parameters: list[str]) -> None:
        pairs = [text.partition("=") for text in parameters]
        if wrong := [name for name, _, value in pairs if not value.isdecimal()]:
            raise CommandError(f"{wrong[0]} needs a whole number, as in {wrong[0]}=7.")
        try:
            job, is_new = actions.claiming.create(
                kind, {name: int(value) for name, _, value in pairs}, requested_by="manage.py"
            )
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Job {job.pk} {'is requested' if is_new else 'exists already, unfinished'}.")

    def _work(self, job_id: int | None) -> None:
        if job_id is None:
            while working.work(working.worker_name()):
                pass
            return
        job = follow_job(job_id, Console(stderr=True))
        self.stdout.write(f"Job {job_id}: {job.get_state_display().lower()}.")

    def _list(self) -> None:
        jobs = list(queries.everything()[:LISTED])
        progress = queries.progress(jobs)
        table = Table("Job", "Kind", "State", "Stage", "Splits", "Records", "Workers", "Left")
        for job in jobs:
            done = progress[job.pk]
            table.add_row(
                str(job.pk),
                " ".join([job.kind, *(f"{name}={value}" for name, value in job.parameters.items())]),
                job.get_state_display().lower(),
                job.stage,
                f"{done.done:,} of {done.splits:,}",
                f"{done.share:.0%} of {done.records:,}",
                str(done.workers),
                "" if done.seconds_left is None else f"{done.seconds_left:,.0f} s",
            )
        self.console.print(table)

    def _show(self, job_id: int) -> None:
        job = Job.objects.get(pk=job_id)
        done = queries.progress([job])[job_id]
        say = self.stdout.write
        say(f"Job {job_id}, {job.kind} {job.parameters or ''}: {job.get_state_display().lower()}, {job.stage}")
        say(f"requested by {job.requested_by} at {job.requested_at:%Y-%m-%d %H:%M:%S %Z}")
        say(f"{done.done:,} of {done.splits:,} splits, {done.records_done:,} of {done.records:,} records")
        if done.seconds_left is not None:
            say(f"about {done.seconds_left:,.0f} s left with {max(done.workers, 1)} at work")
        for name, value in job.result.items():
            say(f"{name}: {value}")
        if job.problem:
            say(job.problem)
        for attempt in queries.running(job_id):
            say(f"split {attempt.split.number}: {attempt.worker} since {attempt.begun_at:%H:%M:%S}")
        for split in queries.troubled_splits(job_id):
            for attempt in split.attempts.all():
                if attempt.problem:
                    say(f"split {split.number}, {split.get_state_display().lower()}: {attempt.problem}")
