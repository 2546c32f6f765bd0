"""What constructed pages are made of: prose drawn by seed, and the parts of a site around an article."""

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

URL = "https://paper.example/2026/03/04/council-decides-after-a-long-evening-48213"
SITE = "The Easthaven Paper"
_LINES = Path(__file__).with_name("prose.txt").read_text("utf-8").splitlines()
WITHOUT_SPACES = frozenset({"zh", "ja"})

MENUS = {
    "en": ("Home", "Politics", "Business", "Sport", "Culture"),
    "de": ("Start", "Politik", "Wirtschaft", "Sport", "Kultur"),
    "fr": ("Accueil", "Politique", "Économie", "Sports", "Culture"),
    "es": ("Portada", "Política", "Economía", "Deportes", "Cultura"),
    "it": ("Prima pagina", "Politica", "Economia", "Sport", "Cultura"),
    "pl": ("Start", "Polityka", "Gospodarka", "Sport", "Kultura"),
    "ru": ("Главная", "Политика", "Экономика", "Спорт", "Культура"),
    "zh": ("首页", "政治", "财经", "体育", "文化"),
    "ja": ("ホーム", "政治", "経済", "スポーツ", "文化"),
}
HEADLINES = {
    "en": "Council decides after a long evening",
    "de": "Stadtrat entscheidet nach einem langen Abend",
    "fr": "Le conseil tranche au terme d'une longue soirée",
    "es": "El pleno decide tras una larga noche",
    "it": "Il consiglio decide dopo una lunga serata",
    "pl": "Rada decyduje po długim wieczorze",
    "ru": "Совет принял решение после долгого вечера",
    "zh": "市议会经过漫长的夜晚作出决定",
    "ja": "市議会が長い夜を経て決定",
}


def lines(part: str) -> list[str]:
    start = _LINES.index(f"# {part}") + 1
    end = next((place for place in range(start, len(_LINES)) if _LINES[place].startswith("# ")), len(_LINES))
    return _LINES[start:end]


OTHERS = {language: tuple(lines(f"other headlines {language}")) for language in MENUS}


@dataclass(frozen=True, slots=True)
class Case:
    """A page, and what must be read of it; None does not count."""

    html: str
    text: str | None = None  # of the article
    absent: tuple[str, ...] = ()  # phrases that are none of it
    authors: tuple[str, ...] | None = None
    confidence: tuple[float, float] = (0.0, 1.0)
    is_article: bool | None = None
    url: str = URL


def stories(language: str, seed: int, *sizes: int, each: int = 2) -> list[list[str]]:
    """Stories of so many paragraphs of a few sentences; no sentence is in two of them."""
    drawn = random.Random(seed).sample(lines(language), each * sum(sizes))
    joint = "" if language in WITHOUT_SPACES else " "
    made = [joint.join(drawn[place : place + each]) for place in range(0, len(drawn), each)]
    return [[made.pop(0) for _ in range(size)] for size in sizes]


def story(language: str, seed: int, size: int, *, each: int = 2) -> list[str]:
    return stories(language, seed, size, each=each)[0]


def joined(paragraphs: Iterable[str]) -> str:
    return "\n\n".join(paragraphs)


def wrapped(paragraphs: Iterable[str], tag: str = "p", attributes: str = "") -> str:
    return "\n".join(f"<{tag} {attributes}>{escape(each, quote=False)}</{tag}>" for each in paragraphs)


def document(language: str, body: str, *, head: str = "", title: str = "", around: bool = True) -> str:
    """A page; `around` puts a site's header and footer about the body."""
    title = title or HEADLINES[language]
    top, bottom = (header(language), footer()) if around else ("", "")
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title} | {SITE}</title>'
        f'<meta property="og:site_name" content="{SITE}">{head}</head><body>{top}{body}{bottom}</body></html>'
    )


def header(language: str) -> str:
    items = "".join(f'<li><a href="/s{place}">{name}</a></li>' for place, name in enumerate(MENUS[language]))
    return f'<header class="top"><a href="/">{SITE}</a><nav><ul>{items}</ul></nav></header>'


def footer() -> str:
    return f'<footer><p>© 2026 {SITE}</p><ul><li><a href="/imprint">Imprint</a></li></ul></footer>'


def links(language: str, tag: str = "li") -> str:
    return "".join(f'<{tag}><a href="/n/{place}">{line}</a></{tag}>' for place, line in enumerate(OTHERS[language]))


def linked_data(**described: object) -> str:
    """A script of JSON-LD; `kind` is its type."""
    data = {"@context": "https://schema.org", "@type": described.pop("kind", "NewsArticle"), **described}
    return f'<script type="application/ld+json">{json.dumps(data, ensure_ascii=False)}</script>'


def script(code: object, *, before: str = "", after: str = "", attributes: str = "") -> str:
    text = code if isinstance(code, str) else json.dumps(code, ensure_ascii=False)
    return f"<script {attributes}>{before}{text.replace('</', chr(60) + chr(92) + '/')}{after}</script>"
