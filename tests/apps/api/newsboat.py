"""Debian's newsboat, driven without a screen: a reader that knows nothing of us, and speaks the dialects of others."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path
from struct import pack
from termios import TIOCSWINSZ

PROGRAM = shutil.which("newsboat")
PATIENCE = 30.0  # s
QUIET = 0.15  # s without output: what was to be drawn is drawn
ENTER, REDRAW, EDIT_FLAGS = "\r", "\x0c", "\x05"
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>]|\][^\x07]*\x07)|[\x00-\x09\x0b-\x1f]")
_MOVE = re.compile(r"\x1b\[\d*;?\d*[Hd]")  # to another place on the screen: a space between words at least


class Newsboat:
    """One reader with a configuration and a cache of its own.

    Parameters
    ----------
    directory : Path
        Where its files lie; another one on the same directory knows what the one before has read.
    config : iterable of str
        Lines that say which dialect it speaks, with whom, and as whom.
    """

    def __init__(self, directory: Path, config: Iterable[str]) -> None:
        self._directory = directory
        (directory / "urls").touch()
        lines = ["refresh-on-startup no", "confirm-exit no", "show-read-feeds yes", *config]
        (directory / "config").write_text("".join(f"{line}\n" for line in lines))

    def run(self, *commands: str, patience: float = PATIENCE) -> str:
        """What it prints when it carries out commands such as `reload` and `print-unread`."""
        done = subprocess.run(
            [*self._call(), "-x", *commands], env=self._environment(), capture_output=True, text=True, timeout=patience
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def screen(self) -> Iterator["Screen"]:
        """The reader on a terminal, with its list of feeds shown; it is ended afterwards."""
        terminal, end = pty.openpty()
        ioctl(terminal, TIOCSWINSZ, pack("HHHH", 40, 120, 0, 0))
        reader = subprocess.Popen(
            self._call(), env=self._environment(), stdin=end, stdout=end, stderr=end, start_new_session=True
        )
        os.close(end)
        try:
            screen = Screen(terminal)
            screen.wait_for("Your feeds")
            yield screen
        finally:
            reader.kill()
            reader.wait()
            os.close(terminal)

    def _call(self) -> list[str]:
        files = {"-u": "urls", "-C": "config", "-c": "cache.db"}
        return [str(PROGRAM), *(part for flag, name in files.items() for part in (flag, str(self._directory / name)))]

    def _environment(self) -> dict[str, str]:
        return {"HOME": str(self._directory), "TERM": "xterm", "LANG": "C.UTF-8", "PATH": os.environ["PATH"]}


class Screen:
    """What a terminal shows, and its keyboard."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal

    def press(self, *keys: str) -> None:
        """Press keys, each after the effect of the one before is drawn."""
        for key in keys:
            os.write(self._terminal, key.encode())
            self._read()

    def screen(self) -> str:
        """The screen, redrawn completely, because curses writes only what has changed."""
        os.write(self._terminal, REDRAW.encode())
        drawn = self._read(first=PATIENCE)
        return _CONTROL.sub("", _MOVE.sub("\n", drawn))

    def wait_for(self, words: str) -> str:
        """All that is shown as soon as the words are on it."""
        shown = ""

        def is_there() -> bool:
            nonlocal shown
            shown = self.screen()
            return words in shown

        self.wait_until(is_there, lambda: f"{words!r} never came. What is shown:\n{shown}")
        return shown

    def wait_until(
        self, is_so: Callable[[], object], otherwise: Callable[[], str] = lambda: "it never came about"
    ) -> None:
        """Let the reader go on until something is so, perhaps elsewhere: it speaks with servers in the background."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, otherwise()
            self._read(first=0.05)

    def _read(self, first: float = QUIET) -> str:
        """What is drawn until no more output follows. `first` is how long the beginning of it may take, in s."""
        drawn, patience = b"", first
        while select.select([self._terminal], [], [], patience)[0]:
            with suppress(OSError):  # the reader has ended
                drawn += os.read(self._terminal, 65_536)
                patience = QUIET
                continue
            break
        return drawn.decode(errors="replace")
