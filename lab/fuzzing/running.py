"""One target at work: inputs are mutated, run and kept if they reach lines that no other has reached."""

import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase

from lab.fuzzing.corpus import Corpus
from lab.fuzzing.inputs import edited, shortened
from lab.fuzzing.targets import Target

BATCH = 200  # inputs made from one state of the corpus
CPU_SECONDS = 10.0  # for one input; it is at most 20 kB, and tracing slows it down several times
MAX_FINDINGS = 20  # per target
APPS = str(Path(__file__).resolve().parents[2])


class TooSlow(Exception):
    """An input takes more processor time than any may."""


@dataclass(frozen=True, slots=True)
class Finding:
    error: str
    where: str  # file and line of the project that raised it
    file: Path | None  # that holds the shortest input


@dataclass(slots=True)
class Report:
    inputs: int = 0
    seconds: float = 0.0
    added: int = 0
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)  # by kind of error and place


class Runner:
    """Runs a target within limits of inputs or time."""

    def __init__(self, target: Target, corpus: Corpus, *, seed: int, advance: Callable[[], object]) -> None:
        self._target, self._corpus, self._seed, self._advance = target, corpus, seed, advance
        self._reached: set[tuple[CodeType, int]] = set()
        self._known: list[bytes] = []
        self.report = Report()

    def run(self, seeds: Sequence[bytes], *, inputs: int | None, seconds: float) -> Report:
        """Run the seeds, the corpus, and then mutations, until the number of inputs or the time is reached."""
        begin = time.monotonic()
        if crashed := self._corpus.crashed():
            self.report.findings["crash", ""] = Finding("The process of an earlier run ended.", "", crashed)
        with _limited_processor_time():
            for content in [*seeds, *self._target.seeds]:
                self._try(content, is_seed=True)
            for content in self._corpus:
                self._try(content, is_seed=True)
            batch = 0
            is_over: Callable[[], bool] = lambda: (  # noqa: E731
                self.report.inputs >= inputs if inputs is not None else time.monotonic() - begin >= seconds
            )
            while not is_over():
                self._run_batch(self._seed * 1_000_003 + batch, is_over)
                batch += 1
        self._corpus.end()
        self.report.seconds = time.monotonic() - begin
        return self.report

    def _run_batch(self, seed: int, is_over: Callable[[], bool]) -> None:
        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=BATCH,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(edited(list(self._known), self._target.words))
        def run(content: bytes) -> None:
            if not is_over():
                self._try(content)

        run()

    def _try(self, content: bytes, *, is_seed: bool = False) -> None:
        self._corpus.begin(content)
        error, reached = self._outcome(content)
        self.report.inputs += 1
        self._advance()
        is_new = not reached <= self._reached
        self._reached |= reached
        if is_seed or is_new:
            self._known.append(content)
        if is_new and not is_seed:
            self._corpus.add(content)
            self.report.added += 1
        if error is not None:
            self._note(content, error)

    def _outcome(self, content: bytes) -> tuple[Exception | None, set[tuple[CodeType, int]]]:
        """The error that is not documented, and the lines of the project that were reached."""
        reached: set[tuple[CodeType, int]] = set()

        def lines(frame: FrameType, event: str, argument: Any) -> Any:
            reached.add((frame.f_code, frame.f_lineno))
            return lines

        def calls(frame: FrameType, event: str, argument: Any) -> Any:
            return lines if frame.f_code.co_filename.startswith(APPS) else None

        before = sys.gettrace()
        signal.setitimer(signal.ITIMER_VIRTUAL, CPU_SECONDS)
        sys.settrace(calls)
        try:
            self._target.run(content)
        except self._target.documented:
            return None, reached
        except Exception as error:
            return error, reached
        finally:
            sys.settrace(before)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return None, reached

    def _note(self, content: bytes, error: Exception) -> None:
        kind = _kind(error)
        if kind in self.report.findings or len(self.report.findings) >= MAX_FINDINGS:
            return
        if not isinstance(error, TooSlow):
            content = shortened(content, lambda candidate: self._fails_as(candidate, kind))
        words = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        self.report.findings[kind] = Finding(words, kind[1], self._corpus.add_failure(content))

    def _fails_as(self, content: bytes, kind: tuple[str, str]) -> bool:
        error, _ = self._outcome(content)
        return error is not None and _kind(error) == kind


def _kind(error: Exception) -> tuple[str, str]:
    """Errors of one type that come from one line of the project are one finding."""
    place, trace = "", error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename.startswith(APPS):
            place = f"{Path(trace.tb_frame.f_code.co_filename).relative_to(APPS)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return type(error).__name__, "" if isinstance(error, TooSlow) else place


@contextmanager
def _limited_processor_time() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"It takes more than {CPU_SECONDS:g} s of processor time.")

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)
