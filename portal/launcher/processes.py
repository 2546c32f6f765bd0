"""Children that never outlive their parent, and stop signals that are blocked until `pause` receives them."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import psutil

STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
SI_KERNEL = 0x80  # sent by the terminal, hence to every process of the foreground
SENT = frozenset({SI_KERNEL, 0, -1, -6})  # the others by kill, sigqueue and tgkill
EXPENDABLE = 500  # oom_score_adj, in thousandths of the memory
PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_CHILD_SUBREAPER = 1, 15, 36
MADV_DONTNEED = 4
_libc = ctypes.CDLL(None)
_prctl = _libc.prctl  # looked up here, as little is safe between fork and exec


class Stopped(Exception):
    """This process received a stop signal."""

    def __init__(self, number: int, by_terminal: bool) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number
        self.by_terminal = by_terminal


def hold_signals() -> None:
    """Block stop signals and SIGCHLD, which `pause` then receives.

    Signals that were ignored from the start (SIGHUP below nohup) stay so. To be called before any thread is started, as
    threads inherit the mask; children do not.
    """
    ignored = {number for number in STOP_SIGNALS if signal.getsignal(number) is signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, (STOP_SIGNALS - ignored) | {signal.SIGCHLD})


def pause(seconds: float, *, until: frozenset[signal.Signals] = STOP_SIGNALS) -> None:
    """Sleep for `seconds`, or until a child ends. Raises `Stopped` for a blocked signal of `until`."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    awaited = held & (until | {signal.SIGCHLD})
    if not awaited:
        time.sleep(seconds)
        return
    received = signal.sigtimedwait(awaited, max(0.0, seconds))
    # If the time ends while the process is stopped (Ctrl-Z), Python returns uninitialized memory.
    if received is not None and received.si_signo in awaited - {signal.SIGCHLD} and received.si_code in SENT:
        raise Stopped(received.si_signo, by_terminal=received.si_code == SI_KERNEL)


def end_with_parent(parent: int, death_signal: int = signal.SIGTERM) -> None:
    """In a child: have the kernel send it a signal when the thread of the parent that started it ends."""
    _prctl(PR_SET_PDEATHSIG, death_signal)
    if os.getppid() != parent:  # the parent died before the call of prctl
        os._exit(1)


def spawn(
    command: Sequence[str | Path], *, death_signal: int = signal.SIGTERM, in_our_group: bool = False, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a child that gets `death_signal` when this process dies, however it dies. For the main thread only.

    The kernel sends that signal when the *thread* ends that started the child. In a separate group, the child does not
    get the terminal's Ctrl-C, so that this process determines the order of a stop.
    """
    parent = os.getpid()

    def between_fork_and_exec() -> None:
        end_with_parent(parent, death_signal)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    return subprocess.Popen(
        [str(part) for part in command],
        stdin=options.pop("stdin", subprocess.DEVNULL),
        process_group=None if in_our_group else 0,
        preexec_fn=between_fork_and_exec,
        **options,
    )


class Forked:
    """A child that another process has forked for this one, with the part of the interface of `Popen` that is used."""

    def __init__(self, pid: int, stdout: BinaryIO) -> None:
        self.pid, self.stdout = pid, stdout
        self.returncode: int | None = None

    def poll(self, options: int = os.WNOHANG) -> int | None:
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, options)
            self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self) -> int:
        return self.poll(0) or 0

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


Process = subprocess.Popen[bytes] | Forked


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def reap(ours: Collection[int]) -> None:
    """Remove adopted children that have ended; `ours` are waited for elsewhere."""
    with suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in ours:
                return
            os.waitpid(ended.si_pid, 0)


def return_freed_memory() -> None:
    """Return to the kernel what was freed, which glibc keeps."""
    getattr(_libc, "malloc_trim", int)(0)


def trim_memory() -> None:
    """Return memory to the kernel: what was freed, which glibc keeps, and pages of libraries, which the kernel caches.

    Not of mappings that were written to, such as relocations: that memory is anonymous, and would be lost.
    """
    return_freed_memory()
    with suppress(psutil.Error, AttributeError):  # not every kernel shows mappings
        for mapping in psutil.Process().memory_maps(grouped=False):
            if mapping.path.startswith("/") and "w" not in mapping.perms and not mapping.anonymous + mapping.swap:
                begin, end = (int(address, 16) for address in mapping.addr.split("-"))
                _libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_DONTNEED)


def show_as(name: str) -> None:
    """The name of this process that ps and top show."""
    _prctl(PR_SET_NAME, f"wirebeat {name}".encode()[:15])


def cpu_seconds(process: int) -> float:
    """CPU time of a process, of its descendants, and of those that have ended and were waited for."""
    with suppress(psutil.NoSuchProcess):
        descendants = psutil.Process(process).children(recursive=True)
        return sum(map(own_cpu_seconds, [process, *(each.pid for each in descendants)]))
    return 0.0


def own_cpu_seconds(process: int) -> float:
    """CPU time of a process and of its children that have ended; 0 if it has ended itself."""
    with suppress(psutil.NoSuchProcess):
        return float(sum(psutil.Process(process).cpu_times()[:4]))
    return 0.0


def own_memory(process: int) -> int:
    """Bytes of a process that it shares with no other; 0 if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return int(psutil.Process(process).memory_full_info().uss)
    return 0


def make_expendable(process: int) -> None:
    """Have the kernel end a process before others if memory is short."""
    with suppress(OSError):  # it has ended, or may not be
        Path(f"/proc/{process}/oom_score_adj").write_text(str(EXPENDABLE), encoding="ascii")


def living_in(directory: Path, program: str) -> set[int]:
    """Ids of the processes named `program` whose working directory is `directory`.

    This finds a server of an earlier start reliably; an id from a file may belong to another process by now, or to a
    zombie.
    """
    home = os.path.realpath(directory)
    running = psutil.process_iter(["name", "cwd"])
    return {each.pid for each in running if each.info["name"] == program and each.info["cwd"] == home}


def send(process: int, number: int) -> None:
    """Send a signal to a process that may just have ended, or, by its negative id, to what is left of a group."""
    with suppress(ProcessLookupError):
        os.kill(process, number)
