"""Creates the virtual environment on the first use of `manage.py`, with the standard library alone.

`.venv/stamp` has the version of its Python, then a line for each installed lock file; during an installation it has
`UNFINISHED` instead, so that an interrupted one starts again.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
import venv
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
STAMP = ENVIRONMENT / "stamp"
RUNNING = ROOT / "portal" / "requirements.lock"
TESTING = ROOT / "portal" / "requirements-test.lock"  # everything of RUNNING, and the tools of the tests
NEEDING_TOOLS = ("test", "evaluate_", "train_", "screenshots", "contact_sheets")  # other packages, and a browser
UNFINISHED = "unfinished"
UV = "uv==0.13.8"  # installs seven times as fast as pip


def enter(arguments: list[str]) -> None:
    """Return inside the complete virtual environment; elsewhere create it and run the same command in it."""
    if os.environ.get("WIREBEAT_NO_VENV"):
        return
    command = "".join(arguments[1:2])
    lock = TESTING if command.startswith(NEEDING_TOOLS) else RUNNING
    if not _is_installed(lock):
        with _one_at_a_time():
            if not _is_installed(lock):
                _install(lock)
    if Path(sys.prefix).resolve() != ENVIRONMENT.resolve():
        os.execv(PYTHON, [str(PYTHON), *sys.orig_argv[1:]])


def _is_installed(lock: Path) -> bool:
    lines = _stamp()
    return PYTHON.exists() and lines[:1] == [_python_line()] and _lock_line(lock) in lines


def _stamp() -> list[str]:
    try:
        return STAMP.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _python_line() -> str:
    return " ".join(sys.version.split())


def _lock_line(lock: Path) -> str:
    return f"{lock.name} {zlib.crc32(lock.read_bytes()):08x}"


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold the lock of the installation; a second command waits for the first."""
    with RUNNING.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("Waiting for another command of this checkout, which is installing.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _install(lock: Path) -> None:
    started = time.monotonic()
    if not _is_usable():
        _say("Installing what Wirebeat needs into .venv; this happens once.")
        _step("making the virtual environment", _make_environment)
    # The running lock is part of the testing one, so both are inside then.
    inside = [_lock_line(each) for each in ([RUNNING, TESTING] if lock == TESTING else [RUNNING])]
    STAMP.write_text(f"{UNFINISHED}\n", encoding="utf-8")
    if not (ENVIRONMENT / "bin" / "uv").exists():
        _step("fetching the installer", _fetch_installer)
    _step(f"installing {_count(lock)} packages", lambda: _install_packages(lock), shows_progress=sys.stderr.isatty())
    STAMP.write_text("\n".join([_python_line(), *inside, ""]), encoding="utf-8")
    _say(f"Installed in {time.monotonic() - started:.0f} s.")


def _is_usable() -> bool:
    """Whether `.venv` was made by this Python and still runs. It may have no stamp, if a user made it."""
    if UNFINISHED in _stamp() or not PYTHON.exists():
        return False
    answer = subprocess.run(
        [PYTHON, "-c", "import pip, sys; print(' '.join(sys.version.split()))"],
        capture_output=True,
        text=True,
        check=False,
    )
    return answer.stdout.strip() == _python_line()


def _make_environment() -> None:
    if ENVIRONMENT.is_symlink() or ENVIRONMENT.is_file():
        ENVIRONMENT.unlink()
    try:
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
    except (subprocess.CalledProcessError, ImportError):
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        sys.exit("This Python cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv")


def _fetch_installer() -> None:
    command = [str(PYTHON), "-m", "pip", "install", "-qq", "--disable-pip-version-check", UV]
    subprocess.run(command, check=False)  # without uv for this machine, pip is used


def _install_packages(lock: Path) -> None:
    python = str(PYTHON)
    quietly = [] if sys.stderr.isatty() else ["--quiet"]
    requirements = ["--require-hashes", "--requirement", str(lock)]
    # Compiling on first use takes a third of the time of compiling everything here.
    for command in (
        [python, "-m", "uv", "pip", "install", *quietly, "--system-certs", "--python", python, *requirements],
        [python, "-m", "pip", "install", "-qq", *requirements],
    ):
        if subprocess.run(command, check=False).returncode == 0:
            return
    sys.exit("The packages could not be installed; the lines above say why. The next command tries again.")


def _count(lock: Path) -> int:
    return sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines() if line[:1] not in " #")


def _step(what: str, do: Callable[[], None], *, shows_progress: bool = False) -> None:
    started = time.monotonic()
    _say(f"  {what} ", end="\n" if shows_progress else "")
    do()
    _say(f"  {time.monotonic() - started:.1f} s")


def _say(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)
