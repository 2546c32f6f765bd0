"""Ids of streams: feeds, labels and states, as in Google Reader."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

Kind = Literal["feed", "label", "state"]
STATE_SPACE = "com.google/"
MINE = "user/-/"  # the user; responses use this form alone, because clients compare texts


class BadStream(ValueError):
    """A text is not the id of a stream; the message names it."""


class Stream(NamedTuple):
    """A feed by id or address of its source, a label by its text, or a state by its last part."""

    kind: Kind
    name: str

    def __str__(self) -> str:
        match self.kind:
            case "feed":
                return f"feed/{self.name}"
            case "label":
                return f"{MINE}label/{self.name}"
            case "state":
                return f"{MINE}state/{STATE_SPACE}{self.name}"


READING_LIST = Stream("state", "reading-list")


def read_stream(text: str, names: Collection[str]) -> Stream:
    """Read a stream's id, in which the user has one of the names or `-`. Raises BadStream if it is invalid.

    Examples
    --------
    >>> read_stream("user/-/state/com.google/starred", [])
    Stream(kind='state', name='starred')
    >>> read_stream("user/7/label/News / World", ["7"]), str(read_stream("feed/12", []))
    (Stream(kind='label', name='News / World'), 'feed/12')
    """
    text = text.strip().lstrip("/")
    match text.split("/", 3):
        case ["feed", first, *rest] if first:
            return Stream("feed", _with_slashes("/".join([first, *rest])))
        case ["user", who, "label", name] if name and (who == "-" or who in names):
            return Stream("label", name)
        case ["user", who, "state", state] if who == "-" or who in names:
            if (name := state.removeprefix(STATE_SPACE)) and name != state:
                return Stream("state", name)
    raise BadStream(f"“{text[:200]}” is no stream of yours.")


def _with_slashes(feed: str) -> str:
    """A feed's address with the second slash, which some proxies remove."""
    for scheme in ("http:/", "https:/"):
        if feed.startswith(scheme) and not feed.startswith(f"{scheme}/"):
            return f"{scheme}/{feed.removeprefix(scheme)}"
    return feed


# --- labels of folders ------------------------------------------------------------------------------------------------
# Folders are nested here, and labels are flat. A slash between spaces separates folders in a label. A word of slashes
# in a folder's name gets another slash, so that labels are unique and "TCP/IP" stays as it is.
def label_of(path: Sequence[str]) -> str:
    """The label of the folder at the end of a path of names.

    >>> label_of(["News", "World"]), label_of(["News / World"]), label_of(["TCP/IP"])
    ('News / World', 'News // World', 'TCP/IP')
    """
    return " / ".join(" ".join(map(_escaped, name.split(" "))) for name in path)


def path_of(label: str) -> tuple[str, ...]:
    """The inverse of `label_of`.

    >>> path_of("News / World")
    ('News', 'World')
    """
    path: list[list[str]] = [[]]
    for word in label.split(" "):
        if word == "/":
            path.append([])
        else:
            path[-1].append(word.removesuffix("/") if _is_slashes(word) else word)
    return tuple(" ".join(words) for words in path)


def _escaped(word: str) -> str:
    return f"{word}/" if _is_slashes(word) else word


def _is_slashes(word: str) -> bool:
    return bool(word) and not word.strip("/")
