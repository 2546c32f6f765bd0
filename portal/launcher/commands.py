"""Which way a command of `manage.py` goes, once the virtual environment is there."""

import importlib
import os
import sys

from django.core.management import execute_from_command_line

from portal.environment import BadEnvironment

WITHOUT_SETTINGS = {"up", "test"}  # they start the servers that the settings lead to


def main(arguments: list[str]) -> int:
    """Run one command; the exit code for the shell."""
    try:
        return _run(arguments)
    except BadEnvironment as error:
        print(error, file=sys.stderr)
        return 1


def _run(arguments: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    name = arguments[1] if len(arguments) > 1 else "help"
    if name in WITHOUT_SETTINGS:
        importlib.import_module(f"portal.management.commands.{name}").Command().run_from_argv(arguments)
        return 0
    execute_from_command_line(arguments)
    return 0
