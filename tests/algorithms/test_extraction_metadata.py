"""What pages say about themselves, in all the ways that publishers have found to say it wrongly."""

import json
from html import escape

import pytest

from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.metadata import (
    MAX_AUTHORS,
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_TITLE_LENGTH,
    Metadata,
    detect_language,
    read_metadata,
)
from tests.algorithms import extraction_prose

URL = "https://paper.example/town/2026/bridge.html"
ANN = {"@type": "Person", "name": "Ann Lee"}
HEADLINE = "Bridge stays open"


def read(page: str, *, url: str = URL) -> Metadata:
    return read_metadata(read_page(page.encode(), content_type="text/html; charset=utf-8").root, url=url)


def ld(text: object, *, kind: str = "application/ld+json") -> str:
    return f'<script type="{kind}">{text if isinstance(text, str) else json.dumps(text)}</script>'


def meta(**contents: str) -> str:
    """Elements with the first underscore of each name made a colon."""
    named = {name.replace("_", ":", 1): escape(content) for name, content in contents.items()}
    return "".join(f'<meta property="{name}" content="{content}">' for name, content in named.items())


def article(**members: object) -> dict[str, object]:
    return {"@type": "NewsArticle", "headline": HEADLINE} | members


# JSON-LD

ALONE = json.dumps(article(author=ANN))


@pytest.mark.parametrize(
    "script",
    [
        ld(ALONE),
        ld(f"[{ALONE}]"),
        ld(f'{{"@context": "https://schema.org", "@graph": [{{"@type": "WebSite", "headline": "No"}}, {ALONE}]}}'),
        ld(f'{{"@type": "WebPage", "headline": "No", "mainEntity": {{"hasPart": [[{ALONE}]]}}}}'),
        ld('{"x":' * 300 + ALONE + "}" * 300),
        ld(f"<!-- {ALONE} -->"),
        ld(f"//<![CDATA[\n{ALONE}\n//]]>"),
        ld(f"// <![CDATA[\n{ALONE}\n// ]]>"),
        ld(f"/*<![CDATA[*/ {ALONE} /*]]>*/"),
        ld(f"<![CDATA[{ALONE}]]>"),
        ld(f"{ALONE};"),
        ld(f"\ufeff \n{ALONE}\n"),
        ld(ALONE[:-1] + ", }"),
        ld(ALONE.replace("Ann Lee", 'Ann Lee",\n "x": [1, 2, ],\n "y": "').replace(" stays", "\tstays")),
        ld(ALONE.replace("Bridge stays", "Bridge\n stays")),
        ld(ALONE.replace("Bridge stays", "Bridge&nbsp;stays").replace("Ann Lee", "Ann&#32;Lee")),
        ld(ALONE, kind=" Application/LD+JSON; charset=utf-8"),
        ld("{ this is no json") + ld(ALONE),
        ld("") + ld("null") + ld("3") + ld('"text"') + ld("[[]]") + ld(ALONE),
        ld(json.dumps(article(author=ANN, **{"@type": ["Thing", "ReportageNewsArticle"]}))),
        ld(json.dumps(article(author=ANN, **{"@type": "https://schema.org/BlogPosting"}))),
        ld([article(author={"@id": "#ann"}), {"@id": "#ann", **ANN}]),
        ld(article(author=[{"@id": "#ann"}])) + ld({"@graph": [{"@id": "#ann"}, {"@id": "#ann", **ANN}]}),
        ld(article(headline=[HEADLINE, "Other"], author=["Ann Lee"])),
        ld([article(author=ANN), article(headline="Another story")]),
        f"<body><p>x</p>{ld(ALONE)}",
    ],
)  # fmt: skip
def test_json_ld_article_is_read_in_any_wrapper(script):
    found = read(script)
    assert found.title == HEADLINE
    assert found.authors == ("Ann Lee",)
    assert found.types & {"newsarticle", "reportagenewsarticle", "blogposting"}


@pytest.mark.parametrize(
    "script",
    [
        ld("{" + ALONE), ld("[" * 100_000), ld('{"a":' * 100_000), ld("9" * 10_000), ld(ALONE, kind="application/json"),
        ld(article(**{"@type": "Recipe"})), ld(article(**{"@type": {"x": 1}})), ld(article(**{"@type": None})),
        ld({"headline": HEADLINE}), ld(f'[{ALONE}, {"x" * 2_000_000}]'),
    ],
)  # fmt: skip
def test_other_objects_and_invalid_json_are_ignored(script):
    assert read(script).title == ""


# Title


@pytest.mark.parametrize(
    ("page", "title"),
    [
        ("<title>Bridge stays</title>", "Bridge stays"),
        ("<title>\n Bridge   stays\n</title>", "Bridge stays"),
        ("<title>Bridge &amp; road</title>", "Bridge & road"),
        ("<title>Bridge stays | The Paper</title>", "Bridge stays"),
        ("<title>Bridge stays – The Paper</title>", "Bridge stays"),
        ("<title>Bridge stays - The Paper</title>", "Bridge stays"),
        ("<title>Bridge-stays</title>", "Bridge-stays"),
        ("<title>1 - 0: Town - County | The Paper</title>", "1 - 0: Town - County"),
        # an h1 is the title where it agrees with what the head says
        ("<title>Bridge stays - The Paper</title><h1>Bridge stays</h1>", "Bridge stays"),
        ("<title>Bridge stays - The Paper</title><h1><b>Bridge</b> stays</h1>", "Bridge stays"),
        ("<title>BRIDGE STAYS! - The Paper</title><h1>“Bridge” stays</h1>", "“Bridge” stays"),
        (meta(og_title="Bridge stays") + "<h1>Bridge stays, says council</h1>", "Bridge stays, says council"),
        (meta(og_title="Bridge stays, says council") + "<h1>Bridge stays</h1>", "Bridge stays"),
        (meta(og_title="Bridge stays") + "<h1>Sport</h1>", "Bridge stays"),
        (meta(og_title="Bridge stays") + "<h1>Sport</h1><h1>Bridge stays open</h1>", "Bridge stays open"),
        (meta(og_title="Bridge stays") + "<h1> </h1>", "Bridge stays"),
        (meta(twitter_title="Bridge stays | The Paper"), "Bridge stays"),
        (meta(og_title="Bridge", twitter_title="Other"), "Bridge"),
        (ld(article()) + meta(og_title="Other"), HEADLINE),
        ("<title>The Paper</title><h1>Bridge stays</h1>", "Bridge stays"),
        # the masthead is an h1 as well
        ("<title>Bridge stays - The Paper</title><h1>The Paper</h1>", "Bridge stays"),
        ("<title>Bridge stays - The Paper</title><h1>The Paper</h1><h1>Bridge stays</h1>", "Bridge stays"),
        (meta(og_title="Bridge", og_site_name="Paper") + "<title>Paper: Bridge</title><h1>Paper</h1>", "Bridge"),
        ("<title>World - The bridge stays open</title><h1>The bridge stays open</h1>", "The bridge stays open"),
        ("<title></title><h1></h1>", ""),
        ("<p>Nothing", ""),
    ],
)  # fmt: skip
def test_the_title_is_the_headline_without_the_name_of_the_site(page, title):
    assert read(page).title == title


def test_a_title_and_a_description_have_a_longest_length():
    found = read(f"<title>{'a ' * 5_000}</title>{meta(og_description='b ' * 5_000)}")
    assert len(found.title) == MAX_TITLE_LENGTH - 1
    assert len(found.description) == MAX_DESCRIPTION - 1


# Date

LD_DATE = ld(article(datePublished="2026-01-01T08:00:00+01:00"))
# Each source alone says another day; a source before it in this list is trusted more.
DATES = [
    (ld(article(datePublished="2026-01-01")), "2026-01-01"),
    (ld(article(dateCreated="2026-01-02")), "2026-01-02"),
    (meta(article_published_time="2026-01-03"), "2026-01-03"),
    ('<meta itemprop="datePublished" content="2026-01-04">', "2026-01-04"),
    ('<meta name="parsely-pub-date" content="2026-01-05">', "2026-01-05"),
    ('<meta name="DATE" content="2026-01-06">', "2026-01-06"),
    ('<meta name="pubdate" content="2026-01-07">', "2026-01-07"),
    ('<meta name="DC.date.issued" content="2026-01-08">', "2026-01-08"),
    ('<meta property="og:published_time" content="2026-01-09">', "2026-01-09"),
    ('<meta http-equiv="last-modified" content="2026-01-10">', "2026-01-10"),
    (ld({"@type": "WebPage", "datePublished": "2026-01-11"}), "2026-01-11"),
    ('<time datetime="2026-01-12">x</time>', "2026-01-12"),
    ("<time>2026-01-13</time>", "2026-01-13"),
]


@pytest.mark.parametrize("place", range(len(DATES)))
def test_dates_are_trusted_in_their_order(place):
    sources = [source for source, _ in DATES[place:]]
    assert str(read("".join(sources[::-1])).published)[:10] == DATES[place][1]
    wrong = "".join(source.replace(day, "yesterday") for source, day in DATES[:place])
    assert str(read(wrong + "".join(sources)).published)[:10] == DATES[place][1]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-03-04T07:30:00+01:00", "2026-03-04 07:30:00+01:00"),
        ("2026-03-04T07:30:00.123Z", "2026-03-04 07:30:00+00:00"),
        ("2026-03-04T07:30:00", "2026-03-04 07:30:00+00:00"),
        ("2026-03-04T07:30:00+0100", "2026-03-04 07:30:00+01:00"),
        ("2026-03-04 07:30:00 +0100", "2026-03-04 07:30:00+01:00"),
        ("2026-03-04 07:30", "2026-03-04 07:30:00+00:00"),
        ("2026-03-04", "2026-03-04 00:00:00+00:00"),
        ("Wed, 04 Mar 2026 07:30:00 GMT", "2026-03-04 07:30:00+00:00"),
        ("Mar 4, 2026", "2026-03-04 00:00:00+00:00"),
        ("20260304", "2026-03-04 00:00:00+00:00"),
        ("Published: 2026-03-04 07:30 Uhr", "2026-03-04 07:30:00+00:00"),
        ("build 20260304 of the site", "2026-03-04 00:00:00+00:00"),
        ("&lt;b&gt;2026-03-04&lt;/b&gt;", "2026-03-04 00:00:00+00:00"),
        (["2026-03-04", "2026-03-05"], "2026-03-04 00:00:00+00:00"),
        ("2026-02-31", "None"),
        ("yesterday", "None"),
        ("", "None"),
        (1772609400, "None"),
        ({"@value": "2026-03-04"}, "None"),
        ("0001-01-01T00:00:00", "None"),
    ],
)
def test_dates_come_in_many_shapes(written, moment):
    assert str(read(ld(article(datePublished=written))).published) == moment


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://paper.example/2026/03/04/bridge", "2026-03-04"),
        ("https://paper.example/2026/3/4/", "2026-03-04"),
        ("https://paper.example/news/2026-03-04-bridge", "2026-03-04"),
        ("https://paper.example/news/20260304/bridge", "2026-03-04"),
        ("https://paper.example/2026/13/40/bridge", None),
        ("https://paper.example/2026/03/bridge", None),
        ("https://paper.example/4711/bridge", None),
    ],
)
def test_date_falls_back_to_the_address(url, day):
    found = read("<p>x", url=url).published
    assert (found and found.date().isoformat()) == day
    assert read(LD_DATE, url=url).published.isoformat() == "2026-01-01T08:00:00+01:00"


# Authors


@pytest.mark.parametrize(
    ("written", "names"),
    [
        (ANN, ("Ann Lee",)),
        ("Ann Lee", ("Ann Lee",)),
        ([ANN, {"name": "Bo Berg"}, "Cy Dale"], ("Ann Lee", "Bo Berg", "Cy Dale")),
        ([ANN, ANN, "Ann Lee"], ("Ann Lee",)),
        ({"name": ["Ann Lee", "Bo Berg"]}, ("Ann Lee", "Bo Berg")),
        ("By Ann Lee", ("Ann Lee",)),
        ("von Ann Lee", ("Ann Lee",)),
        ("Ann Lee and Bo Berg", ("Ann Lee", "Bo Berg")),
        ("Ann Lee, Bo Berg und Cy Dale", ("Ann Lee", "Bo Berg", "Cy Dale")),
        ("Ann Lee; Bo Berg | Cy Dale", ("Ann Lee", "Bo Berg", "Cy Dale")),
        ("Berg, Bo", ("Berg, Bo",)),
        ("Ann Lee (al)", ("Ann Lee",)),
        ("Bj&ouml;rn &Aring;s", ("Björn Ås",)),
        ("https://paper.example/ann", ()),
        (["/authors/ann", "www.ann.example", "ann@paper.example", "12 345", "x", ""], ()),
        ("x" * (MAX_NAME + 1), ()),
        ({"@id": "#nobody"}, ()),
        ([None, 3, True, [], [["Ann Lee"]], {"name": {"name": "Ann Lee"}}], ()),
    ],
)
def test_authors_are_names_of_people(written, names):
    assert read(ld(article(author=written))).authors == names


def test_authors_are_trusted_in_their_order():
    in_body = '<a rel="author" href="/d">Dan Elm</a>'
    in_meta = '<meta name="author" content="Cy Dale"><meta name="byl" content="By Ed Fox">'
    assert read(ld(article(author="Ann Lee")) + in_meta + in_body).authors == ("Ann Lee",)
    assert read(ld(article(author="https://x.example/")) + in_meta + in_body).authors == ("Cy Dale",)
    assert read(in_meta.replace("Cy Dale", "https://x.example/") + in_body).authors == ("Ed Fox",)
    assert read(in_body).authors == ("Dan Elm",)
    assert read('<span itemprop="author">By <b>Dan</b> Elm</span>').authors == ("Dan Elm",)
    assert len(read(ld(article(author=[f"Ann Lee{chr(97 + place)}" for place in range(26)]))).authors) == MAX_AUTHORS


# Addresses


@pytest.mark.parametrize(
    ("page", "address"),
    [
        (meta(og_image="https://cdn.example/a.jpg"), "https://cdn.example/a.jpg"),
        (meta(og_image="/a.jpg"), "https://paper.example/a.jpg"),
        (meta(og_image="a b.jpg"), "https://paper.example/town/2026/a%20b.jpg"),
        (meta(og_image="//cdn.example/a.jpg"), "https://cdn.example/a.jpg"),
        ('<base href="https://cdn.example/x/">' + meta(og_image="a.jpg"), "https://cdn.example/x/a.jpg"),
        ('<base href="/x/">' + meta(og_image="a.jpg"), "https://paper.example/x/a.jpg"),
        (meta(**{"og_image:secure_url": "/s.jpg"}, og_image="/a.jpg"), "https://paper.example/s.jpg"),
        (meta(og_image="", twitter_image="/t.jpg"), "https://paper.example/t.jpg"),
        (meta(twitter_image="/t.jpg"), "https://paper.example/t.jpg"),
        (meta(og_image="data:image/png;base64,AA==") + ld(article(image="/l.jpg")), "https://paper.example/l.jpg"),
        (meta(og_image="javascript:x"), ""),
        (meta(og_image="http://["), ""),
        (ld(article(image="/l.jpg")), "https://paper.example/l.jpg"),
        (ld(article(image=["/l.jpg", "/m.jpg"])), "https://paper.example/l.jpg"),
        (ld(article(image={"@type": "ImageObject", "url": "/l.jpg"})), "https://paper.example/l.jpg"),
        (ld(article(image=[{"contentUrl": "/l.jpg"}])), "https://paper.example/l.jpg"),
        (ld([article(image={"@id": "#i"}), {"@id": "#i", "@type": "ImageObject", "url": "/l.jpg"}]),
         "https://paper.example/l.jpg"),
        (ld(article(image={"@id": "#nothing"})), ""),
        (ld(article(image={"url": {"url": "/l.jpg"}})), ""),
        (ld({"@type": "WebPage", "image": "/w.jpg"}), ""),
        ("<p><img src=/body.jpg>", ""),
    ],
)  # fmt: skip
def test_the_lead_image_has_an_absolute_address_or_none(page, address):
    assert read(page).image_url == address


@pytest.mark.parametrize(
    ("page", "address"),
    [
        ('<link rel="canonical" href="https://paper.example/b">', "https://paper.example/b"),
        ('<link rel="CANONICAL" href=" /b ">', "https://paper.example/b"),
        ('<link rel="alternate canonical" href="b">', "https://paper.example/town/2026/b"),
        ('<link rel="canonical" href="//other.example/b">', "https://other.example/b"),
        ('<link rel="canonical" href="">' + meta(og_url="/o"), "https://paper.example/o"),
        ('<link rel="canonical" href="javascript:x">' + meta(og_url="/o"), "https://paper.example/o"),
        ('<link rel="canonical">' + meta(og_url="/o"), "https://paper.example/o"),
        ('<link rel="shortlink" href="/s">', ""),
    ],
)
def test_the_canonical_address_is_absolute(page, address):
    assert read(page).canonical_url == address


# Language, types


@pytest.mark.parametrize(
    ("page", "language"),
    [
        ("<html lang=de>", "de"),
        ("<html lang=' en_GB '>", "en-GB"),
        ("<html xml:lang=sr-Latn-RS>", "sr-Latn-RS"),
        ("<html lang=''>" + meta(og_locale="pt_BR"), "pt-BR"),
        ("<html lang='{{ locale }}'>" + meta(og_locale="pt_BR"), "pt-BR"),
        ('<html><meta http-equiv="Content-Language" content="fr">', "fr"),
        ("<html lang=en><head>" + meta(og_locale="fr_FR"), "en"),
        ("<html lang=english-language-of-the-isles>", ""),
        ("<p>x", ""),
    ],
)
def test_declared_language_is_used(page, language):
    assert read(page).language == language


def test_language_is_detected_from_the_text():
    assert detect_language(" ".join(extraction_prose.BRIDGE)) == "en"
    assert detect_language("".join(extraction_prose.CHINESE)) == "zh"
    assert detect_language(" ".join(extraction_prose.ARABIC)) == "ar"
    assert detect_language("Bridge 1234567890 1234567890") == ""


def test_types_are_collected():
    found = read(ld(article()) + meta(og_type="Article"))
    assert found.types == {"newsarticle"}
    assert found.og_type == "article"
    assert read(meta(article_published_time="never")).has_published_meta


# Anything


def test_missing_page_has_no_metadata():
    assert read_metadata(None, url=URL) == Metadata()
    assert read("<p>x") == Metadata()
