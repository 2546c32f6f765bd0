"""What people see of search, and the ways it offers to go on."""

import re
from datetime import timedelta
from html import unescape
from urllib.parse import unquote_plus, urlencode

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from apps.reading.pages import search
from apps.reading.pages.search import MAX_CHIPS, search_page
from apps.search.actions.dictionary import learn_spelling
from apps.search.actions.reindexing import consume
from apps.search.algorithms.language import parse
from apps.search.queries import LENGTH, spelling
from apps.web.pages.search_query import MAX_JUDGED, SearchQuery
from tests.builders import a_follow, a_mark, a_posting, a_source, a_user

NOW = timezone.now()
database = pytest.mark.django_db


def a_found_posting(title, source=None, **values):
    """One that search has read. It is newer than those that were made before it."""
    made = a_posting(source, **{"title": title, "text": "", "published_at": NOW - timedelta(days=2)} | values)
    consume()
    return made


def titles(page):
    return [row["posting"].title for row in page["rows"]]


def query_of(address):
    return SearchQuery.read(QueryDict(address.partition("?")[2]))


def shown(client, text, **values):
    answer = client.get(reverse("search"), {"q": text, **values})
    assert answer.status_code == 200
    return answer.text


# --- what is in the address -------------------------------------------------------------------------------------------
ids = st.lists(st.integers(1, 2**63 - 1), max_size=5, unique=True).map(tuple)
texts = st.text('aé北🙂&=+%#/"\n ', max_size=20)
questions = st.builds(
    SearchQuery,
    text=texts,
    order=st.sampled_from(["relevance", "newest", None]),
    expansion=st.booleans(),
    removed=st.lists(texts.filter(bool), max_size=3, unique=True).map(tuple),
    liked=ids,
    disliked=st.just(()),
    start=texts,
)


@given(questions, ids)
def test_an_address_contains_the_whole_query(query, disliked):
    query = query._replace(disliked=tuple(other for other in disliked if other not in query.liked))
    assert query_of(query.address()) == query


@given(st.lists(st.tuples(st.sampled_from(["q", "order", "words", "like", "unlike", "without", "start"]), st.text())))
def test_any_address_can_be_parsed(pairs):
    query = SearchQuery.read(QueryDict(urlencode(pairs, errors="ignore")))
    assert query_of(query.address()) == query


@given(questions, st.lists(st.tuples(st.integers(1, 30), st.sampled_from(["liked", "disliked", ""])), max_size=60))
def test_the_last_verdict_on_a_posting_counts(query, verdicts):
    for posting_id, verdict in verdicts:
        query = query.with_feedback(posting_id, verdict)
        assert query.verdict(posting_id) == verdict
        assert max(len(query.liked), len(query.disliked)) <= MAX_JUDGED


def test_a_changed_search_begins_at_its_first_page():
    query = SearchQuery("paris", start="somewhere", removed=("hotel",), liked=(7,))
    changed = [
        query.changed(text="rome"),
        query.changed(order="newest"),
        query.changed(expansion=False, removed=()),
        query.with_term_removed("bar"),
        query.with_term_restored("hotel"),
        query.with_feedback(8, "disliked"),
        query.changed(liked=(), disliked=()),
    ]
    assert not any(other.start for other in changed)


# --- the page ---------------------------------------------------------------------------------------------------------
@database
def test_matches_are_highlighted_and_all_other_text_is_escaped(client):
    a_found_posting("Talks <b>in</b> Zürich", text="The <script>talk</script> went on.", language="en")
    text = shown(client, "zurich talking")
    assert "<mark>Talks</mark> &lt;b&gt;in&lt;/b&gt; <mark>Zürich</mark>" in text
    assert "&lt;script&gt;<mark>talk</mark>&lt;/script&gt;" in text


@database
def test_a_query_that_cannot_be_read_is_shown_with_the_piece_in_the_way(client):
    text = shown(client, "paris before:<soon>")
    assert "“before:” needs a date like 2026-11-21" in text
    assert "paris before:<mark>&lt;soon&gt;</mark>" in text


@database
@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        "\x00",
        "a" * 3_000,
        "'; DROP TABLE x; --",
        "%",
        "\\",
        "is:unread",
        "after:0d",
        "-paris",
        "the",
        '"the"',
        "🙂",
        "source:99999999999999999999",
    ],
)
def test_no_query_breaks_the_page(client, text):
    a_found_posting("Paris")
    shown(client, text, like="x", unlike="9" * 30, without="\x00", order="sideways")


@database
def test_postings_of_private_sources_are_not_found():
    secret = a_found_posting("A secret of Paris", a_source(listed=False))
    reader, stranger = a_user(), a_user()
    a_follow(reader, secret.source)
    assert titles(search_page(reader, SearchQuery("paris"), NOW)) == ["A secret of Paris"]
    page = search_page(stranger, SearchQuery("paris"), NOW)
    assert not page["rows"]
    assert not page["sources"]
    assert not page["added"]


@database
def test_deleted_postings_are_left_out():
    kept, deleted = a_found_posting("Paris, kept"), a_found_posting("Paris, deleted")
    deleted.delete()
    assert titles(search_page(kept.source.follows.none().first() or a_user(), SearchQuery("paris"), NOW)) == [
        "Paris, kept"
    ]


@database
def test_filters_by_read_and_starred_state():
    follow = a_follow()
    read, starred, _ = (a_found_posting(f"Paris {word}", follow.source) for word in ("read", "starred", "unread"))
    a_found_posting("Paris of others")
    a_mark(follow.user, read, read=True)
    a_mark(follow.user, starred, starred_at=NOW)

    def found(text):
        return sorted(titles(search_page(follow.user, SearchQuery(text), NOW)))

    assert found("paris is:followed") == ["Paris read", "Paris starred", "Paris unread"]
    assert found("paris is:followed -is:unread") == ["Paris read"]
    assert found("is:starred") == ["Paris starred"]


@database
def test_visitors_see_why_nothing_is_found(client):
    assert "Sign in</a> to search what you have read" in shown(client, "is:starred")


@database
def test_all_pages_together_show_each_posting_once_while_news_arrive():
    user, source = a_user(), a_source(listed=True)
    made = {a_found_posting(f"Paris {number}", source).pk for number in range(2 * LENGTH + 5)}
    for order in ("relevance", "newest"):
        query, seen = SearchQuery("paris", order=order, expansion=False), []
        while True:
            page = search_page(user, query, NOW)
            seen += [row["posting"].id for row in page["rows"]]
            a_found_posting("Paris, just in", source, published_at=NOW - timedelta(minutes=1))
            if not page["next"]:
                break
            query = query_of(page["next"])
        assert made <= set(seen)
        assert len(seen) == len(set(seen))


@database
def test_each_source_leads_to_as_many_postings_as_it_says():
    user = a_user()
    wire, herald = a_source(listed=True, title="Wire"), a_source(listed=True, title="Wire Herald")
    for days, source in ((1, wire), (1, herald), (3, herald), (3, herald)):
        a_found_posting("Paris", source, published_at=NOW - timedelta(days=days))
    links = search_page(user, SearchQuery("paris", expansion=False), NOW)["sources"]
    assert [(link.label, link.count) for link in links] == [("Wire Herald", 3), ("Wire", 1)]
    for link in links:
        assert len(search_page(user, query_of(link.address), NOW)["rows"]) == link.count


@database
def test_a_filter_can_be_taken_away_again():
    page = search_page(a_user(), SearchQuery("paris lang:en -is:starred"), NOW)
    assert [link.label for link in page["filters"]] == ["lang:en", "-is:starred"]
    assert [query_of(link.address).text for link in page["filters"]] == ["paris -is:starred", "paris lang:en"]


@database
def test_added_words_say_where_they_come_from_and_can_be_left_out():
    user = a_user()
    best = a_found_posting("Paris summit", text="Delegations argued about emissions.", language="en")
    a_found_posting("Paris", text="Emissions rose.", language="en")
    for number in range(16):
        a_found_posting(f"Football {number}", text="It rained.", language="en")
    page = search_page(user, SearchQuery("paris"), NOW)
    word = next(word for word in page["added"] if word.word == "emissions")
    assert best.pk in {origin.posting_id for origin in word.origins}
    without = search_page(user, query_of(word.leave_out), NOW)
    assert "emissions" not in [other.word for other in without["added"]]
    assert len(without["removed"]) == 1
    back = search_page(user, query_of(without["removed"][0].address), NOW)
    assert "emissions" in [other.word for other in back["added"]]
    assert not search_page(user, query_of(page["with_own_words"]), NOW)["added"]


@database
def test_verdicts_change_the_order():
    user = a_user()
    bank, river = (
        a_found_posting("Bank", text=text, language="en")
        for text in ("Money, loans, interest.", "Water, reeds, boats.")
    )
    a_found_posting("Rain", text="It rained.", language="en")

    def first(page):
        return next(row for row in page["rows"])["posting"].id

    for liked in (bank, river):
        page = search_page(user, SearchQuery("bank OR water OR money"), NOW)
        row = next(row for row in page["rows"] if row["posting"].id == liked.pk)
        assert first(search_page(user, query_of(row["like"]), NOW)) == liked.pk
        assert first(search_page(user, query_of(row["dislike"]), NOW)) != liked.pk


@database
def test_htmx_gets_the_requested_part(client):
    a_found_posting("Paris")
    headers = {"HX-Request": "true", "HX-Target": "found"}
    answer = client.get(reverse("search"), {"q": "paris"}, headers=headers)
    assert "<html" not in answer.text
    assert 'hx-swap-oob="true"' in answer.text
    assert "HX-Request" in answer["Vary"]


@database
def test_a_slip_is_offered_to_be_put_right(client):
    for number in range(3):
        a_found_posting(f"Parliament {number}")
    learn_spelling()
    spelling._known = None
    assert "Did you mean" not in shown(client, "parliament")
    page = search_page(a_user(), SearchQuery("parlaiment lang:en", order="newest"), NOW)
    assert page["meant"].label == "parliament lang:en"
    assert query_of(page["meant"].address) == SearchQuery("parliament lang:en", order="newest")
    assert "Did you mean" in shown(client, "parlaiment")
    spelling._known = None


@database
def test_the_parsed_query_is_shown_if_it_is_ambiguous(client):
    assert "paris (rome OR london)" in unescape(shown(client, "paris rome OR london"))
    assert "Interpreted as" not in shown(client, "paris (rome OR london)")


@database
def test_an_invalid_cursor_gets_404(client):
    a_found_posting("Paris")
    assert client.get(reverse("search"), {"q": "paris", "start": "nowhere"}).status_code == 404


@database
def test_the_number_of_queries_does_not_depend_on_the_results():
    user = a_user()

    def queries():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            page = search_page(user, SearchQuery("paris"), NOW)
        return len(captured), len(page["rows"])

    a_found_posting("Paris", text="Some words.")
    search_page(user, SearchQuery("paris"), NOW)
    few, _ = queries()
    for number in range(LENGTH):
        a_found_posting(f"Paris {number}", text=f"Other words {number}.")
    search_page(user, SearchQuery("paris"), NOW)
    many, rows = queries()
    assert rows == LENGTH
    assert many <= few + 1  # spare: what search remembers between two searches is its own affair
    assert many <= 40


@database
def test_results_are_counted_in_words(client, monkeypatch):
    for number in range(3):
        a_found_posting(f"Paris {number}")
    a_found_posting("Rome and Paris")
    assert ">4 results<" in shown(client, "paris", words="mine")
    assert ">1 exact match, 3 partial<" in shown(client, "paris rome", words="mine")
    monkeypatch.setattr(search, "MAX_RANKED", 3)
    assert ">More than 3 results<" in shown(client, "paris", words="mine", order="newest")
    assert ">1 exact match, more than 3 partial<" in shown(client, "paris rome", words="mine")


# --- help -------------------------------------------------------------------------------------------------------------
@database
def test_help_links_its_examples(client):
    text = client.get(reverse("search_help")).text
    links = re.findall(r'href="/search/\?q=([^"]+)"', text)
    assert len(links) > 15
    assert all(parse(unquote_plus(link)) for link in links)


@database
def test_a_link_shows_the_related_terms_beyond_the_heaviest():
    user, words = a_user(), "emissions delegations tariffs glaciers harvests reactors turbines forests"
    for title in ("Paris summit", "Paris"):
        a_found_posting(title, text=f"They argued about {words}.", language="en")
    for number in range(16):
        a_found_posting(f"Football {number}", text="It rained.", language="en")
    page = search_page(user, SearchQuery("paris"), NOW)
    assert len(page["added"]) == MAX_CHIPS
    whole = search_page(user, query_of(page["further"].address), NOW)
    assert len(whole["added"]) == MAX_CHIPS + page["further"].count
    assert {*words.split()} <= {word.word for word in whole["added"]}
    assert whole["further"].count == 0
    assert len(whole["chips"]) == MAX_CHIPS


@database
def test_words_that_are_too_common_to_rank_by_are_named_so(client):
    a_found_posting("The river rises")
    common = "These words are too common"
    assert common in shown(client, "the")
    assert common not in shown(client, "the", order="newest")
    assert common not in shown(client, "the river")
