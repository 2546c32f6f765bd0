"""Every word of the interface can be read in every language of the portal, and in the same shape."""

import ast
import gettext
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from django.utils.translation.template import templatize

from tests.shape.trees import parsed

ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(path.parent.parent.name for path in ROOT.glob("locale/*/LC_MESSAGES/django.po"))
CALLS = ("_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "pgettext", "pgettext_lazy")
PLURAL_IN_JINJA = re.compile(r"\bngettext\([^()]*(?:\([^()]*\)[^()]*)*\)")
ANY_CALL = re.compile(r"gettext|\b_\(")
CALL = re.compile(r"\b(?:n|p|np)?(?:gettext|_)\(")
PLACES = re.compile(r"%\((\w+)\)s|(?<!\{)\{(\w*)\}|%(?=%)")
TAGS = re.compile(r"<[^>]*>")

NAMES = {"Wirebeat", "RSS", "Atom", "JSON", "ms", "s", "A"}  # the same in every language
KEYS = re.compile(r"\([a-z]\)|\bShift [A-Z]\b")  # that a hint names


class Text(NamedTuple):
    context: str | None
    text: str
    plural: str | None


def python_files() -> list[Path]:
    return [
        path
        for folder in ("apps", "extensions", "portal", "lab")
        for path in (ROOT / folder).rglob("*.py")
        if "migrations" not in path.parts
    ]


def template_files() -> list[Path]:
    return sorted(path for path in (ROOT / "templates").rglob("*") if path.suffix in (".html", ".txt"))


def texts_of_python(source: str) -> Iterator[Text]:
    """
    >>> list(texts_of_python('ngettext("one", "many", 2), _("both " "parts"), pgettext("may", "May"), _(name)'))
    [Text(context=None, text='one', plural='many'), Text(context=None, text='both parts', plural=None),
     Text(context='may', text='May', plural=None)]
    """
    if not ANY_CALL.search(source):
        return
    for node in ast.walk(parsed(source)):
        name = getattr(node, "func", None)
        called = getattr(name, "id", None) or getattr(name, "attr", None)
        if not isinstance(node, ast.Call) or called not in CALLS:
            continue
        given = [each.value if isinstance(each, ast.Constant) else None for each in node.args]
        if not given or not isinstance(given[0], str):
            continue
        if called.startswith("pgettext"):
            yield Text(given[0], str(given[1]), None)
        elif called.startswith("ngettext"):
            yield Text(None, given[0], str(given[1]))
        else:
            yield Text(None, given[0], None)


def texts_of_template(source: str) -> Iterator[Text]:
    """
    >>> list(texts_of_template('{% load i18n %}{% translate "Hello" %} {{ x|default:_("None") }}'))
    [Text(context=None, text='Hello', plural=None), Text(context=None, text='None', plural=None)]
    >>> list(texts_of_template('{{ ngettext("%(n)s feed", "%(n)s feeds", n) % {"n": n} }}'))
    [Text(context=None, text='%(n)s feed', plural='%(n)s feeds')]
    """
    code = templatize(source) + "".join(PLURAL_IN_JINJA.findall(source))
    for call in CALL.finditer(code):
        rest = code[call.start() :]
        end = next(end for end in range(len(rest)) if rest[end] == ")" and _is_code(rest[: end + 1]))
        yield from texts_of_python(rest[: end + 1])


def _is_code(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def all_texts() -> dict[Text, str]:
    """With a file in which each stands."""
    found: dict[Text, str] = {}
    for path in python_files():
        for text in texts_of_python(path.read_text(encoding="utf-8")):
            found.setdefault(text, str(path.relative_to(ROOT)))
    for path in template_files():
        for text in texts_of_template(path.read_text(encoding="utf-8")):
            found.setdefault(text, str(path.relative_to(ROOT)))
    return found


def _text(context: str | bytes | None) -> str | None:
    return context.decode() if isinstance(context, bytes) else context


def _known(catalogue: Catalog) -> dict[tuple[str | None, tuple[str, ...]], tuple[str, ...]]:
    return {
        (_text(message.context), originals(message)): translations(message)
        for message in catalogue
        if message.id and all(translations(message)) and "fuzzy" not in message.flags
    }


def catalogue(language: str) -> Catalog:
    with (ROOT / "locale" / language / "LC_MESSAGES" / "django.po").open("rb") as file:
        return read_po(file, locale=language)


def originals(message: Message) -> tuple[str, ...]:
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)


def translations(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string)


def test_there_is_another_language_than_english():
    assert "zh_Hans" in LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_a_translation_and_there_are_no_others(language):
    written = {
        Text(message.context, originals(message)[0], originals(message)[1] if message.pluralizable else None)
        for message in catalogue(language)
        if message.id and all(translations(message)) and "fuzzy" not in message.flags
    }
    texts = all_texts()
    missing = {f"{file}: {text.text}" for text, file in texts.items() if text not in written}
    assert not missing, "CONTRIBUTING.md says how to make them: Translate new texts"
    assert not {text.text for text in written - texts.keys()}


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_have_the_places_and_the_markup_of_their_originals(language):
    for message in catalogue(language):
        if not message.id:
            continue
        original = originals(message)[-1]
        for translation in filter(None, translations(message)):
            assert set(PLACES.findall(translation)) == set(PLACES.findall(original)), translation
            assert sorted(TAGS.findall(translation)) == sorted(TAGS.findall(original)), translation
            assert (original[0].isspace(), original[-1].isspace()) == (
                translation[0].isspace(), translation[-1].isspace(),
            ) or language.startswith("zh"), translation  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_translations_match_the_written_ones(language):
    folder = ROOT / "locale" / language / "LC_MESSAGES"
    with (folder / "django.mo").open("rb") as file:
        compiled = _known(read_mo(file))
    assert compiled == _known(catalogue(language)), "compile them: manage.py compilemessages"


def test_compiled_translations_can_be_read_without_tools():
    chinese = gettext.translation("django", ROOT / "locale", ["zh_Hans"])
    assert chinese.gettext("Search") == "搜索"


class _Words(HTMLParser):
    """What people read or hear of a page."""

    ATTRIBUTES = ("title", "aria-label", "placeholder", "alt")
    SAME = ("code", "kbd", "pre", "script", "style")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside += tag in self.SAME
        self.found += [value for name, value in attributes if name in self.ATTRIBUTES and value and "://" not in value]

    def handle_endtag(self, tag: str) -> None:
        self.inside -= tag in self.SAME

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.found.append(data)


def bare_words(source: str) -> set[str]:
    """Words of a template outside of translation tags.

    >>> sorted(bare_words('<p title="No hint (h)">{% translate "Fine" %}, but this {{ x|pluralize:"y,ies" }}</p>'))
    ['No', 'but', 'hint', 'ies', 'this', 'y']
    """
    inside = re.sub(r"{#.*?#}|{% (comment|blocktranslate).*?end\1 %}", " ", source, flags=re.DOTALL)
    chosen = re.findall(r"\|(?:pluralize|default|default_if_none):[\"']([^\"']*)[\"']", inside)
    chosen = [words for words in chosen if not words.startswith("/")]  # an address
    chosen = [words for words in chosen if not words.isalpha() or words[0].isupper() or "pluralize" in inside]
    chosen += [words for words in re.findall(r"\{\{[^}]*\|yesno:\"([^\"]*)\"", inside) if " " in words]
    parser = _Words()
    parser.feed(re.sub(r"{%.*?%}|{{.*?}}", " ", inside, flags=re.DOTALL))
    words = {word for text in [*chosen, *parser.found] for word in re.findall(r"[^\W\d_]+", KEYS.sub(" ", text))}
    return {word for word in words if word.isascii()} - NAMES


def test_templates_hold_no_words_that_cannot_be_translated():
    with_words = {
        str(path.relative_to(ROOT / "templates")): words
        for path in template_files()
        if path.suffix == ".html" and (words := bare_words(path.read_text(encoding="utf-8")))
    }
    assert with_words == {}
