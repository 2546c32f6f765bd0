"""New postings meet the searches that stand."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.alerts import actions, queries, tasks
from apps.alerts.actions import matching
from apps.alerts.algorithms.percolator.documents import DocumentView
from apps.alerts.models import Hit, OutboxRow, PercolatorQuery, QueryTerm, Revision, Rule
from apps.following import queries as following
from apps.following.models import Follow
from apps.postings.algorithms.words import analyse
from apps.postings.models import Posting
from apps.search.algorithms.language import parse
from apps.search.models import SavedSearch, Term
from lab.benchmarks.alerts.matching import matches
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user
from tests.percolation import NOW, POSTINGS, QUERIES, SOURCES, has_required_words, values_of

pytestmark = pytest.mark.django_db


def a_search(query, user=None):
    number = str(SavedSearch.objects.count())
    values = {"name": number, "query": query, "secret": f"secret {number}", "saved_at": NOON}
    return SavedSearch.objects.create(user=user or a_user(), **values)


def matched(now=NOON):
    while actions.matching.prepare():
        pass
    known = list(Hit.objects.values_list("pk", flat=True))
    actions.matching.match(now=now)
    return list(Hit.objects.exclude(pk__in=known).order_by("pk"))


def news(title="Elections in Paris", source=None, **values):
    return a_posting(source, **{"title": title, "text": "", "language": "en"} | values)


def found():
    return set(Hit.objects.values_list("saved_id", "posting_id"))


# --- what is found ----------------------------------------------------------------------------------------------------
def test_a_posting_is_found_by_the_searches_that_it_answers():
    search, _ = a_search("paris election"), a_search("paris -elections")
    posting = news()
    [hit] = matched()
    assert (hit.saved_id, hit.posting_id, hit.source_id) == (search.pk, posting.pk, posting.source_id)
    assert (hit.published_at, hit.retrieved_at, hit.found_at) == (posting.published_at, posting.retrieved_at, NOON)


@pytest.fixture
def people():
    """A reader with follows of their own, in another time zone; one without any; and one of the staff."""
    reader = a_user(time_zone="Asia/Tokyo")
    sources = [
        a_source(title=title, url=url, category=category, listed=number == 0)
        for number, (title, url, category) in enumerate(SOURCES)
    ]
    for source in sources:
        a_follow(reader, source, title="my paper", unread_from=NOW - timedelta(days=2))
    return [reader, a_user(), a_user(is_staff=True)], sources


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(QUERIES, min_size=1, max_size=8), st.lists(POSTINGS, min_size=1, max_size=5),
    st.lists(st.sampled_from([{"starred_at": NOW}, {"read": True}, {"read": False}, {}]), min_size=5, max_size=5),
)  # fmt: skip
def test_the_percolator_finds_what_a_scan_of_all_searches_finds(people, some, drawn, marks):
    users, sources = people
    SavedSearch.objects.all().delete()
    Posting.objects.all().delete()
    searches = [a_search(query, user) for query in some for user in users]
    postings = {
        news(
            posting.title, sources[posting.source], text=posting.text, language=posting.declared, author=posting.author,
            categories=list(posting.categories), published_at=NOW - posting.age,
        ).pk: posting
        for posting in drawn
    }  # fmt: skip
    for id, mark in zip(postings, marks, strict=False):
        a_mark(users[0], Posting.objects.get(pk=id), **mark)
        a_mark(users[1], Posting.objects.get(pk=id), **mark)
    matched(now=NOW)
    assert found() == {pair for user in users for pair in scanned(user, searches, postings)}


def scanned(user, searches, postings):
    """Each search of the person tried on each posting that they may read."""
    own_titles = dict(Follow.objects.filter(user=user).values_list("source_id", "title"))
    now = NOW.astimezone(ZoneInfo(user.time_zone or "UTC"))
    for seen in following.with_state(following.readable_by(user), user):
        posting = postings[seen.pk]
        view = DocumentView(
            own_titles.get(seen.source_id, ""), seen.unread, seen.starred, followed=seen.source_id in own_titles
        )
        values = values_of(posting, view, seen.source_id)
        for search in searches:
            tree = parse(search.query)
            if (
                search.user == user
                and has_required_words(tree, "en")
                and has_required_words(tree, posting.language)
                and matches(
                    tree, values, analyse=lambda text, code=posting.language: analyse(text, code).sequence, now=now
                )
            ):
                yield search.pk, seen.pk


def test_an_edit_may_let_others_find_a_posting_and_takes_it_from_none():
    paris, rome = a_search("paris"), a_search("rome")
    posting = news("Paris")
    matched()
    Posting.objects.filter(pk=posting.pk).update(title="Rome", text_hash=b"another" + bytes(9))
    assert [hit.saved_id for hit in matched()] == [rome.pk]
    assert found() == {(paris.pk, posting.pk), (rome.pk, posting.pk)}
    Posting.objects.filter(pk=posting.pk).update(text_hash=b"a third" + bytes(9))
    assert matched() == []


def test_old_postings_are_found_but_rules_act_only_on_news(monkeypatch):
    acted = []
    monkeypatch.setattr(matching, "apply_rules", lambda hits, *, now: acted.append([hit.saved_id for hit in hits]))
    ruled, _ = a_search("paris"), a_search("paris")
    Rule.objects.create(saved=ruled, stop_token="token")
    news()
    news(published_at=NOON - timedelta(days=7, seconds=1))
    assert len(matched()) == 4
    assert acted == [[ruled.pk]]


def test_searches_of_disabled_accounts_match_nothing():
    a_search("paris", a_user(is_active=False))
    news()
    assert matched() == []


def test_a_private_source_is_only_found_by_those_who_follow_it_and_who_starred_what_it_had():
    source, follower, stranger, fan = a_source(), a_user(), a_user(), a_user()
    a_follow(follower, source)
    posting = news(source=source)
    a_mark(fan, posting, starred_at=NOON)
    searches = [a_search("paris", user) for user in (follower, stranger, fan)]
    matched()
    assert {saved_id for saved_id, _ in found()} == {searches[0].pk, searches[2].pk}


# --- what searches stand for ------------------------------------------------------------------------------------------
def test_a_search_that_names_nothing_is_refused_with_a_sentence():
    search = a_search("-paris after:7d")
    matched()
    standing = PercolatorQuery.objects.get(pk=search.pk)
    assert "needs a word" in standing.refusal
    assert not search.query_terms.exists()


def test_a_stored_query_that_is_no_longer_valid_is_refused():
    search = a_search("(paris")
    matched()
    assert "is not closed" in PercolatorQuery.objects.get(pk=search.pk).refusal


def test_replaced_search_matches_its_new_query_and_keeps_its_importance():
    search = a_search("paris")
    matched()
    PercolatorQuery.objects.filter(pk=search.pk).update(importance=3.0)
    SavedSearch.objects.filter(pk=search.pk).update(query="rome")
    posting, _ = news("Rome"), news("Paris")
    matched()
    assert found() == {(search.pk, posting.pk)}
    standing = PercolatorQuery.objects.get(pk=search.pk)
    assert (standing.query, standing.refusal, standing.importance) == ("rome", "", 3.0)


def test_to_prepare_twice_changes_nothing():
    for query in ("paris elections", '"new york" OR rome', "-rome"):
        a_search(query)

    def indexed():
        while actions.matching.prepare(2):
            pass
        return sorted(QueryTerm.objects.values_list("saved_id", "term", "beside", "languages", "exact")), sorted(
            PercolatorQuery.objects.values_list("saved_id", "query", "refusal")
        )

    once = indexed()
    tasks.prepare_all()
    assert Revision.objects.count() == 3
    assert indexed() == once


def test_the_word_that_fewer_postings_hold_is_the_anchor():
    Term.objects.create(term="pari", document_frequency=10)
    Term.objects.create(term="elect", document_frequency=5)
    search = a_search("paris election lang:en")
    matched()
    [anchor] = search.query_terms.all()
    assert (anchor.term, anchor.beside, anchor.exact) == ("elect", ["pari", "lang:en"], True)


# --- nothing lost, nothing twice --------------------------------------------------------------------------------------
def test_a_killed_run_leaves_everything_to_the_next(monkeypatch):
    search = a_search("paris")
    Rule.objects.create(saved=search, stop_token="token")
    posting = news()

    def killed(*_, **__):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(matching, "_write_terms", killed)
        with pytest.raises(SystemExit):
            actions.matching.prepare()
    with monkeypatch.context() as patch:
        patch.setattr(matching, "apply_rules", killed)
        with pytest.raises(SystemExit):
            matched()
    assert found() == set()
    assert len(matched()) == 1
    assert found() == {(search.pk, posting.pk)}
    assert actions.matching.match(now=NOON) == 0
    assert (OutboxRow.objects.count(), Revision.objects.count()) == (0, 0)


def test_a_posting_that_is_gone_is_passed_over():
    a_search("paris")
    news().delete()
    assert actions.matching.match(now=NOON) == 1
    assert found() == set()


def test_hits_are_deleted_with_their_search_or_posting():
    kept, gone = a_search("paris"), a_search("paris")
    posting, other = news(), news()
    matched()
    other.delete()
    gone.delete()
    matched()
    assert found() == {(kept.pk, posting.pk)}
    assert set(QueryTerm.objects.values_list("saved_id", flat=True)) == {kept.pk}


def test_results_of_a_search_deleted_meanwhile_are_removed_by_the_next_run():
    search = a_search("paris")
    posting = news()
    matched()
    number = search.pk
    search.delete()
    Hit.objects.create(
        saved_id=number, posting=posting, source_id=posting.source_id, published_at=NOON, retrieved_at=NOON,
        found_at=NOON,
    )  # fmt: skip
    matched()
    assert found() == set()


def test_task_indexes_searches_before_it_matches():
    search = a_search("paris")
    posting = news()
    tasks.consume()
    assert found() == {(search.pk, posting.pk)}


def test_the_number_of_statements_does_not_grow_with_postings_and_searches():
    reader, source = a_user(time_zone="Asia/Tokyo"), a_source(listed=True)
    a_follow(reader, source)

    def statements(count):
        for number in range(count):
            a_search(f"paris source:source is:unread -x{number}", reader)
            news(source=source)
        while actions.matching.prepare():
            pass
        known = Hit.objects.count()
        with CaptureQueriesContext(connection) as queries:
            assert actions.matching.match(now=NOON) == count
        assert Hit.objects.count() - known == SavedSearch.objects.count() * count
        return len(queries)

    statements(1)
    assert statements(1) == statements(7)


# --- what is shown of it ----------------------------------------------------------------------------------------------
def test_hits_are_listed_the_newest_first_page_by_page():
    search, other = a_search("paris"), a_search("rome")
    postings = [news() for _ in range(5)]
    news("Rome")
    matched()
    first = queries.hits_of(search, None, 3)
    assert [hit.posting for hit in first] == postings[:1:-1]
    assert [hit.posting for hit in queries.hits_of(search, first[-1].pk, 3)] == postings[1::-1]
    assert queries.count_hits(search.user) == {search.pk: 5}
    assert queries.count_hits(other.user) == {other.pk: 1}


def test_serving_sources_have_their_delays():
    search = a_search("paris")
    fast, slow = a_source(listed=True, title="Fast"), a_source(listed=True, title="", url="https://slow.example/feed")
    for minutes in (1, 2, 3):
        news(source=fast, retrieved_at=NOON - timedelta(minutes=60 - minutes))
    news(source=slow, retrieved_at=NOON)
    news(source=slow, published_at=NOON - timedelta(days=9), retrieved_at=NOON)
    matched()
    assert [tuple(source) for source in queries.sources_of(search, NOON)] == [
        (fast.pk, "Fast", 3, 120.0, pytest.approx(168.0)),
        (slow.pk, "https://slow.example/feed", 1, 3600.0, 3600.0),
    ]
    assert queries.sources_of(search, NOON + timedelta(days=31)) == []


def test_old_hits_are_deleted_except_the_newest_of_each_search(monkeypatch):
    monkeypatch.setattr("apps.alerts.actions.matching.ALWAYS_KEPT", 2)
    monkeypatch.setattr("apps.alerts.actions.matching.PRUNE_BATCH", 3)
    many, few = a_search("paris"), a_search("rome")
    postings = [news() for _ in range(4)]
    rome = news("Rome")
    matched()
    newest = news()
    later = NOON + timedelta(days=91)
    matched(now=later)
    actions.matching.forget_old_hits(now=later)
    kept = {(many.pk, postings[3].pk), (many.pk, newest.pk), (few.pk, rome.pk)}
    assert found() == kept
    actions.matching.forget_old_hits(now=later)
    assert found() == kept
