"""Children that never outlive their parent, and signals that wait until they are asked for."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
SI_KERNEL = 0x80  # sent by the terminal, hence to every process of the foreground
SENT = frozenset({SI_KERNEL, 0, -1, -6})  # the others by kill, sigqueue and tgkill
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")  # per s
_prctl = ctypes.CDLL(None).prctl  # looked up here, since little is safe between fork and exec


class Stopped(Exception):
    """Somebody asked this process to stop."""

    def __init__(self, number: int, by_terminal: bool) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.by_terminal = by_terminal


def hold_signals() -> None:
    """From now on, requests to stop and the ends of children interrupt nothing: `pause` sees them.

    What was ignored from the start (SIGHUP below nohup) stays so. To be called before any thread is started, as
    threads inherit it; children do not.
    """
    ignored = {number for number in STOP_SIGNALS if signal.getsignal(number) is signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, (STOP_SIGNALS - ignored) | {signal.SIGCHLD})


def pause(seconds: float, *, heeding: frozenset[signal.Signals] = STOP_SIGNALS) -> None:
    """Sleep for `seconds`, or until a child ends. Raises `Stopped` for a held signal of `heeding`."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    awaited = held & (heeding | {signal.SIGCHLD})
    if not awaited:
        time.sleep(seconds)
        return
    received = signal.sigtimedwait(awaited, max(0.0, seconds))
    # Where the time was over while the process was stopped (Ctrl-Z), Python gives what happened to lie in memory.
    if received is not None and received.si_signo in awaited - {signal.SIGCHLD} and received.si_code in SENT:
        raise Stopped(received.si_signo, by_terminal=received.si_code == SI_KERNEL)


def spawn(
    command: Sequence[str | Path], *, death_signal: int = signal.SIGTERM, in_our_group: bool = False, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a child that gets `death_signal` when this process dies, however it dies. For the main thread only.

    The kernel sends that signal when the *thread* ends that started the child. A group of its own keeps the terminal's
    Ctrl-C from the child, so that it is this process that decides on the order of a stop.
    """
    parent = os.getpid()

    def between_fork_and_exec() -> None:
        _prctl(PR_SET_PDEATHSIG, death_signal)
        if os.getppid() != parent:  # it died before it could be promised
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    return subprocess.Popen(
        [str(part) for part in command],
        stdin=options.pop("stdin", subprocess.DEVNULL),
        process_group=None if in_our_group else 0,
        preexec_fn=between_fork_and_exec,
        **options,
    )


def adopt_orphans() -> None:
    """From now on, descendants that lose their parent become our children, instead of those of the system."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def reap_orphans(own: Collection[int]) -> None:
    """Collect adopted children that have ended; those in `own` are left to whoever started them."""
    with suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in own:
                return
            os.waitpid(ended.si_pid, 0)


def has_children(process: int) -> bool:
    return any(parent == process for parent, _ in _table().values())


def cpu_seconds(process: int) -> float:
    """CPU time of a process, of its descendants, and of those that have ended and were waited for."""
    table = _table()
    family = {process}
    while more := {child for child, (parent, _) in table.items() if parent in family} - family:
        family |= more
    return sum(table[member][1] for member in family & table.keys())


def _table() -> dict[int, tuple[int, float]]:
    """The parent and the CPU time in seconds of every process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            used = sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
            found[int(entry.name)] = int(fields[1]), used / _TICKS
    return found


def send_to_group(group: int, number: int) -> bool:
    """Send a signal to a process group; whether there was anybody left in it."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def living_in(directory: Path, program: str) -> set[int]:
    """Ids of the processes named `program` whose working directory is `directory`.

    This finds a server of an earlier start for certain, where an id from a file may by now be another process, or a
    dead one that nobody has reaped.
    """
    home = os.path.realpath(directory)
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            is_there = entry.name.isdecimal() and os.readlink(entry / "cwd") == home
            if is_there and (entry / "comm").read_text(encoding="utf-8", errors="replace").strip() == program:
                found.add(int(entry.name))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def send(process: int, number: int) -> None:
    """Send a signal to a process that may just have ended."""
    with suppress(ProcessLookupError):
        os.kill(process, number)
