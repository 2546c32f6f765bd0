"""The order in which a ranking is shown."""

import pytest
from django.core.cache import cache

from apps.search.actions.reindexing import consume
from tests.apps.search.searching import all_pages, published, search
from tests.builders import a_follow, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    cache.clear()


def test_the_languages_of_followed_feeds_come_first():
    german, english = published("Berlin Berlin Berlin", language="de"), published("Berlin and more", language="en")
    consume()
    reader = a_follow(source=a_source(language="en-GB")).user
    assert search("berlin").postings == (german.pk, english.pk)
    assert search("berlin", reader).postings == (english.pk, german.pk)
    assert search("berlin lang:de", reader).postings == (german.pk,)


def test_a_title_in_another_language_is_not_put_before_a_text_in_the_own_one():
    german, english = published("Berlin Paris Rom", language="de"), published("Berlin", text="Paris", language="en")
    consume()
    reader = a_follow(source=a_source(language="en-GB")).user
    assert search("berlin paris").postings == (german.pk, english.pk)
    assert search("berlin paris", reader).postings == (english.pk, german.pk)


def test_a_live_ticker_does_not_fill_the_page():
    ticker, other = a_source(listed=True), a_source(listed=True)
    for number in range(30):
        published(f"Storm live: update {number}", ticker, days=number)
    published("Much later the storm has gone, and so have the clouds over all of the islands", other)
    consume()
    found = search("storm").postings
    of_ticker = set(ticker.postings.values_list("pk", flat=True))
    assert [posting_id in of_ticker for posting_id in found[:5]] == [True, True, True, False, True]
    assert len(all_pages("storm", a_user())) == 31


def test_titles_with_all_words_come_first_unless_readers_judge_or_want_fresh_articles():
    dense = published("Harbour", text="The harbour bridge. " * 20)
    half = published("Bridge", text="The bridge of the harbour. " * 20)
    titled = published("A bridge for the old harbour", text="Walkers and ships are glad of it, says the mayor. " * 9)
    consume()
    assert search("harbour bridge").postings[0] == titled.pk
    assert search("harbour bridge", order="fresh").postings[-1] == titled.pk
    assert search("harbour bridge", liked_ids=[dense.pk]).postings[-1] == titled.pk
    assert search("harbour bridge unheard").postings[-1] == titled.pk
    assert set(search("harbour bridge").postings) == {dense.pk, half.pk, titled.pk}


def test_titles_in_chinese_have_all_words_by_their_characters():
    dense = published("天气", text="访问柏林,柏林访问。" * 20, language="zh")
    titled = published("总理今天在柏林访问了一所学校和很多学生", text="他们都很高兴。" * 20, language="zh")
    consume()
    assert search("访问 柏林").postings == (titled.pk, dense.pk)
