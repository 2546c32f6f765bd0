from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from portal.launcher import up


class Command(BaseCommand):
    """For `manage.py help`; `manage.py up` itself is `up.main`."""

    help = up.HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        up.add_arguments(parser)
