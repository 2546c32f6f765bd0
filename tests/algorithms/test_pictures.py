"""Pictures of articles are led through another address or replaced, and nothing else of the article changes."""

from base64 import urlsafe_b64encode
from pathlib import Path
from time import process_time

import lxml.html
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.postings.algorithms.markup import clean
from apps.web.algorithms.pictures import is_on_web, replaced, with_proxied_pictures
from lab.evaluations.extraction.hostile import complaints

PAGE = "https://example.org/news/today"
OURS = "https://portal.example/image/"
HOSTILE = Path(__file__).parent / "hostile"
PAYLOADS = [line for file in sorted(HOSTILE.glob("*.txt")) for line in file.read_text("utf-8").splitlines() if line]
DATA = "data:image/png;base64,iVBORw0KGgo="


def ours(address: str) -> str:
    return OURS + urlsafe_b64encode(address.encode()).decode()


def elements(html: str) -> list[tuple[str, dict[str, str], str, str]]:
    """Every element with its attributes and the text in it and behind it, as a parser reads them."""
    tree = lxml.html.fragment_fromstring(html, create_parent="div")
    return [(each.tag, dict(each.attrib), each.text or "", each.tail or "") for each in tree.iter()]


letters = st.characters(exclude_categories=["Cs", "Cc"])
words = st.text(letters | st.sampled_from("<>\"'&=/ "), max_size=12)
paths = st.text(letters | st.sampled_from("&,\"'<>;=%#?/. "), max_size=12)
addresses = st.one_of(
    paths.map("https://a.example/{}".format), paths.map("/{}".format), st.sampled_from([DATA, "", "//b.example/x.png"])
)


def quoted(value: str) -> str:
    return value.replace("&", "&amp;").replace('"', "&quot;")


@st.composite
def pictures(draw) -> str:
    given_addresses = [quoted(draw(addresses)) for _ in range(3)]
    source_set = ", ".join(f"{address} {size}" for address, size in zip(given_addresses, ("1x", "2x", "640w")))  # noqa: B905
    attributes = draw(
        st.permutations([
            f'alt="{quoted(draw(words))}"', f'src="{quoted(draw(addresses))}"', f'srcset="{source_set}"',
            f'title="{quoted(draw(words))}"', 'width="640"',
        ])
    )  # fmt: skip
    tag = f"<img {' '.join(attributes[: draw(st.integers(1, 5))])}>"
    frame = st.sampled_from([
        "{}", "<a href='/x' title='<img src=/y>'>{}</a>",
        "<picture><source srcset='/w.webp, /v,w.webp 2x'>{}</picture>",
        "<video poster='/p.png' src='/v.mp4'><source src='/v.webm'>{}</video>", "<p>x {} &lt;img src=/z&gt;</p>",
        "<audio controls src='/a.mp3'></audio>{}",
    ])  # fmt: skip
    return draw(frame).format(tag)


articles = st.lists(pictures() | words, max_size=6).map("".join).map(lambda html: clean(html, base_url=PAGE).html)


def slowly_led(element: tuple[str, dict[str, str], str, str]) -> tuple[str, dict[str, str], str, str]:
    """What leading should make of an element, in so many words."""
    name, attributes, *texts = element
    attributes = dict(attributes)
    for key in [("img", "src"), ("video", "poster")]:
        if name == key[0] and attributes.get(key[1], "").startswith("http"):
            attributes[key[1]] = ours(attributes[key[1]])
    if "srcset" in attributes:
        pairs = [pair.split(" ") for pair in attributes["srcset"].split(", ")]
        attributes["srcset"] = ", ".join(" ".join([ours(address), *size]) for address, *size in pairs)
    return name, attributes, *texts


@given(articles)
@example(clean(f'<img src="{DATA}" srcset="/1,2.png 1x, /3.png 2x" alt="a &amp;quot; > b">', base_url=PAGE).html)
def test_every_picture_is_led_through_and_nothing_else_changes(html):
    assert elements(with_proxied_pictures(html, ours)) == [slowly_led(element) for element in elements(html)]


@given(articles)
def test_of_what_is_replaced_nothing_is_loaded(html):
    for name, attributes, *_ in elements(replaced(html)):
        assert not attributes.keys() & {"srcset", "poster"}
        assert name != "img" or not is_on_web(attributes["src"])


@given(articles)
def test_a_replaced_picture_is_a_link_to_itself_or_words_in_the_link_around_it(html):
    before = lxml.html.fragment_fromstring(html, create_parent="div")
    after = lxml.html.fragment_fromstring(replaced(html), create_parent="div")
    links = [link for link in after.iter("a") if (link.text or "").startswith("Picture")]
    alone = [picture for picture in before.iter("img") if not any(True for _ in picture.iterancestors("a"))]
    shown = [picture for picture in alone if any(is_on_web(picture.get(name, "")) for name in ("src", "srcset"))]
    linked = [link for link in links if link.get("href") != "https://example.org/x"]
    assert len(linked) == len(shown)
    for link, picture in zip(linked, shown, strict=True):
        source = picture.get("src", "")
        assert link.get("href") == (
            source if is_on_web(source) else picture.get("srcset").split(" ")[0].removesuffix(",")
        )
        assert link.text == (f"Picture: {picture.get('alt')}" if "alt" in picture.attrib else "Picture")
    assert not any(True for link in after.iter("a") for _ in link.iterdescendants("a"))


@pytest.mark.parametrize("payload", PAYLOADS)
def test_replacing_pictures_keeps_safe_markup_safe(payload):
    html = clean(f"<p>before {payload} after</p><img src=/1.png alt='{payload}'>", base_url=PAGE).html
    assert complaints(with_proxied_pictures(html, ours)) == []
    assert complaints(replaced(html)) == []


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<img src="https://a.example/1" srcset="https://a.example/1 1x">', '<a href="https://a.example/1"{}>Picture</a>'),
        (f'<img src="{DATA}" alt="dot">', f'<img src="{DATA}" alt="dot">'),
        (f'<img src="{DATA}" srcset="https://a.example/1, x">', '<a href="https://a.example/1"{}>Picture</a>'),
        ('<video poster="https://a.example/1" src="https://a.example/2"></video>', '<video src="https://a.example/2"></video>'),
        ('<picture><source srcset="https://a.example/1"><img src="https://a.example/2"></picture>',
            '<picture><a href="https://a.example/2"{}>Picture</a></picture>'),
        ('<audio src="https://a.example/1"><source src="https://a.example/2"></audio>',) * 2,
        ('<img alt="a &lt; &quot;b&quot;" src="https://a.example/?1&amp;2">',
            '<a href="https://a.example/?1&amp;2"{}>Picture: a &lt; &quot;b&quot;</a>'),
    ],
)  # fmt: skip
def test_pictures_are_replaced_by_links(html, expected):
    assert replaced(html) == expected.replace("{}", ' rel="noopener noreferrer nofollow"')


def test_an_article_with_many_pictures_takes_a_few_milliseconds_at_most():
    paragraph = '<p>Some <b>words</b> with a <a href="https://a.example/">link</a>.</p>'
    picture = '<img src="https://a.example/1.png" srcset="https://a.example/1.png 1x, https://a.example/2.png 2x">'
    html = clean((paragraph * 6 + picture) * 8).html
    assert len(html) > 5_000
    began = process_time()
    for _ in range(20):
        with_proxied_pictures(html, ours)
        replaced(html)
    assert (process_time() - began) / 20 < 0.005  # 0.3 ms on a quiet machine


@pytest.mark.parametrize(
    "html", ["<img" * 100_000, '<img alt="' * 50_000, "<source <video " * 50_000, '<img src="x' * 50_000]
)
def test_malformed_markup_is_rewritten_within_a_second(html):
    began = process_time()
    with_proxied_pictures(html, ours)
    replaced(html)
    assert process_time() - began < 1.0
