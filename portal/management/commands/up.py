from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from portal.launcher import startup
from portal.launcher.console import NORMAL, QUIET, VERBOSE, Console


class Command(BaseCommand):
    help = "Start the whole portal: Postgres, Valkey, the site, the workers and the scheduler. Ctrl-C stops it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
        parser.add_argument("--port", type=int, help="port of the site (default: the first free one from 8000)")
        parser.add_argument(
            "--demo",
            action="store_true",
            help="show synthetic feeds of this machine, without internet access; its data is deleted at the end",
        )
        detail = parser.add_mutually_exclusive_group()
        for option, value, meaning in (
            ("--quiet", QUIET, "say only where the portal is, and what fails"),
            ("--verbose", VERBOSE, "show what all programs say"),
        ):
            detail.add_argument(option, dest="detail", action="store_const", const=value, default=NORMAL, help=meaning)

    def handle(self, *, host: str, port: int | None, demo: bool, detail: int, **options: object) -> None:
        var = startup.data_folder()
        console = Console(var / "log" / "demo" if demo else var / "log", detail)
        raise SystemExit((startup.up_demo if demo else startup.up)(var, host, port, console))
