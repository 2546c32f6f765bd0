"""The command `up`, without Django, which would take its process, the supervisor, 5 MB."""

from argparse import ArgumentParser
from collections.abc import Sequence

from portal.launcher import startup
from portal.launcher.console import NORMAL, QUIET, VERBOSE, Console

HELP = "Start the whole portal: Postgres, Valkey, the site, the workers and the scheduler. Ctrl-C stops it."


def main(arguments: Sequence[str]) -> int:
    parser = ArgumentParser(prog="manage.py up", description=HELP)
    add_arguments(parser)
    return run(**vars(parser.parse_args(arguments)))


def add_arguments(parser: ArgumentParser) -> None:
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


def run(*, host: str, port: int | None, demo: bool, detail: int) -> int:
    var = startup.data_folder()
    console = Console(var / "log" / "demo" if demo else var / "log", detail)
    return (startup.up_demo if demo else startup.up)(var, host, port, console)
