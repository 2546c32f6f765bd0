"""Postgres refuses to run as root, so root runs it in a user namespace or as a system account."""

import functools
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from portal.launcher.embedded import ACCOUNT, StartError


def prefix(program: Path, *, death_signal: str = "INT") -> tuple[str, ...]:
    """The prefix of the command line of `program`; empty for a normal user.

    Entering a namespace or changing the user clears the signal that a child gets when its parent dies, hence setpriv.
    """
    if os.geteuid() != 0:
        return ()
    setpriv = ("setpriv", "--pdeathsig", death_signal)
    if namespace := _user_namespace():
        return (*namespace, *setpriv)
    if shutil.which("setpriv") is None:
        raise StartError("Postgres cannot run as root here: start as a normal user, or set DATABASE_URL.")
    _make_account()
    switch = (*setpriv, "--reuid", ACCOUNT, "--regid", ACCOUNT, "--clear-groups")
    if not _succeeds((*switch, str(program), "--version")):
        raise StartError(
            f"Postgres cannot run as root, and the account {ACCOUNT} cannot reach {program}: "
            "start as a normal user, move the checkout to where others may read, or set DATABASE_URL."
        )
    return switch


def hand_over(*paths: Path) -> None:
    """Change the owner of files and folders to the account that runs Postgres, if there is one."""
    if os.geteuid() != 0 or _user_namespace():
        return
    account = pwd.getpwnam(ACCOUNT)
    for path in paths:
        os.chown(path, account.pw_uid, account.pw_gid)


@functools.cache
def _user_namespace() -> tuple[str, ...]:
    # Map our files to an existing account inside the namespace, because initdb needs the account's name.
    someone = next((entry for entry in pwd.getpwall() if entry.pw_uid != 0), None)
    if someone is None or shutil.which("unshare") is None or shutil.which("setpriv") is None:
        return ()
    enter = ("unshare", "--user", f"--map-user={someone.pw_uid}", f"--map-group={someone.pw_gid}")
    return enter if _succeeds((*enter, "true")) else ()


def _make_account() -> None:
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        command = ("useradd", "--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT)
        if not _succeeds(command):
            raise StartError(
                f"Postgres cannot run as root, and making the account {ACCOUNT} failed: "
                "start as a normal user, or set DATABASE_URL."
            ) from None


def _succeeds(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
