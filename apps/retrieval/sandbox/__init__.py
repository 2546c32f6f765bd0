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

from apps.retrieval.sandbox.process import Child, Crashed, TooSlow

CHILDREN = 2  # at most, of each process
SECONDS = 20.0  # what one call may take

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

logger = logging.getLogger(__name__)

LOADED: tuple[str, ...] = ("apps.retrieval.sandbox.loading:functions",)
MODELS = "apps.retrieval.sandbox.loading:models"
NEEDS_MODELS = frozenset({"read_site_page", "extract_article"})

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
        child = _child(needs_models=function.__name__ in NEEDS_MODELS)
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
        child = _child(needs_models=False)
        _release(child)
        return child.measures


def stop() -> None:
    """End the children that have nothing to do."""
    with _lock:
        while _idle:
            _idle.pop().end()


atexit.register(stop)


def _child(*, needs_models: bool) -> Child:
    """An idle child, or a new one, which replaces an idle one without the models that it needs."""
    with _lock:
        fit = [child for child in _idle if MODELS in child.loaded or not needs_models]
        child = min(fit, key=lambda each: len(each.loaded)) if fit else None
        ended = _idle[0] if child is None and _idle else None
        for each in filter(None, (child, ended)):
            _idle.remove(each)
    if ended:
        ended.end()
    return child or Child(*LOADED, *([MODELS] if needs_models else []))


def _release(child: Child) -> None:
    if child.is_used_up:
        child.end()
    else:
        with _lock:
            _idle.append(child)
