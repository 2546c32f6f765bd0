import pytest

from apps.postings.algorithms.edits import text_hash
from apps.postings.algorithms.markup import clean

ARTICLE = '<p>Rates fall by <b>5 %</b>. <a href="https://example.org/more">More</a></p>'


def markup_hash(markup: str) -> bytes:
    return text_hash("Rates", clean(markup).text)


@pytest.mark.parametrize(
    "again",
    [
        ARTICLE.replace("/more", "/more?utm_source=rss&utm_campaign=7"),
        ARTICLE + '<img src="https://pixel.wp.com/b.gif?rand=1" width="1" height="1">',
        ARTICLE.replace("<p>", '<p class="wide" data-shares="12">').replace("b>", "strong>"),
        ARTICLE.replace(" by ", "\n\tby&nbsp;"),
        ARTICLE.replace("More", "Mo&shy;re"),
        f"<div>{ARTICLE}</div><script>shares(13)</script>",
    ],
)
def test_invisible_changes_are_no_edit(again: str) -> None:
    assert markup_hash(again) == markup_hash(ARTICLE)


@pytest.mark.parametrize("again", [ARTICLE.replace("5", "6"), ARTICLE.replace("5", "-5"), ARTICLE + "<p>👍</p>", ""])
def test_visible_changes_are_an_edit(again: str) -> None:
    assert markup_hash(again) != markup_hash(ARTICLE)


def test_moving_words_from_title_to_text_is_an_edit() -> None:
    assert text_hash("A B", "C") != text_hash("A", "B C")


def test_lone_surrogates_have_a_hash() -> None:
    assert len(text_hash("\ud800", "\0")) == 16
