"""Paths from one example: whatever surrounds a list, its items are what is proposed first."""

import json
import random
import time
from dataclasses import dataclass
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.formats.feed import NotAFeed, Page
from apps.sources.kinds import propose, read

URL = "https://example.org/news/"
WORDS = [
    "Brücke",
    "council",
    "votes",
    "räumt",
    "spring",
    "market",
    "новый",
    "мост",
    "river",
    "budget",
    "fails",
    "storm",
]


@dataclass(frozen=True)
class Shape:
    """How a site writes its list."""

    item: str
    heading: str
    link: str  # where the link is: "in" the heading, "around" it, or "around all"
    classes: bool
    wrapped: bool
    lead: bool
    date: bool
    picture: bool
    count: int
    seed: int

    def titles(self) -> list[str]:
        chance = random.Random(self.seed)
        return [f"{' '.join(chance.sample(WORDS, 4))} {number}" for number in range(self.count)]

    def page(self) -> str:
        chance = random.Random(self.seed)
        items = "".join(self._item(number, title, chance) for number, title in enumerate(self.titles()))
        outer = {"li": "ul", "tr": "table"}.get(self.item, "div")
        links = "".join(f"<li><a href='/menu/{number}'>Menu {WORDS[number % 12]} {number}</a>" for number in range(15))
        read = "".join(f"<li><a href='/read/{number}'>Read {WORDS[number]} {number}</a>" for number in range(5))
        return (
            f"<html><head><title>{escape(self.titles()[0])}</title></head><body><header><ul class=menu>{links}</ul>"
            f"</header><main><{outer} class='stream'>{items}</{outer}></main>"
            f"<aside><h2>Most read</h2><ol>{read}</ol></aside><footer><a href=/imprint>Imprint</a></footer></html>"
        )

    def _item(self, number: int, title: str, chance: random.Random) -> str:
        name = "class='headline'" if self.classes else ""
        heading, address = escape(title), f"/story/{number}"
        if self.link == "in":
            heading = f"<{self.heading} {name}><a href='{address}'>{heading}</a></{self.heading}>"
        elif self.link == "around":
            heading = f"<a href='{address}'><{self.heading} {name}>{heading}</{self.heading}></a>"
        else:
            heading = f"<{self.heading} {name}>{heading}</{self.heading}>"
        parts = [heading]
        if self.lead:
            parts.append(f"<p class=lead>What happened at the {chance.choice(WORDS)}, told in more words {number}.</p>")
        if self.date:
            parts.append(f"<time datetime='2026-03-{number + 1:02}T08:00Z'>{number}. March</time>")
        if self.picture:
            parts.insert(chance.randrange(2), f"<img src='/pictures/{number}.jpg'>")
        inner = "".join(parts)
        if self.link == "around all":
            inner = f"<a href='{address}'>{inner}</a>"
        if self.wrapped:
            inner = f"<div class=inner>{inner}</div>"
        if self.item == "tr":
            inner = f"<td>{inner}</td>"
        noise = chance.choice(["", "odd", "first", f"post-{1000 + number}", f"css-{chance.randrange(10**6):x}"])
        classes = f"class='{noise} story'" if self.classes else f"class='{noise}'" if chance.random() < 0.3 else ""
        return f"<{self.item} {classes}>{inner}</{self.item}>"


shapes = st.builds(
    Shape,
    item=st.sampled_from(["li", "article", "div", "tr"]),
    heading=st.sampled_from(["h2", "h3", "span", "strong"]),
    link=st.sampled_from(["in", "around", "around all"]),
    classes=st.booleans(),
    wrapped=st.booleans(),
    lead=st.booleans(),
    date=st.booleans(),
    picture=st.booleans(),
    count=st.integers(4, 12),
    seed=st.integers(0, 10**6),
)


@given(shapes, st.data())
def test_the_right_items_are_proposed_first(shape, data):
    titles = shape.titles()
    example = data.draw(st.sampled_from(titles))
    page = Page(shape.page().encode(), "text/html; charset=utf-8", URL)
    best = propose("xpath", page, f" {example.upper()} ")[0]
    feed = read("xpath", [page], best.recipe)
    assert [entry.title for entry in feed.entries] == titles
    assert [entry.link for entry in feed.entries] == [f"https://example.org/story/{n}" for n in range(shape.count)]
    if shape.date:
        assert all(entry.published for entry in feed.entries)
    if shape.picture:
        assert [entry.image_url for entry in feed.entries] == [
            f"https://example.org/pictures/{number}.jpg" for number in range(shape.count)
        ]


PAGE = b"""<ul class="menu"><li><a href=/m/1>One</a><li><a href=/m/2>Two</a></ul><div class="news big css-1ab2c3d4">
<article class="card card-1001"><h2><a href=/1>First flush is here</a></h2></article>
<article class="card card-1002 ad"><b>Buy</b></article>
<article class="card card-1003"><h2><a href=/2>Second flush is here</a></h2><p>It came by ship this time.</article>
<article class="card card-1004"><h2><a href=/3>Third flush is here</a></h2><p>It was the last one.</article></div>"""


def test_paths_go_by_classes_and_never_by_positions():
    best = propose("xpath", Page(PAGE, "", URL), "second flush is here!")[0]
    assert "' card '" in best.recipe.item
    assert "card-1" not in str(best.recipe)
    assert not any(f"[{number}]" in str(best.recipe) for number in range(9))
    assert best.titles == ("First flush is here", "Second flush is here", "Third flush is here")
    assert best.items == 4


def test_proposals_come_with_less_likely_ones_and_each_finds_something_else():
    proposals = propose("xpath", Page(PAGE, "", URL), "Second flush is here")
    assert [each.score for each in proposals] == sorted((each.score for each in proposals), reverse=True)
    assert len({each.titles for each in proposals}) == len(proposals)


@pytest.mark.parametrize("example", ["", "  ", "—", "Nothing like it anywhere on this page"])
def test_unknown_title_yields_no_proposal(example):
    assert propose("xpath", Page(PAGE, "", URL), example) == []


def test_a_title_may_differ_a_little():
    assert (
        propose("xpath", Page(PAGE, "", URL), "„Second flush“ is here | The Tea Times")[0].titles[1]
        == "Second flush is here"
    )


def test_keys_of_json_are_proposed():
    posts = [
        {
            "id": n,
            "data": {
                "headline": {"rendered": f"Tea &amp; cake {n}"},
                "permalink": f"/p/{n}",
                "thumb": f"/{n}.jpg",
                "created_utc": 1700000000.0 + n,
                "body text": f"What people said about the cake {n}.",
                "author": {"url": "/u"},
            },
        }
        for n in range(5)
    ]
    document = json.dumps({"kind": "list", "data": {"posts": posts, "menu": ["a", "b"]}}).encode()
    best = propose("json", Page(document, "", URL), "Tea & Cake 3")[0]
    assert best.recipe.to_json() == {
        "item": "data.posts",
        "title": "data.headline.rendered",
        "link": "data.permalink",
        "description": 'data["body text"]',
        "date": "data.created_utc",
        "image": "data.thumb",
    }
    feed = read("json", [Page(document, "", URL)], best.recipe)
    assert [entry.title for entry in feed.entries] == list(best.titles) == [f"Tea & cake {n}" for n in range(5)]


def test_xml_is_addressed_with_its_prefixes():
    rows = "".join(f"<row><m:name>Name {n} of a thing</m:name><url>/{n}</url></row>" for n in range(4))
    document = f"<?xml version='1.0'?><list xmlns='urn:x' xmlns:m='urn:m'>{rows}</list>".encode()
    best = propose("xpath", Page(document, "text/xml", URL), "Name 2 of a thing")[0]
    assert (best.recipe.item, best.recipe.title, best.recipe.link) == ("//row", ".//m:name", "url")


def test_invalid_document_is_reported():
    with pytest.raises(NotAFeed):
        propose("xpath", Page(b"", "", URL), "x")
    with pytest.raises(NotAFeed):
        propose("json", Page(b"<p>", "", URL), "x")


def test_a_long_page_is_searched_soon():
    items = "".join(f"<li><a href=/{n}>Item number {n} here</a><p>{'words ' * 20}</p>" for n in range(490))
    began = time.perf_counter()
    assert propose("xpath", Page(f"<ul>{items}</ul>".encode(), "", URL), "Item number 7 here")[0].items == 490
    assert time.perf_counter() - began < 8.0
