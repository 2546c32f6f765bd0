"""Comments, docstrings and names avoid the words for which docs/glossary.md has a better one."""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("apps", "extensions", "portal", "lab", "tests")


class Rule(NamedTuple):
    """A word that is out of use; in a name it is a part of it, as `told` in `lines_told`."""

    word: str  # regular expression, whole words, lower case
    use: str
    where: str = ""  # beginning of the paths
    exceptions: str = r"(?!)"  # regular expression of phrases in which it stays


RULES = (
    Rule("anew", "again, from scratch"),
    Rule("whoever|whomever", "the worker, process or user that"),
    Rule("nobody|somebody|anybody", "no user, a user, another worker", exceptions=r"user nobody"),
    Rule("heed(s|ed|ing)?", "apply, respect"),
    Rule("obey(s|ed|ing)?", "apply, follow, handle"),
    Rule("lays?|laying|laid", "enqueue, store", exceptions=r"lay(s|ing)? out|laid out"),
    Rule("tells?|told|telling", "return, show, notify, distinguish"),
    Rule("ask(s|ed|ing)?", "request, query, check, fetch", exceptions=r"asked_at"),
    Rule("said", "reported, stated"),
    Rule("brings?|brought", "return, contain, import"),
    Rule("reckon(s|ed|ing)?", "compute, count"),
    Rule(
        "looks?|looking|looked",
        "check, page fetch, read",
        exceptions=r"look(s|ed|ing)?[_ ](up|like|for)",
    ),
    Rule("is at it|are at it", "is running"),
    Rule("give[ns]?[_ ]up|gave[_ ]up|set[_ ]aside", "abandon, dead letter"),
    Rule("instants?", "due time", exceptions=r"update[_ ]instants?|optimal instants?|retrieval instants?"),
    Rule("visits?|remembered", "fetch result, exchange; schedule state", where="apps/retrieval"),
    Rule("furniture", "boilerplate"),
    Rule("belongings", "account data"),
    Rule("keepers?", "admin"),
    Rule("desks?", "dashboard"),
    Rule("eyes?", "marks"),
    Rule("arrangements?", "list options"),
    Rule("onlookers?", "observers"),
    Rule("wish(es)?", "notification settings"),
    Rule("sealing|seal(s|ed)?", "segment building"),
    Rule("storable", "sanitize"),
    Rule("habits?", "posting rate, profile"),
    Rule("pace[ds]?", "clock rate"),
    Rule("crowds?", "virtual users"),
    Rule("many a", "many"),
    Rule("lest", "so that ... not, in case"),
    Rule("ado", "without further steps"),
    Rule("any[_ ]more", "no longer"),
    Rule("for[_ ]ever", "forever", exceptions=r"\"for ever\""),
    Rule("but[_ ]for", "except"),
    Rule("of ours", "of the portal, of the project, of real time"),
    Rule("nobodys|anothers", "an anonymous user, another user"),
    Rule("what is no|what is not there", "an invalid value, a missing one"),
    Rule("doors?", "endpoint"),
    Rule(
        "most_[a-z_]+",
        "MAX_ with its unit, for constants",
        exceptions=r"most_(common|recent|similar|a_day)\w*",
    ),
)


def split_names(text: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


def words_of(text: str) -> Iterator[tuple[int, str]]:
    """Comments, docstrings and names of a file with their lines, as lower case words joined by underscores."""
    begins_block = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.NAME):
            yield token.start[0], split_names(token.string)
        elif token.type == tokenize.STRING and begins_block:
            for offset, line in enumerate(token.string.split("\n")):
                yield token.start[0] + offset, split_names(line)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins_block = token.type == tokenize.INDENT


def pattern_of(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{words})(?![a-z])")


def rules_for(path: str) -> list[Rule]:
    return [rule for rule in RULES if path.startswith(rule.where)]


@cache
def any_word(*rules: Rule) -> re.Pattern[str]:
    return pattern_of("|".join(rule.word for rule in rules))


def found(rule: Rule, words: Iterable[tuple[int, str]]) -> list[int]:
    """The lines that have the word outside of its exceptions."""
    pattern = pattern_of(rule.word)
    lines = ((line, re.sub(rule.exceptions, "", text)) for line, text in words if pattern.search(text))
    return sorted({line for line, text in lines if pattern.search(text)})


def files() -> Iterator[tuple[str, str]]:
    """Path and text of each."""
    for file in (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")):
        if "migrations" not in file.parts and file != Path(__file__):
            yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")


def test_words_out_of_use_do_not_occur():
    places = []
    for path, text in files():
        rules = rules_for(path)
        pattern = any_word(*rules)
        # Splitting a file into words takes long, so first: has it any of them, even where they do not count?
        if pattern.search(split_names(text)):
            words = [(line, text) for line, text in words_of(text) if pattern.search(text)]
            for rule in rules:
                places += [f"{path}:{line}: {rule.word}: use {rule.use}" for line in found(rule, words)]
    assert not places


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# It is told.\n", [1]),
        ('def give():\n    """Give.\n\n    What was told.\n    """\n', [4]),
        ("lines_told = LinesTold()\n", [1]),
        ('text = "told"\nretold = 1\n', []),
    ],
)
def test_comments_docstrings_and_names_are_searched_but_no_texts(text: str, lines: list[int]):
    assert found(Rule("told", "return"), words_of(text)) == lines


def test_an_exception_is_a_phrase():
    assert found(Rule("laid", "store", exceptions="laid out"), words_of("# laid out\n# laid\n")) == [2]
