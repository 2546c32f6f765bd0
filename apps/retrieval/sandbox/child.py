"""The child process: load its libraries, drop its privileges, and then serve requests until the end."""

import os
import pickle
import pkgutil
import struct
import sys
from importlib import import_module
from typing import BinaryIO

from apps.retrieval.sandbox.answers import encode
from apps.retrieval.sandbox.confinement import confine
from apps.sources.formats.feed import NotAFeed

HEADER = struct.Struct("!Q")  # size of what follows, in bytes
RESULT, ERROR, FAILURE = b"r", b"e", b"f"  # a result; an error that the function documents; any other
ERRORS = {kind.__name__: kind for kind in (NotAFeed, ValueError)}  # that functions document, or a base of it
MAX_MESSAGE = 2_000  # characters


def serve() -> None:
    """Serve the parent; the arguments of the command line name the functions to call first."""
    for encoding in pkgutil.iter_modules(import_module("encodings").__path__):
        if encoding.name not in {"mbcs", "oem"}:  # of Windows
            import_module(f"encodings.{encoding.name}")
    for address in sys.argv[1:]:
        module, _, function = address.partition(":")
        getattr(import_module(module), function)()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):  # a document must not write to the parent's log either
        os.dup2(nothing, stream.fileno())
    os.close(nothing)
    _send(answers, RESULT + encode(confine()))
    while header := sys.stdin.buffer.read(HEADER.size):
        _send(answers, _answer(sys.stdin.buffer.read(HEADER.unpack(header)[0])))


def _answer(request: bytes) -> bytes:
    try:
        function, arguments, named = pickle.loads(request)  # safe, since only the parent sends it
        return RESULT + encode(function(*arguments, **named))
    except Exception as error:
        name = next((each.__name__ for each in type(error).__mro__ if each.__name__ in ERRORS), None)
        if name:
            return ERROR + encode((name, str(error)[:MAX_MESSAGE]))
        return FAILURE + encode((type(error).__name__, str(error)[:MAX_MESSAGE]))


def _send(stream: BinaryIO, content: bytes) -> None:
    stream.write(HEADER.pack(len(content)))
    stream.write(content)
    stream.flush()
