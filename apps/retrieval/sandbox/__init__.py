"""Process documents that may be hostile in a confined child process with limits on time and memory.

A busy parser cannot be interrupted within its own process, one that uses all memory ends the process, and an exploited
one controls it. So documents of web pages are read by a child that can open no file, connection or process
(`confinement`). It gets a function with its arguments, and responds in JSON (`answers`).
"""

import atexit
import logging
import pickle
import threading
import typing
from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeVar

from apps.database import machine
from apps.retrieval.sandbox.process import Child, Crashed, TooSlow

CHILDREN = 1 if machine.is_small() else 2  # at most, of each process
SECONDS = 20.0  # what one call may take
KEPT_SECONDS = 60.0  # that a child without work lives on

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

logger = logging.getLogger(__name__)

LOADED: tuple[str, ...] = ("apps.retrieval.sandbox.loading:functions",)

_places = threading.BoundedSemaphore(CHILDREN)
_lock = threading.Lock()
_idle: list[Child] = []


def run(function: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
    """Call a function in a child process; it is one of a module that `loading` imports, or in LOADED.

    Its arguments must be picklable, and its annotated result of types that `answers` supports. Raises TooSlow or
    Crashed if the child had to be ended or the function failed, and NotAFeed and ValueError as the function does.
    """
    kind = _result_kind(function)
    request = pickle.dumps((function, arguments, named), protocol=pickle.HIGHEST_PROTOCOL)
    with _places:
        child = _child()
        try:
            value: Result = child.call(request, kind, SECONDS)
        except (TooSlow, Crashed) as error:
            logger.warning("A child process was ended in %s: %s", function.__name__, error)
            child.end()
            raise
        except ValueError:
            _release(child)
            raise
        except BaseException:
            child.end()
            raise
        _release(child)
    return value


@cache
def _result_kind(function: Callable[..., Any]) -> Any:
    return typing.get_type_hints(function)["return"]


def measures() -> list[str]:
    """The names of the measures of `confinement` that hold for the children on this machine."""
    with _places:
        child = _child()
        _release(child)
        return child.measures


def stop() -> None:
    """End the children that have nothing to do."""
    with _lock:
        while _idle:
            _idle.pop().end()


atexit.register(stop)


def _child() -> Child:
    """An idle child, or a new one."""
    with _lock:
        if _idle:
            child = _idle.pop()
            child.ending.cancel()
            return child
    return Child(*LOADED)


def _release(child: Child) -> None:
    if child.is_used_up:
        child.end()
    else:
        with _lock:
            _idle.append(child)
            child.ending = threading.Timer(KEPT_SECONDS, _end_idle, [child])
            child.ending.daemon = True
            child.ending.start()


def _end_idle(child: Child) -> None:
    with _lock:
        if child in _idle:
            _idle.remove(child)
            child.end()
