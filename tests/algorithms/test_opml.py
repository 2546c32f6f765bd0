import doctest
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from apps.sources.formats import opml
from apps.sources.formats.opml import BrokenOpml, OpmlDocument, Subscription, read, write

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def body(outlines: str) -> bytes:
    return f'<?xml version="1.0"?>\n<opml version="2.0"><body>\n{outlines}\n</body></opml>'.encode()


def read_one(outlines: str) -> Subscription:
    (subscription,) = read(body(outlines)).subscriptions
    return subscription


def addresses(document: OpmlDocument) -> list[str]:
    return [subscription.xml_url for subscription in document.subscriptions]


clean_text = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=20).map(
    lambda text: " ".join(text.split())
)
paths = st.lists(st.sampled_from(["News", "a/b", "c,d", "<&\">'", "新闻"]), min_size=1, max_size=3).map(tuple)
subscriptions = st.builds(
    Subscription,
    xml_url=st.integers(0, 10**6).map("https://example.org/{}?a=1&b".format),
    title=clean_text,
    html_url=st.sampled_from(["", "https://example.org/", "https://example.org/?a=%22&b"]),
    folders=st.lists(paths, unique=True, max_size=3).map(tuple),
    language=st.sampled_from(["", "en", "zh-Hans"]),
    description=clean_text,
)
documents = st.builds(
    OpmlDocument,
    title=clean_text,
    **dict.fromkeys(("skipped", "folders"), st.just(())),  # of a named tuple all fields would be drawn
    problem=st.just(""),
    subscriptions=st.lists(subscriptions, unique_by=lambda subscription: subscription.xml_url, max_size=6).map(tuple),
)


def test_the_examples_in_the_documentation_hold() -> None:
    assert doctest.testmod(opml).failed == 0


def unordered(document: OpmlDocument) -> dict[str, tuple[Subscription, set[tuple[str, ...]]]]:
    """Folders gather their subscriptions, so that writing may change the order, but nothing else."""
    return {found.xml_url: (found._replace(folders=()), set(found.folders)) for found in document.subscriptions}


@given(documents)
def test_written_opml_is_read_back(document: OpmlDocument) -> None:
    again = read(write(document, NOW))
    assert unordered(again) == unordered(document)
    assert (again.title, again.skipped, again.problem) == (document.title, (), "")


@given(documents)
def test_list_without_repeats_keeps_its_order(document: OpmlDocument) -> None:
    single = tuple(found._replace(folders=found.folders[:1]) for found in document.subscriptions)
    settled = read(write(document._replace(subscriptions=single), NOW))
    assert read(write(settled, NOW)) == settled


def test_a_subscription_is_written_into_each_of_its_folders() -> None:
    subscription = Subscription("https://a.example/", "A", folders=(("News", "World"), ("Morning",)))
    content = write(OpmlDocument("Mine", (subscription,)), NOW)
    root = etree.fromstring(content)
    assert content.startswith(b"<?xml version='1.0' encoding='utf-8'?>")
    assert root.get("version") == "2.0"
    assert root.findtext("head/dateCreated") == "Sun, 01 Mar 2026 12:30:00 +0000"
    assert [parent.get("text") for parent in root.iter("outline") if parent.find("outline[@xmlUrl]") is not None] == [
        "World",
        "Morning",
    ]


def test_characters_that_xml_cannot_hold_are_left_out() -> None:
    document = OpmlDocument("a\x00b", (Subscription("https://a.example/", "c\x1bd\ud800", folders=(("e\ufffff",),)),))
    again = read(write(document, NOW))
    assert (again.title, again.subscriptions[0].title, again.subscriptions[0].folders) == ("ab", "cd", (("ef",),))


@pytest.mark.parametrize("name", ["xmlUrl", "xmlurl", "xmlURL", "XMLURL"])
def test_the_address_may_be_spelt_in_any_case(name: str) -> None:
    assert read_one(f'<OUTLINE Text="A" {name}="https://a.example/"/>').title == "A"


def test_all_attributes_of_an_outline_are_kept() -> None:
    assert read_one(
        '<outline text="Short" title="Long &amp;  wide" type="rss" xmlUrl="feed://a.example/x#y" htmlUrl="https://A.example"'
        ' language="de" description="About" category="/News/World,Tech,"/>'
    ) == Subscription(
        "https://a.example/x", "Long & wide", "https://a.example/", (("News", "World"), ("Tech",)), "de", "About"
    )


def test_a_subscription_in_several_folders_appears_once() -> None:
    outlines = """<outline text="News"><outline title="World"><outline text="A" xmlUrl="https://a.example"/></outline>
        </outline><outline text="A again" xmlUrl="https://a.example/"/>
        <outline text="Tech"><outline text="A" xmlUrl="https://a.example/" category="Tech"/></outline>"""
    assert read_one(outlines) == Subscription("https://a.example/", "A", folders=(("News", "World"), ("Tech",)))


def test_lists_of_version_1_without_a_body_are_read() -> None:
    assert addresses(read(b'<opml version="1.0"><outline xmlUrl="http://a.example/"/></opml>')) == ["http://a.example/"]


def test_folder_without_name_is_skipped() -> None:
    assert read_one('<outline text=" "><outline xmlUrl="http://a.example/"/></outline>').folders == ()


def test_skipped_outlines_are_reported_with_their_line() -> None:
    document = read(
        body(
            '<outline text="More" type="include" url="https://a.example/list.opml"/>\n'
            '<outline text="Site" type="link" url="https://a.example/"/>\n'
            '<outline text="Files" xmlUrl="ftp://a.example/"/>\n'
            '<outline text="Nothing" type="rss"/>\n'
            '<outline text="Empty folder"/>\n'
            '<outline text="Old" isComment="true"><outline xmlUrl="http://old.example/"/></outline>\n'
            '<outline text="Good" xmlUrl="http://a.example/"/>'
        )
    )
    assert addresses(document) == ["http://a.example/"]
    assert [skipped.line for skipped in document.skipped] == [3, 4, 5, 6]
    assert "“include”" in document.skipped[0].reason
    assert "“ftp:”" in document.skipped[2].reason
    assert "“Nothing” has no xmlUrl" in document.skipped[3].reason


@pytest.mark.parametrize(
    ("attributes", "title", "description", "problem"),
    [
        ('title="Q & A"', "Q & A", "", "“&”"),
        ('title="Q&A" description="&copy; &unknown; &#65; &lt;"', "Q&A", "© &unknown; A <", "“&”"),
        ('title="A" description="a <b>bold</b> word"', "A", "a <b>bold</b> word", "“<”"),
        ('title="A" description="the "best" news"', "A", 'the "best" news', "quotation mark"),
        (
            'title="A" description="on <a href="https://b.example/" target="_blank">B</a>"',
            "A",
            'on <a href="https://b.example/" target="_blank">B</a>',
            "“<”",
        ),
    ],
)
def test_unescaped_attributes_are_mended(attributes: str, title: str, description: str, problem: str) -> None:
    document = read(
        body(f'<outline {attributes} xmlUrl="http://a.example/?b=1&c=2" />\n<outline xmlUrl="http://b.example/"/>')
    )
    assert addresses(document) == ["http://a.example/?b=1&c=2", "http://b.example/"]
    assert (document.subscriptions[0].title, document.subscriptions[0].description) == (title, description)
    assert document.problem.startswith("Line 3, column ")
    assert problem in document.problem


def test_single_quotation_marks_stay_as_they_are_while_others_are_mended() -> None:
    document = read(
        body("<outline text='A' xmlUrl='http://a.example/'/>\n<outline text=\"B & C\" xmlUrl='http://b.example/'/>")
    )
    assert [(s.title, s.xml_url) for s in document.subscriptions] == [
        ("A", "http://a.example/"),
        ("B & C", "http://b.example/"),
    ]


def test_a_list_that_breaks_off_is_read_up_to_there() -> None:
    content = body('<outline text="News"><outline xmlUrl="http://a.example/"/>\n<outline xmlUrl="http://b.exam')
    document = read(content.rpartition(b".exam")[0])
    assert addresses(document) == ["http://a.example/"]
    assert document.problem


def test_letters_in_another_character_set_than_declared_are_read() -> None:
    content = '<?xml version="1.0" encoding="utf-8"?><opml><body><outline text="café" xmlUrl="http://a.example/"/></body></opml>'
    assert read(content.encode("cp1252")).subscriptions[0].title == "café"
    assert read(content.replace("utf-8", "utf-16").encode("utf-16")).subscriptions[0].title == "café"


@pytest.mark.parametrize(
    ("content", "line", "complaint"),
    [
        (b"", 1, "not XML"),
        (b'{"a": 1}', 1, "not XML"),
        (b"<rss><channel/></rss>", 1, "starts with <rss>"),
        (b"<!DOCTYPE html>\n<html><p>Not found", 2, "starts with <html>"),
        (b"<opml><body>\n<outline text=", 2, "Line 2, column "),
    ],
)
def test_document_without_subscriptions_is_refused_with_the_place(content: bytes, line: int, complaint: str) -> None:
    with pytest.raises(BrokenOpml, match=complaint) as caught:
        read(content)
    assert caught.value.line == line


def test_a_document_that_is_too_large_is_refused() -> None:
    with pytest.raises(BrokenOpml, match="larger than 10 MB"):
        read(b" " * (opml.MAX_DOCUMENT_BYTES + 1))


def test_entities_are_refused_and_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY a{level + 1} "{f"&a{level};" * 10}">' for level in range(9))
    content = (
        f'<!DOCTYPE opml [<!ENTITY a0 "ha">{laughs}]><opml><outline text="&a9;" xmlUrl="http://a.example/"/></opml>'
    )
    with pytest.raises(BrokenOpml, match="entities"):
        read(content.encode())


def test_a_file_outside_is_never_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    secret = tmp_path_factory.mktemp("secrets") / "secret.txt"
    secret.write_text("secret")
    content = f'<!DOCTYPE opml [<!ENTITY x SYSTEM "{secret.as_uri()}">]><opml><head><title>&x;</title></head></opml>'
    with pytest.raises(BrokenOpml, match="entities"):
        read(content.encode())


def test_folders_that_lie_too_deep_are_left_out() -> None:
    def nested(depth: int) -> bytes:
        inner = '<outline xmlUrl="http://a.example/"/>'
        return body('<outline text="x">' * depth + inner + "</outline>" * depth)

    assert len(read(nested(opml.MAX_FOLDER_DEPTH)).subscriptions[0].folders[0]) == opml.MAX_FOLDER_DEPTH
    too_deep = read(nested(opml.MAX_FOLDER_DEPTH + 1))
    assert too_deep.subscriptions == ()
    assert "deeper than 32 folders" in too_deep.skipped[0].reason


def test_only_so_many_outlines_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opml, "MAX_OUTLINES", 3)
    document = read(body("".join(f'<outline xmlUrl="http://a.example/{number}"/>' for number in range(5))))
    assert len(document.subscriptions) == 3
    assert "longer than 3 outlines" in document.skipped[0].reason


def test_long_texts_are_cut() -> None:
    found = read_one(f'<outline text="{"t" * 3_000}" description="{"d" * 3_000}" xmlUrl="http://a.example/"/>')
    assert (len(found.title), len(found.description)) == (opml.MAX_TITLE_LENGTH, opml.MAX_DESCRIPTION)


def test_an_element_without_a_name_is_no_opml() -> None:
    with pytest.raises(BrokenOpml, match="not OPML"):
        read(b"<:")


def test_half_a_character_is_replaced() -> None:
    document = read(b'<opml><outline text="Tea &#xd83c;" xmlUrl="https://a.example/"/></opml>')
    assert document.subscriptions[0].title == "Tea \N{REPLACEMENT CHARACTER}"
