"""Runs a command of `manage.py` inside the virtual environment."""

import importlib.util
import os
import sys

from django.core.management import execute_from_command_line

from portal.environment import BadEnvironment

# They start the servers that the settings name, so they run before settings are loaded.
WITHOUT_SETTINGS = {"up": "portal.management.commands.up", "test": "lab.management.commands.test"}


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
    if name in WITHOUT_SETTINGS:
        module = WITHOUT_SETTINGS[name]
        folder = module.partition(".")[0]
        if importlib.util.find_spec(folder) is None:
            print(f"The command {name} needs the folder {folder}/, which is missing here.", file=sys.stderr)
            return 1
        importlib.import_module(module).Command().run_from_argv(arguments)
        return 0
    execute_from_command_line(arguments)
    return 0
