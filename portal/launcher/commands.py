"""Runs a command of `manage.py` inside the virtual environment."""

import importlib.util
import os
import sys

from portal.environment import BadEnvironment


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    try:
        return _run(arguments)
    except BadEnvironment as error:
        print(error, file=sys.stderr)
        return 1


def _run(arguments: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    name = arguments[1] if len(arguments) > 1 else "help"
    # These two start the servers that the settings name, so they run before settings are loaded.
    if name == "up":
        return int(importlib.import_module("portal.launcher.up").main(arguments[2:]))
    if name == "test":
        if importlib.util.find_spec("lab") is None:
            print("The command test needs the folder lab/, which is missing here.", file=sys.stderr)
            return 1
        importlib.import_module("lab.management.commands.test").Command().run_from_argv(arguments)
        return 0
    importlib.import_module("django.core.management").execute_from_command_line(arguments)
    return 0
