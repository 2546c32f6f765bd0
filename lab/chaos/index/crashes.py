"""The index while its writer, its maintainer and Postgres are killed: nothing confirmed may be lost.

Postgres runs with the durability settings of a real portal; only generations are small, so that many segments are built
and merged in a short time.
"""

import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab import throwaway
from lab.chaos.index.exercise import read_output, start
from portal.launcher import embedded, privileges, processes, servers
from portal.launcher.console import QUIET, Console
from portal.launcher.embedded import StartError
from portal.launcher.supervisor import Supervisor

ROOT = Path(__file__).resolve().parents[3]
READERS = 2
LEVELS = "64,256,1024"  # documents of a generation: smallest, middle, largest
FIRST_BATCHES = 12  # before the first kill
MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.4, 1.6  # between two kills
RECOVERY_TIMEOUT_SECONDS = 240.0  # the machine may be busy


@dataclass
class Proof:
    """What was killed, what was confirmed meanwhile, and a sentence for each fault."""

    kills: dict[str, int] = field(default_factory=dict)  # by victim
    postings: int = 0  # confirmed
    steps: int = 0  # segments built or merged
    answers: int = 0
    faults: list[str] = field(default_factory=list)


def prove(kills: int, *, seed: int, log: Callable[[str], None] = lambda _: None) -> Proof:
    """Kill the writer, a session of Postgres, the maintainer and all of Postgres in turn while readers search."""
    chance = random.Random(seed)
    with _trial() as trial:
        victims = [trial.kill_writer, trial.kill_session, trial.kill_maintainer, trial.kill_postgres]
        trial.await_progress(FIRST_BATCHES)
        for number in range(kills):
            time.sleep(chance.uniform(MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS))
            victim = victims[number % len(victims)]
            name = victim.__name__.removeprefix("kill_")
            log(f"kill -9 of {name}")
            victim(chance)
            trial.proof.kills[name] = trial.proof.kills.get(name, 0) + 1
            trial.await_progress(1)
        return trial.conclude()


@contextmanager
def _trial() -> "Iterator[_Trial]":
    var = Path(tempfile.mkdtemp(prefix="wirebeat-crashes-"))
    privileges.hand_over(var)
    trial = _Trial(var)
    try:
        trial.begin()
        yield trial
    finally:
        trial.end()
        shutil.rmtree(var, ignore_errors=True)


class _Trial:
    def __init__(self, var: Path) -> None:
        self.proof = Proof()
        self._var = var
        self._data = var / "pg"
        self._sockets = embedded.make_run_directory(var)
        self._environment = {"DATABASE_URL": embedded.database_url(var)}
        self._supervisor = Supervisor(Console(var / "log", QUIET))
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._writers: list[Path] = []

    def begin(self) -> None:
        throwaway.copy_migrated_cluster(self._data)
        self._start_postgres()
        self._start_writer()
        self._start_maintainer()
        self._await(lambda: self._count("added") >= FIRST_BATCHES, "the writer")
        for number in range(READERS):
            self._start(f"reader{number}", "read", "--label", str(number))

    def end(self) -> None:
        for process in self._running.values():
            process.kill()
            process.wait()
        self._supervisor.stop()
        shutil.rmtree(self._sockets, ignore_errors=True)

    # --- kills --------------------------------------------------------------------------------------------------------
    def kill_writer(self, _: random.Random) -> None:
        self._kill("writer")
        self._start_writer()

    def kill_maintainer(self, _: random.Random) -> None:
        self._kill("maintainer")
        self._start_maintainer()

    def kill_session(self, chance: random.Random) -> None:
        """Kill one of Postgres' backends; Postgres then ends the others and recovers."""
        sessions = [
            process
            for process in processes.living_in(self._data, "postgres")
            if f" {embedded.DATABASE} " in _command_line(process)
        ]
        if sessions:
            processes.send(chance.choice(sorted(sessions)), signal.SIGKILL)

    def kill_postgres(self, _: random.Random) -> None:
        """Kill the postmaster; its children exit when they notice."""
        [[server]] = self._supervisor.stages
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        self._supervisor.console.forget("postgres")
        self._start_postgres()

    # --- recovery -----------------------------------------------------------------------------------------------------
    def await_progress(self, batches: int) -> None:
        """Wait until `batches` more batches are confirmed and every reader has searched once more."""
        confirmed = self._count("added") + batches
        answers = [len(self._answers(number)) for number in range(READERS)]
        self._await(
            lambda: (
                self._count("added") >= confirmed
                and all(len(self._answers(number)) > before for number, before in enumerate(answers))
            ),
            "the index",
        )

    def conclude(self) -> Proof:
        for name in list(self._running):
            self._kill(name)
        proof = self.proof
        confirmed = [line["stored"] for line in self._lines() if "stored" in line]
        proof.postings = len({guid for words in confirmed for guid in words})
        proof.steps = sum(line.get("steps", 0) for line in read_output(self._var / "maintainer"))
        for number in range(READERS):
            answers = self._answers(number)
            proof.answers += len(answers)
            proof.faults += [fault for answer in answers for fault in answer["faults"]]
        output = self._var / "proof"
        prover = start("prove", *map(str, self._writers), output=output, **self._environment)
        prover.wait()
        verdicts = read_output(output)
        proof.faults += verdicts[0]["faults"] if verdicts else ["The index could not be read."]
        return proof

    def _start_postgres(self) -> None:
        self._supervisor.stages.clear()
        settings = servers.postgres_settings(shared_buffers=128 * 2**20)
        self._supervisor.start(servers.postgres(self._data, self._sockets, settings))

    def _start_writer(self) -> None:
        self._writers.append(self._var / f"writer{len(self._writers)}")
        label = f"w{len(self._writers)}"
        self._start(
            "writer", "write", "--label", label, "--levels", LEVELS, "--pause", "0.05", output=self._writers[-1]
        )

    def _start_maintainer(self) -> None:
        self._start("maintainer", "maintain", "--levels", LEVELS, "--pause", "0.05")

    def _start(self, name: str, kind: str, *arguments: str, output: Path | None = None) -> None:
        self._running[name] = start(kind, *arguments, output=output or self._var / name, **self._environment)

    def _kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def _await(self, is_so: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + RECOVERY_TIMEOUT_SECONDS
        while not is_so():
            for name, process in self._running.items():
                if process.poll() is not None:
                    raise StartError(f"The {name} of the trial exited by itself; the lines above say why.")
            if time.monotonic() > deadline:
                raise StartError(f"For {RECOVERY_TIMEOUT_SECONDS:.0f} seconds {what} did nothing.")
            processes.pause(0.05)

    def _lines(self) -> list[dict[str, Any]]:
        return [line for output in self._writers for line in read_output(output)]

    def _count(self, what: str) -> int:
        return sum(what in line for line in self._lines())

    def _answers(self, number: int) -> list[dict[str, Any]]:
        return [line for line in read_output(self._var / f"reader{number}") if "faults" in line]


def _command_line(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text(encoding="utf-8", errors="replace").replace("\0", " ")
    return ""


def figures(proof: Proof) -> dict[str, int]:
    kills = {f"kills_of_{name}": count for name, count in proof.kills.items()}
    found = {"postings": proof.postings, "steps": proof.steps, "answers": proof.answers, "faults": len(proof.faults)}
    return kills | found
