import csv
import gzip
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.extraction import keen
from apps.postings.algorithms.extraction.anchors import is_headline
from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.kinds import (
    KINDS,
    NAMES,
    Facts,
    Kind,
    classify,
    facts_of,
    read_model,
    shipped_model,
    vector_of,
)
from apps.postings.algorithms.extraction.metadata import read_metadata
from lab.evaluations.extraction import kind_rules
from lab.evaluations.extraction.kind_training import POINTS, SHARES, Example, train, write_model

SITE = "https://site.example"
MENU = "".join(f"<li><a href=/{name}/>{name.title()}</a></li>" for name in ("world", "sport", "culture", "money"))
PROSE = (
    "The council voted on Tuesday to keep the old bridge open to walkers, and to repair it by the spring of next year.",
    "Its mayor said that the money would come from what was left of the fund for roads, which nobody had asked for.",
    "Engineers had warned since last summer that two of the pillars, built in 1911, were about to give way.",
    "“We have waited for this for nine years,” said a woman who crosses the river twice a day with her children.",
    "Work is to begin in March, once the ice has gone, and will cost about four million crowns, the town says.",
    "A vote on the second bridge, further down the river, has been put off until the autumn, for want of a plan.",
)
HEADLINES = [f"{who} {does} what nobody had expected" for who in ("Mayor", "Team", "Court", "Bank", "Museum", "School")
             for does in ("opens", "closes", "defends", "finds", "loses")]  # fmt: skip


def page(title: str, body: str, *, head: str = "") -> str:
    return (
        f"<!doctype html><html><head><meta charset=utf-8><title>{title} | The Site</title>{head}</head><body>"
        f"<header><nav><ul>{MENU}</ul></nav></header><main>{body}</main>"
        "<footer><p>© The Site. All rights reserved.</p></footer></body></html>"
    )


def article(title: str = "Council votes to keep the old bridge open", *, head: str = "", times: int = 2) -> str:
    text = "".join(f"<p>{sentence} {other}</p>" for sentence, other in zip(PROSE, PROSE[::-1], strict=True)) * times
    related = "".join(f"<li><a href=/world/{number}>{line}</a></li>" for number, line in enumerate(HEADLINES[:4]))
    return page(title, f"<article><h1>{title}</h1>{text}</article><aside><ul>{related}</ul></aside>", head=head)


def section(title: str = "World") -> str:
    items = "".join(
        f"<div><h3><a href=/world/{line.lower().replace(' ', '-')}>{line}</a></h3><p>{PROSE[place % 6][:60]}</p></div>"
        for place, line in enumerate(HEADLINES)
    )
    return page(title, f"<h1>{title}</h1>{items}")


VIDEO = page(
    "Watch the bridge being closed",
    "<h1>Watch the bridge being closed</h1><video src=/v.mp4></video><p>The old bridge was closed for an hour.</p>",
    head='<meta property="og:type" content="video.other">',
)
IMPRINT = page("Imprint", "<h1>Imprint</h1><p>The Site, 1 High Street, Town. Editor: Ann Lee. Phone: 0123 456789.</p>")


def facts(html: str, url: str) -> Facts:
    root = read_page(html.encode()).root
    return facts_of(root, keen.extract(root), read_metadata(root, url=url), url)


def kind(html: str, path: str) -> Kind:
    root, url = read_page(html.encode()).root, SITE + path
    return classify(root, keen.extract(root), read_metadata(root, url=url), url)


ARTICLE_HEAD = '<meta property="og:type" content="article">'


@pytest.mark.parametrize(
    ("html", "path", "expected"),
    [
        (article(head=ARTICLE_HEAD), "/world/council-votes-to-keep-the-old-bridge-open", "news"),
        (article(), "/2026/05/12/council-votes-to-keep-bridge", "news"),
        (article(), "/story.php?id=48151", "news"),
        (section(), "/world/", "index"),
        (section(), "/", "index"),
        (section("World"), "/world/page/2", "index"),
        (VIDEO, "/video/watch-the-bridge-being-closed/", "valueless"),
        (IMPRINT, "/imprint", "valueless"),
        (page("404 Not found", "<h1>Nothing here</h1>"), "/world/gone-for-good-and-ever", "valueless"),
        (page("World", "<h1>World</h1><div id=app></div>"), "/world/", "valueless"),
    ],
)
def test_pages_are_classified(html, path, expected):
    verdict = kind(html, path)
    assert verdict.kind == expected
    assert 1 / 3 <= verdict.probability <= 1
    assert 1 <= len(verdict.reasons) <= 3


def test_reasons_name_what_was_found():
    assert "its text has 2" in " ".join(kind(article(), "/a-story-of-a-bridge").reasons)
    assert "characters of its text are links" in " ".join(kind(section(), "/a").reasons)
    assert "its title is that of a service" in kind(IMPRINT, "/x").reasons


def test_the_longer_its_text_the_more_certain_a_page_is_news():
    assert kind(article(times=1), "/bridge").probability < kind(article(times=2), "/bridge").probability


def test_empty_document_is_valueless():
    nothing = read_page(b"")
    assert nothing.root is None
    assert classify(None, keen.extract(None), read_metadata(None, url=SITE), SITE) == Kind(
        "valueless", 1.0, ("it is empty",), 0
    )


@pytest.mark.parametrize(
    ("path", "trait"),
    [
        ("/video/1", "video_address"),
        ("/news/av/world-1", "video_address"),
        ("/photo-gallery", "video_address"),
        ("/privacy-policy", "service_address"),
        ("/about-us/", "service_address"),
        ("/tag/bridges", "section_address"),
        ("/", "front_page"),
    ],
)
def test_addresses_have_traits(path, trait):
    assert getattr(facts(VIDEO, SITE + path), trait)


@pytest.mark.parametrize(
    "path", ["/police-release-video-of-a-theft", "/what-we-know-about-the-bridge", "/world/tags-on-walls-of-town-hall"]
)
def test_a_headline_in_an_address_may_be_about_anything(path):
    found = facts(VIDEO, SITE + path)
    assert [found.video_address, found.service_address, found.section_address] == [False, False, False]
    assert found.slug >= 3


def test_terror_is_no_error():
    assert not facts(article("Terror attack feared: police close the old bridge"), SITE).service_title
    assert facts(page("Error 503", ""), SITE).service_title


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Council keeps the old bridge", True),
        ("Unabhängigkeitsbewegungsführer tritt zurück", False),
        ("市议会投票决定保留老桥供人使用", True),
        ("市议会", False),
        ("a " * 100, False),
    ],
)
def test_headlines_are_long_enough_and_not_too_long(text, expected):
    assert is_headline(text) == expected


fragments = st.recursive(
    st.text(max_size=30),
    lambda inner: st.tuples(
        st.sampled_from(["p", "div", "a href=/x", "h1", "h2", "li", "title", "meta property=og:type content=article"]),
        inner,
    ).map(lambda pair: f"<{pair[0]}>{pair[1]}</{pair[0].split()[0]}>"),
    max_leaves=8,
)


@given(st.lists(fragments, max_size=6).map("".join), st.text(max_size=40))
def test_every_page_has_features_between_0_and_1_and_some_kind(html, path):
    page = read_page(html.encode())
    verdict = kind(html, f"/{path}")
    assert verdict.kind in KINDS
    assert 0 <= verdict.probability <= 1
    if page.root is not None:
        vector = vector_of(facts(html, f"{SITE}/{path}"))
        assert vector.shape == (len(NAMES),)
        assert ((vector >= 0) & (vector <= 1)).all()


def test_the_shipped_weights_know_all_features_and_speak_for_what_people_would():
    model = shipped_model()
    weights = dict(zip(NAMES, model.weights, strict=True))
    assert set(json.loads(write_model(model))["weights"]) == set(NAMES) == set(POINTS)
    for name in ("text", "paragraphs", "og_article", "slug"):
        assert weights[name].argmax() == 0
    assert weights["headlines"].argmax() == 1
    assert weights["service_title"].argmax() == 2


def test_a_model_survives_being_written():
    model = shipped_model()
    again = read_model(write_model(model))
    assert np.array_equal(model.weights, again.weights)
    assert (model.version, model.domains) == (again.version, again.domains)


EXAMPLES = [
    *(
        Example(facts(article(times=times), f"{SITE}/bridge-stays-open-{times}"), "news", "a.example")
        for times in (1, 2, 3)
    ),
    *(Example(facts(section(title), f"{SITE}/{title}/"), "index", "b.example") for title in ("world", "sport")),
    *(
        Example(facts(html, f"{SITE}/{path}"), "valueless", "c.example")
        for html, path in ((VIDEO, "video"), (IMPRINT, "x"))
    ),
]


def test_training_finds_the_least_loss():
    """Against the loss written down once more: no weight moved a little makes it smaller."""
    model = train(EXAMPLES, version="test", stiffness=2.0)
    points = np.array([POINTS[name] for name in NAMES])

    def loss(weights, intercepts):
        total = np.sum((weights - points) ** 2)  # stiffness / 2 = 1
        for example in EXAMPLES:
            share = SHARES[example.kind] * len(EXAMPLES) / sum(other.kind == example.kind for other in EXAMPLES)
            scores = vector_of(example.facts) @ weights + intercepts
            total -= share * np.log(np.exp(scores[KINDS.index(example.kind)]) / np.exp(scores).sum())
        return total

    least = loss(model.weights, model.intercepts)
    for place in range(0, model.weights.size, 5):
        for step in (-0.02, 0.02):
            moved = model.weights.copy()
            moved.flat[place] += step
            assert loss(moved, model.intercepts) > least
    for place in range(3):
        assert loss(model.weights, model.intercepts + 0.02 * np.identity(3)[place]) > least


def test_weights_stay_at_the_points_of_people_when_these_are_stiff():
    points = np.array([POINTS[name] for name in NAMES])
    assert np.allclose(train(EXAMPLES, version="test", stiffness=1e9).weights, points, atol=1e-6)
    assert np.abs(train(EXAMPLES, version="test", stiffness=0.1).weights - points).max() > 0.05


def test_a_kind_counts_for_its_share_however_many_pages_there_are_of_it():
    more = [*EXAMPLES, *(example for example in EXAMPLES if example.kind == "news")]
    once, twice = train(EXAMPLES, version="test", stiffness=20.0), train(more, version="test", stiffness=20.0 * 10 / 7)
    assert np.allclose(once.weights, twice.weights, atol=1e-3)


def test_training_needs_addresses():
    with pytest.raises(ValueError, match="addresses"):
        train([replace(example, has_url=False) for example in EXAMPLES], version="test")


def test_examples_without_address_teach_nothing_about_addresses():
    unknown = [*EXAMPLES, replace(EXAMPLES[0], has_url=False, facts=EXAMPLES[0].facts._replace(front_page=True))]
    usual = [*EXAMPLES, replace(EXAMPLES[0], has_url=False)]
    assert np.allclose(train(unknown, version="a").weights, train(usual, version="b").weights)


@pytest.mark.parametrize(
    ("html", "path", "expected"),
    [
        (article(head=ARTICLE_HEAD), "/council-votes-to-keep-bridge", ("news", "news", "news")),
        (section(), "/world/", ("index", "index", "index")),
        (IMPRINT, "/imprint", ("valueless", "valueless", "valueless")),
    ],
)
def test_simple_rules_classify_simple_pages(html, path, expected):
    found = facts(html, SITE + path)
    assert (kind_rules.by_metadata(found), kind_rules.by_address(found), kind_rules.by_points(found)) == expected


def test_the_thesis_takes_a_long_part_with_few_links_for_news():
    found = facts(section(), SITE)
    assert kind_rules.by_thesis("<p>" + "word " * 40, found) == "news"
    assert kind_rules.by_thesis("<p>" + "<a href=/>word word</a> " * 5, found._replace(links=51)) == "index"
    assert kind_rules.by_thesis("<p>short", found._replace(links=50)) == "valueless"


def test_the_evaluation_judges_no_site_by_weights_that_know_it(tmp_path: Path):
    folder = tmp_path / "page-types"
    (folder / "html").mkdir(parents=True)
    pages = [
        (article(head=ARTICLE_HEAD), "article", "new", "https://new.example/council-keeps-the-bridge-open"),
        (section(), "other", "new", "https://new.example/world/"),
        (article(), "article", "known", "https://www.bbc.co.uk/news/council-keeps-the-bridge-open"),
        (IMPRINT, "other", "known", "https://www.bbc.com/imprint"),
        (VIDEO, "valueless", "third", "https://third.example/video/a"),
    ]
    with (folder / "pages.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "class", "site", "url"])
        for number, (html, name, site, url) in enumerate(pages):
            (folder / "html" / f"{number}.html.gz").write_bytes(gzip.compress(html.encode()))
            rows.writerow([f"{number}.html.gz", name, site, url])
    assert "bbc.com" in shipped_model().domains
    output, weights, table = tmp_path / "figures.json", tmp_path / "weights.json", StringIO()
    call_command("evaluate_page_kinds", pages=folder, train=weights, json=output, list=True, stdout=table)
    numbers = json.loads(output.read_text())
    assert "5 pages of 3 sites" in table.getvalue()
    assert numbers["pages"] == 5
    assert numbers["ours.accuracy"] == numbers["ours.three_way_accuracy"] == 1.0
    assert {"thesis.accuracy", "metadata.accuracy", "address.accuracy", "hand_points.accuracy"} <= set(numbers)
    assert read_model(weights.read_text()).domains == {"new.example", "bbc.co.uk", "bbc.com", "third.example"}
