"""Results of the child process as JSON: written from dataclasses, read back against the type that the caller expects.

Nothing that the child sends chooses what the parent constructs: each value is checked against the annotation of the
called function, and only its dataclasses are instantiated.
"""

import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from math import isfinite
from typing import Any

Decoder = Callable[[Any], Any]


class Malformed(ValueError):
    """The bytes are not JSON, or not of the expected type."""


def encode(value: object) -> bytes:
    """A result as JSON. A dataclass is a list of its name and its fields, a set is a list, a datetime a string.

    >>> encode((1, None, frozenset({"a"}), datetime.fromisoformat("2026-03-01T10:00:00+00:00")))
    b'[1,null,["a"],"2026-03-01T10:00:00+00:00"]'
    """
    text = json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")  # titles may hold lone surrogates, as the document has them


def decode(content: bytes, kind: Any) -> Any:
    """The value of the type `kind` that `encode` wrote; raises Malformed if the bytes are anything else.

    >>> decode(b'[["a", 1.5]]', tuple[tuple[str, float], ...])
    (('a', 1.5),)
    """
    try:
        return _decoder(kind)(json.loads(content.decode("utf-8", "surrogatepass"), parse_constant=_no_constant))
    except (ValueError, OverflowError, RecursionError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error


def _plain(value: object) -> object:
    if is_dataclass(value):
        return [type(value).__name__, *(getattr(value, field.name) for field in fields(value))]
    if isinstance(value, frozenset | set):
        return list(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is nothing that a child process may answer.")


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a finite number")


@cache
def _decoder(kind: Any) -> Decoder:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _record([_decoder(each) for each in arguments], tuple)
    if origin in (tuple, frozenset, list, Sequence):
        return _collection(_decoder(arguments[0]), list if origin is Sequence else origin)
    if origin in (dict, Mapping) and arguments[0] is str:
        return _mapping(_decoder(arguments[1]))
    if is_dataclass(kind):
        return _dataclass(kind)
    if kind in _SCALARS:
        return _SCALARS[kind]
    raise TypeError(f"A child process cannot answer {kind}.")


def _union(kinds: Sequence[Any]) -> Decoder:
    """At most one kind beside None, or several dataclasses, which their names distinguish."""
    dataclasses: list[Any] = [kind for kind in kinds if is_dataclass(kind)]
    by_name: dict[str, Decoder] = {kind.__name__: _decoder(kind) for kind in dataclasses}
    others = [_decoder(kind) for kind in kinds if kind not in (types.NoneType, *dataclasses)]
    if len(others) + bool(by_name) > 1:
        raise TypeError("Only dataclasses can be distinguished.")

    def decoded(value: Any) -> Any:
        if value is None and types.NoneType in kinds:
            return None
        if others:
            return others[0](value)
        if not isinstance(value, list) or not value or not isinstance(value[0], str) or value[0] not in by_name:
            raise Malformed(f"expected one of {', '.join(by_name)}")
        return by_name[value[0]](value)

    return decoded


def _record(decoders: Sequence[Decoder], make: Callable[[list[Any]], Any]) -> Decoder:
    def decoded(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(decoders):
            raise Malformed(f"expected {len(decoders)} values")
        return make([decode_item(item) for decode_item, item in zip(decoders, value, strict=True)])

    return decoded


def _collection(decode_item: Decoder, make: Callable[[list[Any]], Any]) -> Decoder:
    def decoded(value: Any) -> Any:
        if not isinstance(value, list):
            raise Malformed("expected a list")
        return make([decode_item(item) for item in value])

    return decoded


def _mapping(decode_item: Decoder) -> Decoder:
    def decoded(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Malformed("expected an object")
        return {key: decode_item(item) for key, item in value.items()}

    return decoded


def _dataclass(kind: Any) -> Decoder:
    hints = typing.get_type_hints(kind)
    name = _checked(lambda value: value == kind.__name__, kind.__name__)
    names = [field.name for field in fields(kind)]

    def make(values: list[Any]) -> Any:
        return kind(**dict(zip(names, values[1:], strict=True)))  # by name: some take no positions

    return _record([name, *(_decoder(hints[each]) for each in names)], make)


def _checked(accepts: Callable[[Any], bool], expected: str) -> Decoder:
    def decoded(value: Any) -> Any:
        if not accepts(value):
            raise Malformed(f"expected {expected}")
        return value

    return decoded


def _scalar(kind: type) -> Decoder:
    return _checked(lambda value: type(value) is kind, kind.__name__)  # a bool is an int to isinstance


def _float(value: Any) -> float:
    if type(value) not in (int, float) or not isfinite(value):
        raise Malformed("expected a finite number")
    return float(value)


def _datetime(value: Any) -> datetime:
    if not isinstance(value, str) or (moment := datetime.fromisoformat(value)).utcoffset() is None:
        raise Malformed("expected a datetime with its offset")
    return moment


_SCALARS: dict[Any, Decoder] = {
    str: _scalar(str),
    int: _scalar(int),
    bool: _scalar(bool),
    float: _float,
    datetime: _datetime,
    types.NoneType: _scalar(types.NoneType),
    None: _scalar(types.NoneType),
}
