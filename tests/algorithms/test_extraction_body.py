"""Pages need not say where their body begins."""

import pytest

from apps.postings.algorithms.extraction import keen
from apps.postings.algorithms.extraction.documents import read_page

PROSE = "<p>The council voted on Tuesday to keep the old bridge open to walkers, and to repair it by spring.</p>" * 6


@pytest.mark.parametrize("begin", ["<main>", "<article>", "<header>News</header><section>", "<nav>News</nav><main>"])
@pytest.mark.parametrize("head", ["", "<title>Bridge</title>", "<!doctype html><meta charset=utf-8><title>B</title>"])
def test_text_is_found_without_explicit_body(head, begin):
    assert keen.extract(read_page(f"{head}{begin}{PROSE}".encode()).root).text.count("old bridge") == 6


def test_head_elements_stay_in_the_head():
    root = read_page(b"<title>Bridge</title><meta name=author content=Ada><main><p>Words</p></main><p>More").root
    assert [element.tag for element in root.find("head")] == ["title", "meta"]
    assert [element.tag for element in root.find("body")] == ["main", "p"]
