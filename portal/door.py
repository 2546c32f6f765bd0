"""Which way a command of `manage.py` goes, once the virtual environment is there."""

import importlib
import os
import sys

from django.core.management import execute_from_command_line

from portal import throwaway
from portal.chaos import places
from portal.environment import BadEnvironment

WITHOUT_SETTINGS = {"up", "test"}  # they start the servers that the settings lead to
CHAOS = "chaos"  # starts its servers itself, to kill them
MEASURING = ("benchmark_", "evaluate_", "verify_alerts", "verify_derived")


def main(arguments: list[str]) -> int:
    """Run one command; the exit code for the shell, or what is wrong with the environment."""
    try:
        return _run(arguments)
    except BadEnvironment as error:
        sys.exit(str(error))


def _run(arguments: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    name = arguments[1] if len(arguments) > 1 else "help"
    if name in WITHOUT_SETTINGS:
        importlib.import_module(f"portal.management.commands.{name}").Command().run_from_argv(arguments)
        return 0
    if name.startswith(MEASURING) and "DATABASE_URL" not in os.environ and not {"-h", "--help"} & set(arguments):
        return throwaway.run([sys.executable, *arguments], throwaway.FOR_MEASURING, migrated=True)
    if name == CHAOS and not {"-h", "--help"} & set(arguments):
        with throwaway.folder() as var:
            os.environ |= places.chosen(var, arguments).environment
            execute_from_command_line(arguments)
        return 0
    execute_from_command_line(arguments)
    return 0
