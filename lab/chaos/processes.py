"""Processes of a portal that can be killed, frozen and restarted."""

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

STOP_TIMEOUT_SECONDS = 20.0


class Process:
    """A program and its current process."""

    def __init__(self, program: Program, logs: Path, *, members: Callable[[], set[int]] | None = None) -> None:
        """`members` finds the processes of a program that does not keep them in one process group."""
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
            If it exits or is not ready in time.
        """
        deadline = time.monotonic() + self.program.stalled_after
        while self.program.is_ready is not None and not self.program.is_ready():
            if self.has_ended() or time.monotonic() > deadline:
                raise StartError(f"{self.name} does not get ready:\n{self.latest()}")
            time.sleep(0.05)

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def latest(self) -> str:
        """The last lines of its log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines() if self._log.exists() else []
        return "\n".join(lines[-20:])

    # --- faults -------------------------------------------------------------------------------------------------------
    def kill(self) -> None:
        """Kill it with all of its children, without warning."""
        self._send(signal.SIGKILL)
        self._wait(STOP_TIMEOUT_SECONDS)

    def kill_first(self) -> None:
        """Kill the parent alone; its children have to notice."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        self._send(signal.SIGCONT)

    def end(self) -> None:
        """Stop it as an operator does; kill it after the timeout."""
        self.request_stop()
        self.await_stop()

    def request_stop(self) -> None:
        if self._process is not None:
            self.thaw()
            self._process.send_signal(self.program.stop_signal)

    def await_stop(self) -> None:
        if self._process is not None and not self._wait(STOP_TIMEOUT_SECONDS):
            self.kill()

    def stop_now(self) -> None:
        """Stop it at once: its remaining output is not needed."""
        if self._process is None:
            return
        self.thaw()
        if self.program.last_signal != signal.SIGKILL:
            self._process.send_signal(self.program.last_signal)
            if self._wait(STOP_TIMEOUT_SECONDS):
                return
        self.kill()  # its children, too: RabbitMQ is the child of a script

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
