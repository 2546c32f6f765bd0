"""What authors write as plain text becomes links, formulas and colours, and what they embed becomes cards."""

import re
from html import unescape
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.postings.algorithms.highlighting import MAX_CODE, MAX_PART, detected
from apps.postings.algorithms.markup import MAX_MARKUP_LENGTH, clean
from apps.postings.algorithms.players import player_of
from apps.web.algorithms.articles import player_link, with_players, with_regions
from lab.evaluations.extraction.hostile import complaints
from tests.trials import quick_every

PAGE = "https://example.org/news/"
TAGS = re.compile(r"<[^>]*>")
LINKED = re.compile(r'<a href="([^"]*)"[^>]*>([^<]*)</a>')


def linked(text: str) -> list[str]:
    """The texts of links in an article of plain text."""
    html = clean(f"<p>{text.replace('&', '&amp;').replace('<', '&lt;')}</p>", base_url=PAGE).html
    return [unescape(label) for _, label in LINKED.findall(html)]


# --- links

NO_PART = set(' \t\n"<>“”„«»‘’`{}|\\^[]') | {chr(code) for code in (*range(0x3000, 0x3040), *range(0xFF00, 0xFFF0))}


def links_of_twin(text: str) -> list[str]:
    """The addresses that a person would underline, found letter by letter."""
    found = []
    place = 0
    while place < len(text):
        before = text[place - 1] if place else " "
        begin = next((one for one in ("http://", "https://", "www.") if text[place:].lower().startswith(one)), None)
        if begin is None or before in "@./-" or (before.isascii() and before.isalnum()):
            place += 1
            continue
        end = place + len(begin)
        while end < len(text) and text[end] in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-":
            end += 1
        if end < len(text) and text[end] in "/?#":
            while end < len(text) and text[end] not in NO_PART and not text[end].isspace():
                end += 1
        address, place = text[place:end], end
        while address[-1] in ".,;:!?'*_~…" or (address[-1] == ")" and address.count(")") > address.count("(")):
            address = address[:-1]
        found.append(address)
    return found


HOSTS = st.sampled_from(["http://a.example", "https://b.example/x", "www.c.example", "HTTPS://D.example/?q=1&r=2"])
ENDS = st.sampled_from(["", ".", ",", ")", "...", "!", "/", "/a_(b)", "]", "。", "”", "?x=1", "/ü", "…", "'"])
AROUND = st.sampled_from([" ", "(", "[", "见", "“", "\n", "x", "mail@", "; ", "<", "a ", "/", "."])


@given(st.lists(st.tuples(AROUND, HOSTS, ENDS), max_size=5), AROUND)
@example([("", "https://en.wikipedia.example/wiki/A_(b)", ")")], " ")
def test_links_are_those_that_a_person_would_underline(parts, last):
    text = "".join(f"{before}{host}{end}" for before, host, end in parts) + last
    assert linked(text) == links_of_twin(text)


@pytest.mark.parametrize("element", ["a", "code", "pre", "kbd", "samp"])
def test_addresses_in_links_and_code_stay_as_they_are(element):
    assert clean(f"<{element}>https://a.example/</{element}>").html.count("<a href") == 0


def test_a_link_of_plain_text_leads_nowhere_for_trackers():
    assert clean("see https://a.example/?utm_source=x&id=1").html.startswith(
        'see <a href="https://a.example/?id=1" rel='
    )


# --- formulas


@pytest.mark.parametrize(
    ("tex", "display"), [(r"\(x^2\)", "inline"), (r"\[x^2\]", "block"), ("$$x^2$$", "block"), ("$$ x $$", "block")]
)
def test_tex_becomes_mathml_that_names_it(tex, display):
    cleaned = clean(f"<p>so {tex}.</p>")
    assert f'<math display="{display}" alttext="x' in cleaned.html
    assert cleaned.text.startswith("so x")


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 or $6, $x$ or US$$.",
        "$$Ca$$h and A$$AP",
        "$$$ 100 $$$",
        r"\(x \right\)",
        r"\(\def\a{\a\a}\a\)",
        r"\\(x\\)",
        "$$" + "x^2+" * 600 + "$$",
        "<code>$$x^2$$</code>",
        "<a>\\(x\\)</a>",
    ],
)
def test_prices_code_and_what_is_no_tex_stay_text(text):
    assert "<math" not in clean(f"<p>{text}</p>").html
    assert clean(f"<p>{text}</p>").text == unescape(TAGS.sub("", text))


def test_mathml_is_kept_without_links_and_other_markup():
    given_html = (
        '<math display="block" onclick="x()"><mrow href="javascript:x"><mi mathcolor="red" mathvariant="bold">x</mi>'
        '<mtext><a href="https://a.example">link</a><script>1</script></mtext><mglyph src="x"/><mspace width="1em"/>'
        "<maction>2</maction></mrow></math>"
    )
    assert clean(given_html).html == (
        '<math display="block"><mrow><mi mathvariant="bold">x</mi><mtext>link</mtext><mspace width="1em"></mspace>2'
        "</mrow></math>"
    )


@pytest.mark.parametrize(
    ("given_html", "expected"),
    [
        ("<math><mi>x <p>text", "<math><mi>x </mi></math><p>text</p>"),
        ("<mi>x</mi>", "x"),
        ("<math><math><mi>x</mi></math></math>y", "<math><mi>x</mi></math>y"),
        ("<mml:math><mml:mi>x</mml:mi></mml:math>", "<math><mi>x</mi></math>"),
        ('<math alttext="y"><mi>y</mi></math><img alt="y" src="/y.svg">', '<math alttext="y"><mi>y</mi></math>'),
        ('<math><mi>z</mi></math><span class="katex-html"><span>z</span></span>.', "<math><mi>z</mi></math>."),
    ],
)  # fmt: skip
def test_a_formula_becomes(given_html, expected):
    assert clean(given_html, base_url=PAGE).html == expected


COMMANDS = (
    r"\frac \sqrt { } [ ] ^ _ x 12 & \\ \left( \right) \text{a<b>} \begin{matrix} \end{matrix} \href{javascript:x}{y}"
    r""" \sum \over ' " > \unknown \hspace{1em} \limits \operatorname{f} \color{red}"""
)
TEX = st.lists(st.sampled_from([" ", *COMMANDS.split()]), max_size=15).map("".join)


@given(TEX)
@example(r"\text{<img src=x onerror=alert(1)>}")
@example(r"\href{javascript:alert(1)}{x}")
def test_any_tex_leaves_harmless_markup_that_stays_as_it_is(tex):
    cleaned = clean(f"<p>\\({tex.replace('<', '&lt;')}\\)</p>")
    assert complaints(cleaned.html) == []
    assert " href=" not in cleaned.html
    assert clean(cleaned.html) == cleaned


# --- code


@pytest.mark.parametrize(
    ("given_html", "language"),
    [
        ('<pre><code class="language-js">let a = 1;</code></pre>', "js"),
        ('<div class="highlight highlight-source-js"><pre>let a = <span class="pl-c1">1</span>;</pre></div>', "js"),
        ('<pre class="brush: js; gutter: false">let a = 1;</pre>', "js"),
        ("<pre>const a = 1;\nconst b = 2;</pre>", "javascript"),
    ],
)
def test_code_gets_colours_by_the_language_named_or_detected(given_html, language):
    cleaned = clean(given_html)
    assert f'<pre><code class="language-{language}"><span class="k">' in cleaned.html
    assert " ".join(cleaned.text.split()) == " ".join(TAGS.sub("", given_html).split())


@pytest.mark.parametrize(
    "given_html",
    [
        "<pre>  Roses are red,\n  import of violets</pre>",
        '<pre><code class="language-nonsense">let a = 1;</code></pre>',
        "<pre>let <b>a</b> = 1; let b = 2;</pre>",
        f'<pre><code class="language-js">{"let a = 1;" * (MAX_PART // 8)}</code></pre>',
        f'<pre><code class="language-js">{f"let a = 1;{chr(10)}" * (MAX_CODE // 10)}</code></pre>',
    ],
)
def test_poems_and_what_cannot_be_coloured_stay_as_they_are(given_html):
    assert "<span" not in clean(given_html).html


@given(st.text(max_size=80), st.sampled_from(["python", "js", "html", "sql", "diff", "console", "json", "css", "yaml"]))
def test_colours_change_no_letter(code, language):
    plain = clean(f"<pre>{code.replace('&', '&amp;').replace('<', '&lt;')}</pre>")
    escaped = code.replace("&", "&amp;").replace("<", "&lt;")
    cleaned = clean(f'<pre><code class="language-{language}">{escaped}</code></pre>')
    assert unescape(TAGS.sub("", cleaned.html)).lstrip("\n") == unescape(TAGS.sub("", plain.html)).lstrip("\n")
    assert clean(cleaned.html) == cleaned


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("import os\n\ndef f(x):\n    return x", "python"),
        ("#!/bin/sh\nls", "bash"),
        ('{\n  "a": 1,\n  "b": [2]\n}', "json"),
        ("SELECT a\nFROM b\nWHERE c = 1", "sql"),
        ("@@ -1,2 +1,2 @@\n-a\n+b", "diff"),
        ("package main\n\nfunc main() {\n}", "go"),
        ("Dear all,\n\nimport duties rise.\n\nYours", ""),
    ],
)
def test_a_language_is_detected_only_by_clear_signs(code, language):
    assert detected(code) == language


# --- players

EMBEDS = {
    "https://www.youtube.com/watch?list=PL0123456789&v=dQw4w9WgXcQ&t=9": "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://youtu.be/dQw4w9WgXcQ?t=9": "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://m.youtube.com/shorts/dQw4w9WgXcQ": "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ": "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://www.youtube.com/embed/videoseries?list=PL0123456789": "https://www.youtube.com/playlist?list=PL0123456789",
    "https://player.vimeo.com/video/76979871?h=abcdef0123&x=1": "https://vimeo.com/76979871/abcdef0123",
    "https://geo.dailymotion.com/player/x1.html?video=x7tgad0": "https://www.dailymotion.com/video/x7tgad0",
    "https://tube.example/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d": (
        "https://tube.example/videos/watch/9c9de5e8-0a1e-484a-b099-e80766180a6d"
    ),
    "https://open.spotify.com/embed/track/4rOoJ6Egrf8K2IrywzwOMk": "https://open.spotify.com/track/4rOoJ6Egrf8K2IrywzwOMk",
    "https://w.soundcloud.com/player/?color=f&url=https%3A//api.soundcloud.com/tracks/1": (
        "https://w.soundcloud.com/player/?url=https%3A//api.soundcloud.com/tracks/1"
    ),
    "https://archive.org/embed/a_film": "https://archive.org/details/a_film",
    "https://player.bilibili.com/player.html?aid=1&bvid=BV1GJ411x7h7": "https://www.bilibili.com/video/BV1GJ411x7h7",
}


@pytest.mark.parametrize(("address", "page"), EMBEDS.items())
def test_a_players_page_is_known_by_each_of_its_addresses(address, page):
    player = player_of(address)
    assert player is not None
    assert player.page == page
    again = player_of(page)
    assert again == player or page.startswith("https://archive.org/details/"), "whose other items are books"
    assert player.frame.startswith("https://")


@pytest.mark.parametrize(
    "address",
    [
        "https://www.youtube.com/@wirebeat",
        "https://www.youtube.com.evil.example/watch?v=dQw4w9WgXcQ",
        "https://evil.example/?u=https://youtu.be/dQw4w9WgXcQ",
        "javascript:https://youtu.be/dQw4w9WgXcQ",
        "https://vimeo.com/blog",
        'https://tube.example"onload=x/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d',
        "https://tube.example; script-src */videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d",
    ],
)
def test_other_addresses_have_no_player(address):
    assert player_of(address) is None


def carded(html: str, *, pictured: bool = True) -> str:
    return with_players(clean(html, base_url=PAGE).html, "/player/{}".format, pictured=pictured)


def test_two_adjacent_videos_become_two_cards():
    frame = '<iframe src="https://www.youtube.com/embed/{}" title="{} &amp; more"></iframe>'
    html = carded(f"<p>a{frame.format('aaaaaaaaaaa', 'One')}{frame.format('bbbbbbbbbbb', 'Two')}b</p>")
    assert re.findall(r'player-title" dir="auto">([^<]*)<', html) == ["One &amp; more", "Two &amp; more"]
    assert html.count("<img ") == 2
    assert 'data-player="/player/https://www.youtube.com/watch?v=aaaaaaaaaaa"' in html


def test_a_card_without_pictures_has_none():
    assert "<img" not in carded('<iframe src="https://youtu.be/aaaaaaaaaaa">', pictured=False)


def test_an_address_alone_in_its_paragraph_becomes_a_card_and_a_link_in_a_sentence_does_not():
    assert "data-player" in carded("<p>https://youtu.be/aaaaaaaaaaa</p>")
    assert "data-player" not in carded("<p>See https://youtu.be/aaaaaaaaaaa</p>")
    assert "data-player" not in carded("<p><a href=https://example.org/>elsewhere</a></p>")


def test_the_link_to_a_video_of_a_posting_becomes_a_card_with_its_length():
    html = with_players(player_link("https://vimeo.com/76979871", "A <b>", "/a.jpg", 185), str, pictured=True)
    assert '<time datetime="PT185S">3:05</time>' in html
    assert 'dir="auto">A &lt;b&gt;</span>' in html


def test_nested_tables_share_a_region_and_others_have_their_own():
    table = "<table><tr><td>{}</td></tr></table>"
    html = with_regions(table.format(table.format("x")) + table.format("<pre>y</pre>"), "Table")
    assert re.findall('aria-label="([^"]*)"', html) == ["Table 1", "Table 2"]
    assert html.count("</div>") == 2
    assert '<pre tabindex="0">' in html


# --- captions


@pytest.mark.parametrize(
    ("html", "prose"),
    [
        ("<figure><img src=/a><figcaption>A boat</figcaption></figure><p>Text.</p>", "Text."),
        ("<p>A boat. Photograph: Jane Doe/Agency</p><p>Text.</p>", "Text."),
        ("<p>Foto: dpa</p><p>Text.</p>", "Text."),
        ("<p>Text.</p><figure><figcaption>A boat</figcaption></figure><p>More.</p>", "Text.\n\nMore."),
        ("<figure><figcaption>A boat</figcaption></figure>", "A boat"),
        ("<p>A photograph: what it shows is disputed, and " + "so on " * 30 + "</p><p>b</p>", "A photograph: what it"),
    ],
)
def test_excerpts_begin_with_words_of_the_author(html, prose):
    assert clean(html, base_url=PAGE).prose.startswith(prose)


# --- bounds


@pytest.mark.parametrize(
    "bomb",
    quick_every(3, [
        pytest.param("\\(" * 400_000, id="openings of formulas"),
        pytest.param("\\(" + "x" * 900_000, id="a formula never closed"),
        pytest.param("$$x^2$$ " * 100_000, id="formulas"),
        pytest.param("$$" + "{" * 1_900 + "$$ " + "$$" + "x^{" * 600 + "}" * 600 + "$$", id="nested formulas"),
        pytest.param("https://a.example/" + ")" * 900_000, id="brackets"),
        pytest.param("www." * 240_000, id="beginnings of addresses"),
        pytest.param("http://a.b " * 90_000, id="addresses"),
        pytest.param("<pre>" + "let a = 1;\n" * 90_000 + "</pre>", id="code"),
        pytest.param("<pre>let a = 1;\nlet b = 2;\n</pre>" * 9_000, id="pieces of code"),
        pytest.param('<pre class="lang-csharp">' + "a\n" * 9_000 + "</pre>", id="code that is no C#"),
        pytest.param('<pre class="lang-java">' + "\n" * 19_000 + "</pre>", id="code that is no Java"),
        pytest.param("<math>" * 300_000, id="openings of mathml"),
        pytest.param("<math><mrow>" * 90_000, id="nested mathml"),
        pytest.param('<span class="katex-html">' * 90_000, id="copies of formulas"),
    ]),
)  # fmt: skip
def test_hostile_contents_end_soon_and_stay_small(bomb):
    began = process_time()
    cleaned = clean(bomb)
    assert process_time() - began < 10
    assert len(cleaned.html) <= MAX_MARKUP_LENGTH
    assert complaints(cleaned.html[:200_000]) == []
