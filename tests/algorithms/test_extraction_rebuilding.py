"""What an article's html keeps of its page, and that nothing is lost or repeated."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html

from apps.postings.algorithms.extraction.blocks import INLINE, cut
from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.rebuilding import plain_text, rebuilt
from apps.postings.algorithms.markup import clean

LONG = (
    "The harbour office has explained its tariff for small boats, which rises with the number of oars they carry. " * 4
)
PAGE = "https://example.org/news/today"


def rebuild(body: str, *, head: str = "") -> str:
    """All blocks of the body's page, made html."""
    root = read_page(f"<html><head>{head}</head><body>{body}</body></html>".encode()).root
    blocks = cut(root)
    return rebuilt(blocks, range(len(blocks)), root)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h1>One</h1><h2>Two</h2><h3>Three</h3>", "<h2>One</h2><h2>Two</h2><h3>Three</h3>"),
        ("<h4>Four</h4><h5>Five</h5><h6>Six</h6>", "<h4>Four</h4><h4>Five</h4><h4>Six</h4>"),
        ("<div>One<p>two</div>", "<p>One</p><p>two</p>"),
        ("<ul><li>One<li>two</ul>", "<ul><li>One</li><li>two</li></ul>"),
        ("<ol><li>One<ul><li>in</ul><li>two</ol>", "<ol><li>One<ul><li>in</li></ul></li><li>two</li></ol>"),
        ("<li>One", "<p>One</p>"),
        ("<ul>stray<li>One</ul>", "<p>stray</p><ul><li>One</li></ul>"),
        ("<ul><li><p>One<p>two</ul>", "<ul><li><p>One</p><p>two</p></li></ul>"),
        ("<blockquote cite=/q><p>One<p>two</blockquote>", '<blockquote cite="/q"><p>One</p><p>two</p></blockquote>'),
        ("<blockquote>One</blockquote>", "<blockquote><p>One</p></blockquote>"),
        ("<dl><dt>Term<dd>said</dl>", "<dl><dt>Term</dt><dd>said</dd></dl>"),
        ("<pre>a = 1\n  b = 2</pre>", "<pre>a = 1\n  b = 2</pre>"),
        ("<pre><code>if a &lt; b:\n    c()</code></pre>", "<pre><code>if a &lt; b:\n    c()</code></pre>"),
        ("<p>Call <code>f(x)</code> or <kbd>q</kbd>", "<p>Call <code>f(x)</code> or <code>q</code></p>"),
        ("<p>A <b>bold</b> <i>it</i> <u>u</u> <s>s</s> H<sub>2</sub>O", "<p>A <strong>bold</strong> <em>it</em> "
         "<u>u</u> <s>s</s> H<sub>2</sub>O</p>"),
        ("<p><i>One <b>two</b></i>", "<p><em>One <strong>two</strong></em></p>"),
        ("<p><span style=x onclick=y>One</span> <font color=red>two</font>", "<p>One two</p>"),
        ("<p>One<br>two<br><br>three", "<p>One<br>two</p><p>three</p>"),
        ("<p>See <a href='/a?b=1&amp;c=2' onclick=x title='T &quot;'>it</a>", '<p>See <a href="/a?b=1&amp;c=2" '
         'title="T &quot;">it</a></p>'),
        ("<p>An <a name=x>anchor</a>", "<p>An anchor</p>"),
        ("<a href=/x><div>One</div><div>two</div></a>", '<p><a href="/x">One</a></p><p><a href="/x">two</a></p>'),
        ("<p>1 &lt; 2 &amp; 3 &gt; 2", "<p>1 &lt; 2 &amp; 3 &gt; 2</p>"),
        ("<p>On <time datetime=2026-03-04>Wednesday</time>", '<p>On <time datetime="2026-03-04">Wednesday</time></p>'),
        ("<p>a<script>b()</script><style>c</style><noscript>d</noscript>e", "<p>ae</p>"),
        ("<p>&lt;script&gt;alert(1)&lt;/script&gt;", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("", ""),
    ],
)  # fmt: skip
def test_elements_that_mean_something_stay(body, expected):
    assert rebuild(body) == expected


def test_a_table_of_data_stays_and_one_for_the_layout_goes():
    data = "<table><tr><th>Oars<th colspan=2>Fee<tr><td>two<td>1<td>crown</table>"
    kept = '<table><tr><th>Oars</th><th colspan="2">Fee</th></tr><tr><td>two</td><td>1</td><td>crown</td></tr></table>'
    assert rebuild(f"<p>{LONG}{data}") == f"<p>{LONG.strip()}</p>{kept}"
    assert rebuild(f"<table><tr><td>{LONG}<td>Menu</table>") == f"<p>{LONG.strip()}</p><p>Menu</p>"
    inner = "<table><tr><td>two</table>"
    assert rebuild(f"<p>{LONG}<table><tr><td>One{inner}</table>").endswith("<tr><td>One<br>two</td></tr></table>")


@pytest.mark.parametrize(
    ("picture", "source"),
    [
        ('<img src="/a.jpg">', "/a.jpg"),
        ('<img src="data:image/gif;base64,R0" data-src="/real.jpg">', "/real.jpg"),
        ('<img src="/blank.gif" data-original="/real.jpg">', "/real.jpg"),
        ('<img srcset="/s.jpg 300w, /l.jpg 1200w">', "/s.jpg"),
        ('<picture><source srcset="/l.webp 2x"><img src="/a.jpg"></picture>', "/l.webp"),
        ('<amp-img src="/a.jpg" width=640 height=400></amp-img>', "/a.jpg"),
        ('<img src="data:image/gif;base64,R0"><noscript><img src="/real.jpg"></noscript>', "/real.jpg"),
        ('<img src="/a.jpg" width="64" height="64">', "/a.jpg"),
    ],
)
def test_a_picture_between_paragraphs_stays_with_its_real_address(picture, source):
    assert rebuild(f"<p>One</p>{picture}<p>two") == f'<p>One</p><figure><img src="{source}" alt=""></figure><p>two</p>'


@pytest.mark.parametrize(
    "picture",
    [
        '<img src="/pixel.gif" width="1" height="1">',
        '<img src="/icon.png" height="63px">',
        '<aside><img src="/teaser.jpg"></aside>',
        '<div class="author-bio"><img src="/face.jpg"></div>',
        '<div class="related-posts"><a href="/x"><img src="/teaser.jpg"></a></div>',
        '<img src="data:image/png;base64,AA==">',
        "<img>",
    ],
)
def test_pixels_faces_and_teasers_go(picture):
    assert rebuild(f"<p>One</p>{picture}<p>two") == "<p>One</p><p>two</p>"


def test_a_picture_is_shown_once_with_its_caption_and_its_alternative():
    figure = '<figure><img src="/a.jpg" alt=\'A "grey"\n mare\'><figcaption>A mare & <b>foal</b></figcaption></figure>'
    root = read_page(f"<p>One</p>{figure}<p>two<img src=/a.jpg></p><p>three".encode()).root
    blocks = cut(root)
    run = [place for place, block in enumerate(blocks) if block.tag == "p"]
    shown = (
        '<figure><img src="/a.jpg" alt="A &quot;grey&quot; mare"><figcaption>A mare &amp; foal</figcaption></figure>'
    )
    assert rebuilt(blocks, run, root) == f"<p>One</p>{shown}<p>two</p><p>three</p>"


def test_players_of_known_sites_are_kept_and_other_frames_are_not():
    frames = (
        '<iframe title="A &amp; B" src="//www.youtube.com/embed/dQw4w9WgXcQ"></iframe><iframe src="/advert"></iframe>'
    )
    shown = '<iframe src="//www.youtube.com/embed/dQw4w9WgXcQ" title="A &amp; B"></iframe>'
    assert rebuild(f"<p>One</p>{frames}<p>two") == f"<p>One</p>{shown}<p>two</p>"


def test_formulas_keep_the_tex_that_they_name():
    named = '<math alttext="x^2"><msup><mi>x</mi><mn>2</mn></msup></math>'
    noted = '<math display="block"><mi>y</mi><annotation encoding="application/x-tex">y_1</annotation></math>'
    found = rebuild(f"<p>So {named} and {noted}.<p>Two <math><mi>z</mi></math>.")
    assert found == r"<p>So \(x^2\) and \[y_1\].</p><p>Two .</p>"
    assert clean(found).html.count("<math") == 2


def test_a_caption_that_is_part_of_the_text_begins_no_excerpt():
    figure = f"<figure><img src=/a.jpg><figcaption>{LONG}</figcaption></figure>"
    assert clean(rebuild(f"{figure}<p>The council agreed.</p>"), base_url=PAGE).prose == "The council agreed."


def test_caption_within_the_text_is_not_repeated():
    figure = '<figure><img src="/a.jpg"><figcaption>A grey mare</figcaption></figure>'
    assert rebuild(f"<p>One</p>{figure}<p>two").count("A grey mare") == 1


def test_a_control_character_of_the_page_is_no_line_break():
    assert rebuild("<p>One\x01two\fthree") == "<p>Onetwo three</p>"


def test_pictures_before_the_first_and_after_the_last_block_are_left_out():
    assert "img" not in rebuild("<img src=/logo.png><p>One</p><p>two</p><img src=/advert.jpg>")


@pytest.mark.parametrize(
    ("base", "written", "address"),
    [
        ("", "/a", "/a"),
        ("", " b.html ", "b.html"),
        ("https://cdn.example/x/", "b.html", "https://cdn.example/x/b.html"),
        ("/news/", "b.html", "/news/b.html"),
        ("https://cdn.example/x/", "https://other.example/", "https://other.example/"),
        ("https://cdn.example/", "http://[", ""),
    ],
)
def test_addresses_are_as_written_except_relative_to_the_base_of_the_page(base, written, address):
    head = f'<base href="{base}">' if base else ""
    page = f'<p>One <a href="{written}">link</a></p><img src="{written}"><blockquote cite="{written}">two</blockquote>'
    found = rebuild(page, head=head)
    assert f'<a href="{address}">link</a>' in found
    assert f'<img src="{address}"' in found
    assert f'<blockquote cite="{address}">' in found


def test_cleaning_makes_the_addresses_absolute():
    found = clean(rebuild('<p>One <a href="../a?b=1&amp;c">link</a></p><img src="b.jpg"><p>two'), base_url=PAGE).html
    assert 'href="https://example.org/a?b=1&amp;c"' in found
    assert 'src="https://example.org/news/b.jpg"' in found


def test_plain_text_sets_paragraphs_and_items_apart():
    blocks = cut(read_page(b"<p>One<br>two<ul><li>three<li>four</ul>").root)
    assert plain_text(blocks) == "One\ntwo\n\n- three\n\n- four"


OUTER = ("div", "p", "ul", "ol", "li", "blockquote", "table", "tr", "td", "th", "dl", "dt", "dd", "pre", "h1", "h3",
         "h6", "section", "article", "figure", "figcaption", "header", "center", "form", "main", "details")  # fmt: skip


def elements_of(inner):
    return st.tuples(st.sampled_from(OUTER + tuple(sorted(INLINE))), st.lists(inner, max_size=4))


# A lambda would be described by its parsed source, which Python 3.11 cannot do at every depth of the stack.
TREES = st.recursive(
    st.sampled_from(["word", "br", "img", ("figure", ["img", ("figcaption", ["word"])])]), elements_of, max_leaves=20
)


def source_of(tree, words) -> str:
    """The tree as html in which every word is another one."""
    if tree == "word":
        words.append(f"w{len(words)}")
        return f" {words[-1]} "
    if tree in ("br", "img"):
        return "<br>" if tree == "br" else f"<img src=/{len(words)}.jpg>"
    tag, children = tree
    attributes = f" href=/{len(words)}" if tag == "a" else ""
    return f"<{tag}{attributes}>{''.join(source_of(child, words) for child in children)}</{tag}>"


@given(trees=st.lists(TREES, max_size=5), data=st.data())
def test_every_chosen_block_appears_once_in_order_and_no_other(trees, data):
    words: list[str] = []
    root = read_page("".join(source_of(tree, words) for tree in trees).encode()).root
    blocks = cut(root)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(blocks), max_size=len(blocks)))
    run = [place for place, is_chosen in enumerate(chosen) if is_chosen]
    found = rebuilt(blocks, run, root)
    expected = [word for place in run for word in blocks[place].text.split()]
    shown = re.sub(r"<figcaption>.*?</figcaption>", " ", found)
    assert re.sub(r"<[^>]*>", " ", shown).split() == expected
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", found)
    captioned = Counter(word for caption in captions for word in caption.split())
    assert not captioned & Counter(expected)


@given(trees=st.lists(TREES, max_size=5))
def test_every_element_is_closed_and_is_one_that_articles_have(trees):
    root = read_page("".join(source_of(tree, []) for tree in trees).encode()).root
    blocks = cut(root)
    open_tags: list[str] = []
    found = rebuilt(blocks, range(len(blocks)), root)
    for end, tag in re.findall(r"<(/?)([a-z0-9]+)[^>]*>", found):
        if end:
            assert open_tags.pop() == tag
        elif tag not in ("br", "img"):
            open_tags.append(tag)
    assert open_tags == []
    if found:
        tree = lxml_html.fragment_fromstring(found, create_parent=True)
        assert Counter(each.tag for each in tree.iter()) - Counter({"div": 1}) == Counter(
            re.findall("<([a-z0-9]+)", found)
        )
