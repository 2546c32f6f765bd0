from pathlib import Path
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.postings.algorithms.markup import MAX_DATA, MAX_DEPTH, MAX_MARKUP_LENGTH, MAX_TAGS, clean
from lab.evaluations.extraction.hostile import complaints
from tests.trials import quick_every

PAGE = "https://example.org/news/today"
IMG = 'loading="lazy" decoding="async" referrerpolicy="no-referrer"'
LINK = 'rel="noopener noreferrer nofollow"'
HOSTILE = Path(__file__).parent / "hostile"
UNSAFE = (HOSTILE / "unsafe.txt").read_text("utf-8").splitlines()
UNSAFE_IF_MISREAD = (HOSTILE / "unsafe_if_misread.txt").read_text("utf-8").splitlines()
FRAMES = ["{}", "<p>before {} after</p>", "<table><tr><td>{}</td></tr></table>", '<a href="{}">x</a>']


def html(markup: str) -> str:
    """Cleaned, without the attributes that every link and picture gets."""
    return clean(markup, base_url=PAGE).html.replace(f" {LINK}", "").replace(f" {IMG}", "")


@pytest.mark.parametrize("payload", UNSAFE + UNSAFE_IF_MISREAD)
def test_nothing_hostile_is_left(payload: str) -> None:
    for frame in FRAMES:
        cleaned = clean(frame.format(payload), base_url=PAGE)
        assert complaints(cleaned.html) == []
        assert clean(cleaned.html, base_url=PAGE) == cleaned


@pytest.mark.parametrize("payload", UNSAFE)
def test_unsafe_markup_would_be_detected(payload: str) -> None:
    assert complaints(payload) != []


@pytest.mark.parametrize(
    ("given_html", "expected"),
    [
        pytest.param("<p>One<p>Two", "<p>One</p><p>Two</p>", id="ends that are left out"),
        pytest.param("1 < 2 & 3 > 2", "1 &lt; 2 &amp; 3 &gt; 2", id="signs that are no markup"),
        pytest.param("<b><i>x</b>y</i>", "<b><i>x</i></b><i>y</i>", id="crossed elements"),
        pytest.param("<section>a</section><footer>b</footer>", "<div>a</div><div>b</div>", id="boxes of a page"),
        pytest.param("<font color=red><blink>x</blink></font>", "x", id="unknown elements, whose content stays"),
        pytest.param("a<!-- b -->c<!---->d<!>e", "acde", id="comments"),
        pytest.param('see <a href="https://exam', "see ", id="a tag cut in the middle"),
        pytest.param('<p class="x>y</p>', "<p>y</p>", id="a quote never closed"),
        pytest.param("<svg>never closed <p>text", "never closed <p>text</p>", id="a drawing never closed"),
        pytest.param("x<script>never closed <p>text", "x", id="code never closed"),
        pytest.param("<pre>\n\n  a\n</pre>", "<pre>  a\n</pre>", id="preformatted text"),
        pytest.param("a\0b\x08c\ud800d&#0;&#8;", "abcd\ufffd", id="what no database can hold"),
        pytest.param("a\r\nb&#13;c", "a\nb\nc", id="line ends"),
        pytest.param("<P LANG=en DIR=rtl ID=x>a</P>", '<p lang="en" dir="rtl">a</p>', id="language"),
        pytest.param("<ol start=3><li value=7>x", '<ol start="3"><li value="7">x</li></ol>', id="list"),
        pytest.param("<td colspan=2 width=9>", "", id="a cell without table"),
        pytest.param("<details open><summary>a", '<details open=""><summary>a</summary></details>', id="details"),
        pytest.param("<ruby>漢<rp>(</rp><rt>kan</rt>", "<ruby>漢<rp>(</rp><rt>kan</rt></ruby>", id="ruby"),
    ],
)  # fmt: skip
def test_markup_becomes(given_html: str, expected: str) -> None:
    assert html(given_html) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/a?utm_source=rss&id=1", "https://example.org/a?id=1"),
        ("yesterday", "https://example.org/news/yesterday"),
        ("//other.example/x y", "https://other.example/x%20y"),
        ("#note", "https://example.org/news/today#note"),
        ("mailto:editor@example.org", "mailto:editor@example.org"),
        ("http://example.org/?a=1&amp;b=2", "http://example.org/?a=1&amp;b=2"),
    ],
)
def test_a_link_leads_to(address: str, expected: str) -> None:
    assert clean(f'<a href="{address}">x</a>', base_url=PAGE).html == f'<a href="{expected}" {LINK}>x</a>'


@pytest.mark.parametrize("address", ["", "tel:1", "ftp://example.org/", "https://", "/" + "x" * 3_000])
def test_a_link_to_elsewhere_is_mere_text(address: str) -> None:
    assert html(f'<a href="{address}">x</a>') == "<a>x</a>"


def test_relative_links_without_base_are_dropped() -> None:
    assert clean('<a href="/a">x</a><img src="a.png">').html == f"<a {LINK}>x</a>"


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ('src="a.png" width=640 height=480 onload=x', 'width="640" height="480" src="https://example.org/news/a.png"'),
        ('src="a.png" width="100%"', 'src="https://example.org/news/a.png"'),
        ('src="a.png" alt="A &amp; B" class=wide', 'alt="A &amp; B" src="https://example.org/news/a.png"'),
        ('src="data:image/gif;base64,R0lG" data-src="/b.png"', 'src="https://example.org/b.png"'),
        ('src="data:image/png;base64,iVBORw0K"', 'src="data:image/png;base64,iVBORw0K"'),
        ('srcset="/a,c.png 2x,/d.png 640w"', 'srcset="https://example.org/a,c.png 2x, https://example.org/d.png 640w"'),
        ('srcset="/a.png, /d.png 1.5x"', 'srcset="https://example.org/a.png, https://example.org/d.png 1.5x"'),
    ],
)
def test_a_picture_becomes(picture: str, expected: str) -> None:
    assert html(f"<img {picture}>") == f"<img {expected}>"


@pytest.mark.parametrize("picture", ["<img>", "<img alt=x>", f'<img src="data:image/png;base64,{"A" * MAX_DATA}">'])
def test_a_picture_without_an_address_of_bearable_length_is_dropped(picture: str) -> None:
    assert html(picture) == ""


def test_a_picture_in_several_formats_keeps_them() -> None:
    formats = '<source type="image/avif" srcset="{0}/a.avif"><img src="{0}/a.png">'
    assert html(f"<picture>{formats.format('')}") == f"<picture>{formats.format('https://example.org')}</picture>"


def test_pictures_load_lazily_and_without_referrer() -> None:
    assert IMG in clean('<img src="a.png">', base_url=PAGE).html


@pytest.mark.parametrize(
    "pixel",
    [
        '<img src="https://example.com/t.gif" width="1" height="1">',
        '<img src="https://example.com/t.gif" width=0>',
        '<img src="https://example.com/t.gif" style="width: 1px; height:1px">',
        '<img src="https://example.com/t.gif" style="display:none">',
        '<img src="https://example.com/t.gif" hidden>',
        '<img src="https://sb.scorecardresearch.com/p?c1=2" width="300">',
        '<img src="http://feeds.feedburner.com/~r/news/~4/abc" height="10">',
        '<iframe src="https://www.googletagmanager.com/ns.html?id=1"></iframe>',
        '<iframe src="https://example.com/frame" width="0" height="0"></iframe>',
    ],
)
def test_trackers_are_dropped(pixel: str) -> None:
    assert html(f"<p>x{pixel}</p>") == "<p>x</p>"


YOUTUBE = "https://www.youtube.com/watch?v=a_b-C1"
THUMBNAIL = '<img alt="{}" src="https://i.ytimg.com/vi/a_b-C1/hqdefault.jpg">'


@pytest.mark.parametrize(
    ("frame", "address", "label"),
    [
        ('<iframe src="//www.youtube.com/embed/a_b-C1?rel=0" title="Song">', YOUTUBE, THUMBNAIL.format("Song")),
        ('<iframe src="https://www.youtube-nocookie.com/embed/a_b-C1"/>', YOUTUBE, THUMBNAIL.format("YouTube")),
        ('<embed src="https://www.youtube.com/v/a_b-C1">', YOUTUBE, THUMBNAIL.format("YouTube")),
        ('<iframe src="https://player.vimeo.com/video/76979871?h=1">', "https://vimeo.com/76979871", "Vimeo"),
        ('<iframe src="https://maps.example/?q=1">inside</iframe>', "https://maps.example/?q=1", "maps.example"),
    ],
)
def test_a_frame_becomes_a_link_to_what_it_shows(frame: str, address: str, label: str) -> None:
    assert html(frame) == f'<figure><a href="{address}">{label}</a></figure>'


def test_sound_and_video_have_controls_and_load_nothing_by_themselves() -> None:
    cleaned = html("<video src=a.mp4 autoplay poster=p.png></video><audio autoplay><source src=a.mp3></audio>")
    assert "autoplay" not in cleaned
    assert cleaned.count('controls="" preload="none"') == 2


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>One\n two</p><p>Three<br>four</p>", "One two\n\nThree\nfour"),
        ("<ul><li>One<li><p>Two</p></ul>after", "- One\n- Two\n\nafter"),
        ("<h1>Head</h1>text<hr>more", "Head\n\ntext\n\nmore"),
        ("<table><tr><td>a<td>b<tr><th>c<td>d</table>", "a b\nc d"),
        ("<pre>a\n  b</pre>", "a\nb"),
        ("fish &amp; chips&nbsp;&lt;b&gt; &amp;amp;", "fish & chips <b> &amp;"),
        ("a<script>b</script><style>c</style><title>d</title><svg><text>e</text></svg>f", "af"),
        ("un<b>believ</b>able", "unbelievable"),
        ("  \n\t ", ""),
        ("", ""),
    ],
)
def test_the_text_beside_it_is(markup: str, expected: str) -> None:
    assert clean(markup).text == expected


def test_the_picture_of_an_article_is_its_first_large_one() -> None:
    small = '<img src="face.png" width="32" height="32"><img src="data:image/png;base64,AAAA">'
    large = '<img src="https://example.org/a.png"><img src="https://example.org/b.png">'
    assert clean(small + large, base_url=PAGE).image_url == "https://example.org/a.png"
    assert clean(small, base_url=PAGE).image_url == ""


@pytest.mark.parametrize(
    "bomb",
    quick_every(3, [
        pytest.param("<div>" * 100_000 + "x", id="nested boxes"),
        pytest.param("<b>" * 100_000 + "x", id="nested emphasis"),
        pytest.param("<table><tr><td>" * 50_000 + "x", id="nested tables"),
        pytest.param("<a href=https://x.example/><p>" * 20_000, id="links that open again in every paragraph"),
        pytest.param("<p " + " ".join(f"a{n}" for n in range(200_000)) + ">x", id="attributes"),
        pytest.param("<" * 500_000, id="less-than signs"),
        pytest.param("&" * 500_000, id="ampersands"),
        pytest.param("<!--" * 500_000, id="comments"),
        pytest.param("<a b='" * 300_000, id="quotes"),
        pytest.param("<svg>" + "</svg " * 300_000, id="ends that do not end"),
        pytest.param("<svg>" * 300_000, id="drawings"),
        pytest.param("<pre" * 500_000, id="cut tags"),
        pytest.param("data:image/" * 180_000, id="picture data"),
        pytest.param('<img srcset="' + "a " * 500_000 + '">', id="sets of pictures"),
        pytest.param("<p>x</p>" * 250_000, id="paragraphs"),
    ]),
)  # fmt: skip
def test_a_bomb_ends_soon_and_stays_small(bomb: str) -> None:
    began = process_time()
    cleaned = clean(bomb, base_url=PAGE)
    assert process_time() - began < 10
    assert len(cleaned.html) <= MAX_MARKUP_LENGTH
    assert clean(cleaned.html).html == cleaned.html


@pytest.mark.parametrize("nesting", [MAX_DEPTH, MAX_DEPTH + 1])
def test_deeply_nested_markup_keeps_its_text_alone(nesting: int) -> None:
    cleaned = clean("<div>" * nesting + "1 &lt; 2" + "</div>" * nesting)
    assert cleaned.text == "1 < 2"
    assert cleaned.html.startswith("<p>1 &lt; 2" if nesting > MAX_DEPTH else "<div><div>")


def test_an_article_of_too_many_tags_ends_there() -> None:
    assert clean("<p>x</p>" * MAX_TAGS).text.count("x") == MAX_TAGS // 2


TAGS = [
    "a", "b", "p", "div", "ul", "li", "table", "tr", "td", "th", "caption", "pre", "h1", "hr", "br", "img", "picture",
    "source", "svg", "math", "style", "script", "title", "template", "form", "select", "button", "iframe", "noscript",
    "textarea", "ruby", "rt", "details", "summary", "video", "blockquote", "code", "dl", "dd",
]  # fmt: skip
SCRAPS = [
    "<!--", "-->", "<![CDATA[", "]]>", "<", ">", '"', "'", "&lt;", "&#13;", "&nbsp;", "\n", " ", "x", "\0",
    '<a href="/x?fbclid=1&y=<z>">', "<img src=a.png title='<p>\n'>", '<p dir=ltr onclick="x">', "<td colspan=2>",
]  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(TAGS).map("<{}>".format),
    st.sampled_from(TAGS).map("</{}>".format),
    st.sampled_from(SCRAPS),
    st.text(max_size=5),
)


@given(st.lists(PIECES, max_size=30).map("".join))
@example("<a href=/1><table><a href=/2>x</table>")
@example("<pre>\n\n\n</pre>")
@example("<table><p>x<tr><td><p></table></p>")
def test_clean_markup_is_unchanged(markup: str) -> None:
    cleaned = clean(markup, base_url=PAGE)
    assert clean(cleaned.html, base_url=PAGE) == cleaned
    assert clean(cleaned.html) == cleaned
    assert complaints(cleaned.html) == []


@given(st.text())
def test_escaped_text_stays_text(text: str) -> None:
    escaped = "".join(f"&#{ord(character)};" for character in text if character.isalnum() and character.isascii())
    assert clean(f"<p>{escaped}</p>").text == "".join(c for c in text if c.isalnum() and c.isascii())
