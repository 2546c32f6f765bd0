#!/usr/bin/env python3
"""Runs commands: `manage.py up` starts everything, `manage.py test` checks everything, `manage.py help` lists all."""

import sys

if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036, this file is what an older Python meets
        sys.exit(f"Wirebeat needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

    from portal.launcher import bootstrap

    bootstrap.enter(sys.argv)

    from portal.launcher import commands  # imports packages that `bootstrap` installs

    sys.exit(commands.main(sys.argv))
