import sys
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from lab import checks


class Command(BaseCommand):
    help = (
        "Run every check, and every test but the trials, which --trials adds; --again repeats a few that failed, alone."
        " With other arguments, run pytest alone with them: test tests/apps/sources -k opml"
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pytest", nargs="*", help="arguments of pytest")

    def run_from_argv(self, argv: list[str]) -> None:
        if argv[2:] in (["-h"], ["--help"]):
            self.print_help(*argv[:2])
        else:
            sys.exit(checks.run(argv[2:]))  # unread, since pytest's options are not Django's

    def handle(self, *, pytest: list[str], **options: object) -> None:
        raise SystemExit(checks.run(pytest))
