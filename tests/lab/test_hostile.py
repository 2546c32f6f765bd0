import json

import pytest

from lab.evaluations.extraction.hostile import complaints, payloads


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", []),
        ("1 &lt; 2", []),
        ('<p dir="ltr"><a href="https://a.org/">x</a><img src="data:image/png;base64,AA=="></p>', []),
        ('<img srcset="https://a.org/1.png 1x, https://a.org/2.png 2x">', []),
        ("<script>x</script>", ["<script>"]),
        ("<p><iframe></iframe></p>", ["<iframe>"]),
        ("<p onclick=x style=y>", ["onclick", "style"]),
        ("<a href='javascript:x'>", ["href=javascript:x"]),
        ("<a href='data:image/png;base64,AA=='>", ["href=data:image/png;base64,AA=="]),
        ("<img src='data:image/svg+xml,x'>", ["src=data:image/svg+xml,x"]),
        ("<img srcset='https://a.org/ 1x, javascript:x 2x'>", ["srcset=https://a.org/ 1x, javascript:x 2x"]),
        ("<a href='/relative'>", ["href=/relative"]),
        ("<a:b>", ["<a:b>"]),
        ("<!-- x -->", ["<comment:>"]),
        ("<![>", ["<declaration:>"]),
        ("<body><base>", ["<base>", "<body>"]),
    ],
)
def test_a_browser_might_run(html: str, expected: list[str]) -> None:
    assert complaints(html) == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("tree.dat", "#data\n<a>\n<b>\n#errors\n1\n#document\n| <a>\n\n#data\n<c>\n#errors\n", ["<a>\n<b>", "<c>"]),
        ("sanitizer.dat", json.dumps([{"name": "x", "input": "<a>", "output": ""}]), ["<a>"]),
        ("tokenizer.test", json.dumps({"tests": [{"input": "<a>"}]}), ["<a>"]),
        ("tokenizer.test", json.dumps({"tests": [{"input": "\\u003c", "doubleEscaped": True}]}), ["<"]),
        ("pair.test", "<a>\n--\n&lt;a&gt;\n", ["<a>"]),
        ("module.mjs", 'export default [{ "payload": "<a title=\\"x\\">", "expected": "" }]', ['<a title="x">']),
        ("others.json", json.dumps({"comment": "none"}), []),
        ("README.md", "<a>", []),
    ],
)
def test_a_collection_holds(name: str, text: str, expected: list[str]) -> None:
    assert payloads(name, text) == expected


def test_strings_and_addresses_come_as_links_and_pictures_too() -> None:
    [bare, framed] = payloads("strings.json", '["x\\"y"]')
    assert bare == 'x"y'
    assert '<a href="x&quot;y"' in framed
    [address] = payloads("addresses.json", '[{"input": "java:x", "base": null}, "a comment"]')[:1]
    assert '<img src="java:x"' in address
