"""Learn the keen tags of a site from its kept pages."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.retrieval import actions, sandbox
from apps.sources import queries as sources


class Command(BaseCommand):
    help = "Learn the keen tags of a source's pages from those that were kept, and find their text by them from now on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=int, metavar="ID")

    def handle(self, *args: Any, source: int, **_: Any) -> None:
        if not sources.everything().filter(pk=source).exists():
            raise CommandError(f"There is no source {source}.")
        try:
            trained = actions.train_keen_tags(source, now=datetime.now(UTC))
        except ValueError as problem:
            raise CommandError(str(problem)) from problem
        finally:
            sandbox.stop()
        self.stdout.write(
            f"Trained with {trained.pages} pages: F1 {trained.after:.3f}, by the universal tags {trained.before:.3f}."
        )
        self.stdout.write(f"Keen tags: {' '.join(sorted(trained.tags))}")
