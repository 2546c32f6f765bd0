"""A trial waits as long as something still changes, and no longer."""

import pytest

from lab.chaos import watch
from portal.launcher.embedded import StartError


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that only waiting moves."""

    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

        def sleep(self, seconds: float) -> None:
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(watch, "time", clock)
    return clock


def test_waits_while_the_value_changes(clock):
    left = iter([*(f"{count} changes" for count in range(10, 0, -1) for _ in range(50)), ""])
    assert watch.wait_for(lambda: next(left), "them", stalled_after=6.0) == pytest.approx(50.0)


@pytest.mark.parametrize("changes", [False, True])
def test_waiting_ends_if_nothing_changes_or_changes_never_end(clock, changes):
    with pytest.raises(StartError, match="for them; still missing: change"):
        watch.wait_for(lambda: f"change {clock.now if changes else 1}", "them", stalled_after=6.0)
    assert clock.now == pytest.approx(60.0 if changes else 6.0, abs=1.0)
