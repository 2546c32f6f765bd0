"""What happens to the database before the portal starts: a program of its own, so that its supervisor stays small."""

import os
import sys

import django
from django.core.management import call_command
from django.db import OperationalError, connection

from portal.environment import BadEnvironment

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    try:
        django.setup()
    except BadEnvironment as error:
        sys.exit(str(error))
    try:
        connection.ensure_connection()
    except OperationalError as error:
        sys.exit(f"The database does not answer: {error}")
    call_command("migrate", interactive=False, verbosity=0)
    if sys.argv[1:] != ["migrate"]:
        call_command("prepare")
