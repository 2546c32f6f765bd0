import pytest

from apps.postings.algorithms.tokens import MAX_ATTRIBUTES, Tag, attributes, tokens


def written(html: str) -> list[str]:
    return [token if isinstance(token, str) else f"<{'/' * token.is_end}{token.name}>" for token in tokens(html)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", []),
        ("a < b <3", ["a < b <3"]),
        ("<P>a</P >", ["<p>", "a", "</p>"]),
        ("<a title='>'>x", ["<a>", "x"]),
        ('<a title=">>x', ["<a>", ">x"]),
        ("<br/>x<hr / >", ["<br>", "x", "<hr>"]),
        ("a<!-->b<!--->c<!-- > -->d<!-- --!>e<!x>f<?y>g</>h</ z>i", list("abcdefghi")),
        ("a<!-- never closed", ["a"]),
        ("a<script><b></scripty></SCRIPT >b", ["a", "<script>", "b"]),
        ("<style>a<style>b</style>c", ["<style>", "c"]),
        ("<svg>a</svg", ["<svg>", "a"]),
        ("<iframe src=x />a</iframe>", ["<iframe>", "a", "</iframe>"]),
        ("a<b", ["a"]),
    ],
)
def test_a_document_reads_as(html: str, expected: list[str]) -> None:
    assert written(html) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" a", {"a": ""}),
        (" a=1 b='2' c=\"3\" d = 4", {"a": "1", "b": "2", "c": "3", "d": "4"}),
        ("/a=1/b=2", {"a": "1/b=2"}),
        (" A=1 a=2", {"a": "1"}),
        (' a="&lt;&quot;" b=x&amp;y', {"a": '<"', "b": "x&y"}),
        (" a='1'b=2", {"a": "1", "b": "2"}),
        (' a="never closed', {"a": "never", "closed": ""}),
        (' = "', {}),
    ],
)
def test_attributes_read_as(text: str, expected: dict[str, str]) -> None:
    assert attributes(Tag("x", False, text)) == expected


def test_a_tag_has_a_limited_number_of_attributes() -> None:
    many = "".join(f" a{number}" for number in range(10 * MAX_ATTRIBUTES))
    assert len(attributes(Tag("x", False, many))) == MAX_ATTRIBUTES
