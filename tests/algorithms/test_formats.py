"""What the parsers do with bytes that are odd, broken, hostile or no feed at all."""

import time
from dataclasses import fields, is_dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sources.formats import parse
from apps.sources.formats.feed import NotAFeed, ParsedFeed
from tests.trials import quick_every

SAMPLES = [path.read_bytes() for path in sorted((Path(__file__).parent / "feeds").glob("*.[xj]*[ln]"))]


def rss(*items: str, channel: str = "", root: str = "") -> bytes:
    body = "".join(f"<item>{item}</item>" for item in items)
    return f'<rss version="2.0" {root}><channel><title>T</title>{channel}{body}</channel></rss>'.encode()


def strings(value: object) -> list[str]:
    """Every string within a parsed feed."""
    if isinstance(value, str):
        return [value]
    if is_dataclass(value):
        return [text for each in fields(value) for text in strings(getattr(value, each.name))]
    return [text for each in value for text in strings(each)] if isinstance(value, tuple) else []


# Documents that are not feeds


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (b"<!DOCTYPE html><html><head><title>Tea</title></head><body>A & B</body></html>", "a web page"),
        (b"<?xml version='1.0'?><!-- a --><html xmlns='http://www.w3.org/1999/xhtml'/>", "a web page"),
        (b"<opml version='2.0'><body/></opml>", "an OPML list"),
        (b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>", "a sitemap"),
        (b"<catalogue/>", "<catalogue>"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a picture"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "a picture"),
        (b"GIF89a\x01\x00", "a picture"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"\x1f\x8b\x08\x00\x00", "neither XML nor JSON"),
        (b"Not found", "neither XML nor JSON"),
        (b'{"error": "not found"}', "no list of items"),
        (b"[1, 2]", "not a JSON Feed"),
        (b'{"items": [', "cannot be read"),
        (b'{"items":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        (b" " * (20 * 1024 * 1024 + 1), "larger than 20 MB"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_other_documents_are_named_in_the_message(content: bytes, message: str) -> None:
    with pytest.raises(NotAFeed, match=message):
        parse(content)


# Character sets


@pytest.mark.parametrize(
    ("charset", "declared", "content_type"),
    [
        ("koi8-r", "koi8-r", ""),
        ("cp1251", "windows-1251", ""),
        ("cp1251", "utf-8", "text/xml; charset=windows-1251"),  # the header goes before the declaration
        ("cp1251", "", 'application/rss+xml; charset="WINDOWS-1251"'),
        ("utf-8", "no-such-charset", ""),
        ("utf-8", "utf-16", ""),
        ("utf-8", "", "text/xml; charset=rot13"),
        ("utf-16-le", "utf-16", ""),
        ("utf-16-be", "utf-16", ""),
    ],
)
def test_the_character_set_is_found(charset: str, declared: str, content_type: str) -> None:
    prolog = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
    content = f"{prolog}<rss><channel><title>Привет</title></channel></rss>".encode(charset)
    assert parse(content, content_type=content_type).title == "Привет"


def test_latin_1_means_windows_1252() -> None:
    content = '<?xml version="1.0" encoding="iso-8859-1"?><rss><channel><title>“Tea”</title></channel></rss>'
    assert parse(content.encode("cp1252")).title == "“Tea”"


def test_windows_characters_written_as_controls_are_mended() -> None:
    assert parse(rss("<title>&#147;Tea&#x94; it\u0092s</title>")).entries[0].title == "“Tea” it’s"


def test_a_character_cut_in_the_middle_spoils_no_other() -> None:
    content = rss(*[f"<title>Größe {number}</title>" for number in range(20)], "<title>Gr\x00</title>")
    feed = parse(content.replace(b"\x00", "ö".encode()[:1]))
    assert feed.entries[3].title == "Größe 3"
    assert len(feed.entries) == 21


def test_control_characters_are_removed() -> None:
    feed = parse(rss("<title>Te\x00a\x0b</title>"))
    assert feed.entries[0].title == "Tea"
    assert "Control characters were removed." in feed.problems


# Links and identity


@pytest.mark.parametrize(
    ("item", "guid", "link"),
    [
        ("<guid>https://a.example/1</guid>", "https://a.example/1", "https://a.example/1"),
        ('<guid isPermaLink="false">https://a.example/1</guid>', "https://a.example/1", ""),
        ("<guid>17</guid>", "17", ""),
        ("<guid>17</guid><link> /1 </link>", "17", "https://feeds.example/1"),
        (
            "<guid>https://a.example/1</guid><link>https://b.example/2</link>",
            "https://a.example/1",
            "https://b.example/2",
        ),
        ("<link>javascript:alert(1)</link>", "", ""),
        ("<link>http://[::1</link>", "", ""),
        ('<link href="https://a.example/1"/>', "", "https://a.example/1"),
        ("<link><![CDATA[https://bücher.example/ä b]]></link>", "", "https://xn--bcher-kva.example/%C3%A4%20b"),
    ],
)
def test_the_link_of_an_item(item: str, guid: str, link: str) -> None:
    entry = parse(rss(item), url="https://feeds.example/rss.xml").entries[0]
    assert (entry.guid, entry.link) == (guid, link)


def test_xml_base_makes_addresses_in_the_content_absolute() -> None:
    item = '<description>&lt;a href=\'x\'&gt;&lt;a href="#n"&gt;&lt;img src="https://b.example/y"&gt;</description>'
    entry = parse(rss(item, root='xml:base="https://a.example/b/"')).entries[0]
    assert entry.summary == '<a href="https://a.example/b/x"><a href="#n"><img src="https://b.example/y">'


def test_an_unknown_namespace_of_the_format_itself_is_forgiven() -> None:
    assert len(parse(rss("<title>A</title>", root='xmlns="https://made-up.example/"')).entries) == 1


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("AT&amp;amp;T &amp;lt;b&amp;gt;", "AT&T <b>"),
        ("&lt;b&gt;Bold&lt;/b&gt;  move", "Bold move"),
        ("1 &lt; 2 &gt; 0", "1 < 2 > 0"),
        ("<b xmlns='http://www.w3.org/1999/xhtml'>Bold</b> move", "Bold move"),
        ("A&lt;!-- comment --&gt;B", "AB"),
        ("AT&amp;amp;amp;T &amp;lt;b&amp;gt;wins&amp;lt;/b&amp;gt;", "AT&T wins"),
        ("Salt &amp;amp;#38; pepper&amp;amp;hellip;", "Salt & pepper…"),
        ("R&amp;amp;B, and a &amp;lt;b&amp;gt; never closed", "R&B, and a <b> never closed"),
    ],
)
def test_a_title_is_plain_text(title: str, words: str) -> None:
    assert parse(rss(f"<title>{title}</title>")).entries[0].title == words


def test_titles_escaped_once_too_often_are_mended_in_every_format() -> None:
    atom = ATOM.format("<entry><title type='text'>Fish &amp;amp; &lt;b&gt;chips&lt;/b&gt;</title></entry>")
    json = JSON_FEED.format('"title": "Fish &amp; <b>chips</b>", "id": "1"')
    broken = "<rss><channel><item><title>Fish &amp;amp;amp; &amp;lt;b>chips&amp;lt;/b></title></item><item></channel>"
    for feed in (atom, json, broken):
        assert [entry.title for entry in parse(feed.encode()).entries] == ["Fish & chips"], feed


def test_a_video_without_a_link_is_found_by_its_number() -> None:
    entry = "<entry xmlns:yt='http://www.youtube.com/xml/schemas/2015'><yt:videoId>dQw4w9WgXcQ</yt:videoId></entry>"
    [read] = parse(ATOM.format(entry).encode()).entries
    assert read.link == "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


def test_a_length_alone_makes_media_content_something_to_play() -> None:
    media = '<media:content url="https://tube.example/{}" {}/>'
    item = media.format("video", 'duration="185"') + media.format("cover", 'medium="image"')
    [read] = parse(rss(item, root='xmlns:media="http://search.yahoo.com/mrss/"')).entries
    assert [(file.url, file.duration) for file in read.enclosures] == [("https://tube.example/video", 185)]


# Dates

ATOM, JSON_FEED = "<feed xmlns='http://www.w3.org/2005/Atom'>{}</feed>", '{{"version": "jsonfeed", "items": [{{{}}}]}}'
RDF = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/' {}</rdf:RDF>"


@pytest.mark.parametrize(
    ("feed", "hours"),
    [
        ("<rss><item><pubDate>Mon, 06 May 2024 10:15:00 +0200</pubDate></item></rss>", 2),
        ("<rss><item><pubDate>Mon, 06 May 2024 10:15:00 EDT</pubDate></item></rss>", -4),
        ("<rss><item><pubDate>Mon, 06 May 2024 10:15:00 GMT</pubDate></item></rss>", 0),
        (RDF.format("xmlns:dc='dc'><item><title>T</title><dc:date>2024-05-06T10:15+09:00</dc:date></item>"), 9),
        (ATOM.format("<entry><published>2024-05-06T10:15:00-03:30</published></entry>"), -3.5),
        (ATOM.format("<entry><updated>2024-05-06T10:15:00+05:30</updated></entry>"), 5.5),
        (JSON_FEED.format('"date_published": "2024-05-06T10:15:00+12:00"'), 12),
        (JSON_FEED.format('"date_modified": "2024-05-06T10:15:00-08:00"'), -8),
        # Broken, so that feedparser reads them
        ("<rss><item><title>T</b></title><pubDate>Mon, 06 May 2024 10:15:00 +0200</pubDate></item></rss>", 2),
        ("<rss><item><title>T</b></title><pubDate>Mon, 06 May 2024 10:15:00 CEST</pubDate></item></rss>", 2),
        (ATOM.format("<entry><title>T</b></title><updated>2024-05-06T10:15:00-07:00</updated></entry>"), -7),
    ],
)
def test_a_date_keeps_the_offset_that_its_publisher_wrote(feed: str, hours: float) -> None:
    entry = parse(feed.encode()).entries[0]
    date = entry.published or entry.updated
    assert date is not None
    assert date.isoformat().startswith("2024-05-06T10:15:00")
    assert date.utcoffset() == timedelta(hours=hours)


# Hints


@pytest.mark.parametrize(
    ("channel", "ttl"),
    [
        ("<ttl>60</ttl>", 3600),
        ("<ttl>0</ttl>", None),
        ("<ttl>soon</ttl>", None),
        ("<ttl>-5</ttl>", None),
        ("<ttl>99999999999999999999</ttl>", None),
        ("<sy:updatePeriod>weekly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>", 302_400),
        ("<sy:updateFrequency>2</sy:updateFrequency>", None),
        ('<podcast:updateFrequency rrule="FREQ=DAILY"/>', 86_400),
        ('<podcast:updateFrequency rrule="FREQ=WEEKLY;BYDAY=MO,WE"/>', None),
    ],
)
def test_the_time_to_live(channel: str, ttl: int | None) -> None:
    assert parse(rss(channel=channel)).hints.ttl == ttl


# Broken documents


@pytest.mark.parametrize(
    "item",
    [
        "<guid>12345</guid><title>A</title>",
        "<guid>https://a.example/1</guid><dc:date>2024-05-06T07:00:00Z</dc:date>",
        "<guid>1</guid><link>/1</link><pubDate>Mon, 06 May 2024 10:15:00 CEST</pubDate><description>x</description>",
    ],
)
def test_breaking_a_feed_does_not_change_the_identity_of_its_entries(item: str) -> None:
    whole = rss(item, root='xmlns:dc="http://purl.org/dc/elements/1.1/"')
    broken = whole.replace(b"</channel>", b"</chanel>")
    assert parse(broken, url="https://a.example/").entries == parse(whole, url="https://a.example/").entries


def test_a_cut_document_keeps_what_came_before_the_cut() -> None:
    whole = rss(*[f"<guid>{number}</guid><description>&lt;p&gt;Text&lt;/p&gt;</description>" for number in range(9)])
    feed = parse(whole[: whole.index(b"<guid>5")])
    assert [entry.guid for entry in feed.entries] == ["0", "1", "2", "3", "4"]
    assert feed.problems


# Hostile documents


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a SYSTEM "{path}">',
        '<!ENTITY % p SYSTEM "{path}"> %p; <!ENTITY a "x">',
        '<!ENTITY a PUBLIC "x" "{path}">',
    ],
)
def test_no_entity_reads_a_file(tmp_path: Path, declaration: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("swordfish")
    document_type = "<!DOCTYPE rss [" + declaration.format(path=secret.as_uri()) + "]>"
    feed = parse(document_type.encode() + rss("<title>x&a;</title>"), url=secret.as_uri())
    assert not any("swordfish" in text for text in strings(feed))


def test_an_address_of_a_file_is_never_read_as_a_feed(tmp_path: Path) -> None:
    secret = tmp_path / "feed.xml"
    secret.write_bytes(rss("<title>swordfish</title>"))
    with pytest.raises(NotAFeed):
        parse(str(secret).encode())


def test_entities_of_entities_do_not_explode() -> None:
    names = "abcdefghij"
    nested = "".join(f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in pairwise(names))
    content = f'<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa">{nested}]>'.encode() + rss("<title>&j;</title>")
    start = time.monotonic()
    feed = parse(content)
    assert time.monotonic() - start < 5
    assert sum(map(len, strings(feed))) < 10_000


@pytest.mark.parametrize(
    "piece", quick_every(3, ["<div>", "<![CDATA[", "<!--", "<!", "&", "&#", "<title>", "<a b='", "<x:y>"])
)
def test_endless_repetition_is_harmless(piece: str) -> None:
    start = time.monotonic()
    feed = parse(rss("<title>A</title><description>" + piece * (100_000 // len(piece))))
    assert feed.title == "T"
    assert time.monotonic() - start < 10


def test_every_list_and_text_has_a_limit() -> None:
    item = (
        f"<title>{'t' * 5000}</title><guid>{'g' * 9000}</guid><description>{'d' * 3_000_000}</description>"
        + "".join(f"<category>c{number}</category>" for number in range(99))
        + "".join(f'<enclosure url="https://a.example/{number}"/>' for number in range(99))
    )
    entry = parse(rss(item)).entries[0]
    assert (len(entry.title), len(entry.guid), len(entry.summary)) == (1_000, 4_000, 2_000_000)
    assert (len(entry.categories), len(entry.enclosures)) == (50, 50)


def test_only_the_first_ten_thousand_entries_are_read() -> None:
    feed = parse(rss(*["<guid>1</guid>"] * 10_001))
    assert len(feed.entries) == 10_000
    assert "10,001" in feed.problems[-1]


def assert_harmless(content: bytes, content_type: str = "", url: str = "") -> None:
    try:
        feed = parse(content, content_type=content_type, url=url)
    except NotAFeed as refusal:
        feed = ParsedFeed("", problems=(str(refusal),))
    for text in strings(feed):
        assert "\x00" not in text
        text.encode("utf-8")  # no lone surrogate


PIECES = st.sampled_from(
    [b"<", b">", b"&", b"&#0;", b"&#xd800;", b"&#x110000;", b"&nbsp;", b"]]>", b"<![CDATA[", b"<!--", b"\x00", b"\xff",
     b"\xed\xa0\x80", b"<!DOCTYPE a [", b"<!ENTITY a 'b'>", b"<x:y>", b"http://[::1", b"\\ud800", b"\\u0000", b"1e999",
     b"<title>", b"</title>", b"</item>", b"\xef\xbb\xbf", b'"', b"{", b"}", b",", b"null", b" xml:base='['", b"<?"]
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), PIECES | st.binary(max_size=8)), min_size=1, max_size=12
)
CONTENT_TYPES = st.sampled_from(
    ["", "text/xml", "text/xml; charset=utf-16", "a; charset=idna", "a; charset=\x00", "a; charset=hz"]
)
URLS = st.sampled_from(["", "https://a.example/feed", "http://[", "no address", "file:///etc/passwd", "\ud800"])


@given(st.sampled_from(SAMPLES), EDITS, CONTENT_TYPES, URLS)
def test_no_edit_of_a_feed_does_harm(
    sample: bytes, edits: list[tuple[float, int, bytes]], content_type: str, url: str
) -> None:
    content = bytearray(sample)
    for place, removed, piece in edits:
        start = int(place * len(content))
        content[start : start + removed] = piece
    assert_harmless(bytes(content), content_type, url)


@given(
    st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")),
    CONTENT_TYPES,
)
def test_no_bytes_at_all_do_harm(content: bytes, content_type: str) -> None:
    assert_harmless(content, content_type)
    assert_harmless(b"<rss><channel><title>" + content, content_type)
    assert_harmless(b'{"items": [{"id": "' + content + b'"}]}', content_type)


def test_references_to_halves_of_characters_are_joined() -> None:
    feed = parse(
        b"<rss><channel><title>Tea &#55356;&#57205;</title>"
        b"<item><title>&#xD83C;&#xDF75;&#xd83c;</title></item></channel></rss>"
    )
    assert feed.title == "Tea \N{TEACUP WITHOUT HANDLE}"
    assert feed.entries[0].title == "\N{TEACUP WITHOUT HANDLE}\N{REPLACEMENT CHARACTER}"
