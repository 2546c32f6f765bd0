"""The parts of a portal as processes that can be killed, frozen and begun again."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from portal.launcher import processes
from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Program

POLITE = 20.0  # s that a part has to end by itself


class Part:
    """One program, and the process that it is at present."""

    def __init__(self, program: Program, logs: Path, *, members: Callable[[], set[int]] | None = None) -> None:
        """`members` finds its processes where they are more than a group of their own."""
        self.program, self.name = program, program.name
        self._log = logs / f"{program.name}.log"
        self._members = members
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.program.prepare()
        with self._log.open("ab") as log:
            self._process = processes.spawn(
                self.program.command,
                death_signal=self.program.death_signal,
                env=self.program.environment,
                cwd=self.program.directory,
                pass_fds=self.program.files,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def await_ready(self) -> None:
        """
        Raises
        ------
        StartError
            If it ends, or is not ready in its time.
        """
        deadline = time.monotonic() + self.program.stalled_after
        while self.program.is_ready is not None and not self.program.is_ready():
            if self.has_ended() or time.monotonic() > deadline:
                raise StartError(f"{self.name} does not get ready:\n{self.latest()}")
            time.sleep(0.05)

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def latest(self) -> str:
        """The end of what it said."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines() if self._log.exists() else []
        return "\n".join(lines[-20:])

    # --- what happens to it -------------------------------------------------------------------------------------------
    def kill(self) -> None:
        """Without a warning, with all that it has started."""
        self._send(signal.SIGKILL)
        self._wait(POLITE)

    def kill_first(self) -> None:
        """Only its first process: the others have to notice."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        self._send(signal.SIGCONT)

    def end(self) -> None:
        """As an operator stops it; killed when it takes too long."""
        self.ask_to_end()
        self.await_end()

    def ask_to_end(self) -> None:
        if self._process is not None:
            self.thaw()
            self._process.send_signal(self.program.stop_signal)

    def await_end(self) -> None:
        if self._process is not None and not self._wait(POLITE):
            self.kill()

    def break_off(self) -> None:
        """At once, for nobody needs what it would still write."""
        if self._process is not None:
            self.thaw()
            self._process.send_signal(self.program.last_signal)
            if not self._wait(POLITE):
                self.kill()

    def _send(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        if self._members is not None:
            for process in self._members() | {self._process.pid}:
                processes.send(process, number)
        else:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _wait(self, within: float) -> bool:
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(within)
        return self.has_ended()
