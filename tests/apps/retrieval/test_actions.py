"""Beginning and ending visits, and giving sources their schedules."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.postings.models import Posting
from apps.retrieval.actions import adopt_sources, forget_answers, release_worker, request_check, start, store
from apps.retrieval.http.fetching import Failure, Fetched, Validators
from apps.retrieval.http.results import Assignment, decide
from apps.retrieval.models import Retrieval, Schedule, UnmatchedClaims
from apps.retrieval.scheduler.claims import LEASE, Claim
from apps.sources.models import Source
from tests.builders import a_follow, a_source

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FEED = b"<rss version='2.0'><channel><title>News</title><link>https://news.example/</link>%s</channel></rss>"
ITEM = b"<item><guid>1</guid><link>https://news.example/1</link><title>One</title></item>"

pytestmark = pytest.mark.django_db


@pytest.fixture
def schedule() -> Schedule:
    source = a_source(always_retrieved=True, title="")
    adopt_sources([source.pk], now=NOW)
    return Schedule.objects.get(pk=source.pk)


def begin(schedule: Schedule, *, worker: str = "worker@one", now: datetime = NOW) -> list[Assignment]:
    schedule.refresh_from_db()
    return start([Claim(schedule.pk, schedule.sequence, NOW.timestamp(), NOW.timestamp())], worker=worker, now=now)


def an_answer(assignment: Assignment, *, body: bytes = FEED % ITEM, **values) -> Fetched:
    headers = {"etag": 'W/"1"', "last-modified": "yesterday, about noon"}
    given = {"url": assignment.url, "received_at": NOW, "status": 200, "headers": headers, "body": body}
    return Fetched(**given | values)


def visit(schedule: Schedule, **answer) -> Retrieval:
    [assignment] = begin(schedule)
    store([decide(assignment, an_answer(assignment, **answer), jitter=0.0)])
    schedule.refresh_from_db()
    return Retrieval.objects.latest("pk")


def test_a_claim_is_worked_on_once(schedule):
    claim = Claim(schedule.pk, schedule.sequence, NOW.timestamp(), NOW.timestamp())
    assert len(start([claim], worker="one", now=NOW)) == 1
    assert start([claim], worker="two", now=NOW) == []
    assert start([claim], worker="one", now=NOW + timedelta(seconds=1)) == []  # the second message


def test_a_call_that_is_repeated_since_its_answer_was_lost_begins_the_same(schedule):
    claim = Claim(schedule.pk, schedule.sequence, NOW.timestamp(), NOW.timestamp())
    begun = start([claim], worker="one", now=NOW)
    assert start([claim], worker="one", now=NOW) == begun
    store([decide(begun[0], an_answer(begun[0]), jitter=0.0)])
    assert start([claim], worker="one", now=NOW) == []


def test_beginning_a_retrieval_writes_the_next_due_time_first(schedule):
    begin(schedule)
    schedule.refresh_from_db()
    assert schedule.due_at == NOW + timedelta(hours=1)
    assert (schedule.requested_at, schedule.worker) == (NOW, "worker@one")


def test_a_retrieval_stores_postings_validators_log_and_next_due_time(schedule):
    retrieval = visit(schedule)
    assert (retrieval.outcome, retrieval.new, retrieval.status) == ("new", 1, 200)
    assert Posting.objects.get().title == "One"
    assert (schedule.etag, schedule.last_modified) == ('W/"1"', "yesterday, about noon")
    assert NOW + timedelta(hours=1) <= schedule.due_at <= NOW + timedelta(days=1)
    assert (schedule.earliest_at, schedule.worker) == (NOW, "")
    assert Source.objects.get().title == "News"


def test_a_result_that_comes_too_late_is_dropped(schedule):
    [assignment] = begin(schedule)
    Schedule.objects.update(sequence=assignment.sequence + 1)
    assert store([decide(assignment, an_answer(assignment), jitter=0.0)]) == 0
    assert not Posting.objects.exists()
    assert not Retrieval.objects.exists()


def test_a_result_that_comes_twice_is_stored_once(schedule):
    [assignment] = begin(schedule)
    result = decide(assignment, an_answer(assignment), jitter=0.0)
    assert [store([result]), store([result])] == [1, 0]
    assert Retrieval.objects.count() == 1


def test_the_same_bytes_are_not_read_again(schedule):
    visit(schedule)
    retrieval = visit(schedule, headers={"etag": '"2"'})
    assert (retrieval.outcome, retrieval.message) == ("unchanged", "The same bytes as before.")
    assert (schedule.etag, schedule.last_modified) == ('"2"', "")


def test_a_304_keeps_what_it_does_not_say_and_takes_what_it_says(schedule):
    visit(schedule)
    visit(schedule, status=304, body=b"", headers={"etag": '"new"'})
    assert (schedule.etag, schedule.last_modified) == ('"new"', "yesterday, about noon")


def test_a_page_in_place_of_the_feed_changes_no_validators(schedule):
    visit(schedule)
    retrieval = visit(schedule, body=b"<!doctype html><title>Sorry</title>", headers={"etag": '"page"'})
    assert retrieval.outcome == "not_a_feed"
    assert schedule.etag == 'W/"1"'
    assert schedule.consecutive_failures == 1
    assert schedule.failing_since == NOW


def test_failures_back_off_and_one_success_ends_them(schedule):
    gaps = []
    for _ in range(3):
        visit(schedule, status=0, body=b"", failure=Failure("dns", "No server has that name."))
        gaps.append(schedule.due_at - NOW)
    assert gaps == sorted(gaps)
    assert gaps[0] < gaps[2]
    visit(schedule)
    assert (schedule.consecutive_failures, schedule.failing_since) == (0, None)


def test_a_source_that_is_gone_is_no_longer_checked(schedule):
    assert visit(schedule, status=410, body=b"").outcome == "gone"
    assert schedule.due_at is None
    assert Source.objects.get().state == Source.State.GONE


def test_a_permanent_redirect_is_believed_after_ten_sightings(schedule):
    moved = "https://elsewhere.example/feed"
    for _ in range(10):
        assert Source.objects.get().url != moved
        visit(schedule, url=moved, permanent_url=moved)
    assert Source.objects.get().url == moved
    assert (schedule.etag, schedule.last_modified) == ("", "")


def test_retrievals_of_an_ended_worker_are_due_at_once(schedule):
    begin(schedule)
    assert release_worker("worker@one", now=NOW + timedelta(minutes=2)) == 1
    schedule.refresh_from_db()
    assert schedule.worker == ""
    assert schedule.due_at == NOW + timedelta(minutes=2)
    assert schedule.attempts == 1
    assert release_worker("worker@one", now=NOW + timedelta(minutes=2)) == 0


def test_a_worker_that_stops_by_itself_blames_no_source(schedule):
    begin(schedule)
    release_worker("worker@one", now=NOW, graceful=True)
    schedule.refresh_from_db()
    assert schedule.attempts == 0


def test_a_result_of_a_worker_whose_sources_were_released_is_dropped(schedule):
    [assignment] = begin(schedule)
    release_worker("worker@one", now=NOW + timedelta(minutes=2))
    assert store([decide(assignment, Fetched(assignment.url, NOW, status=304), jitter=0.0)]) == 0
    assert not Retrieval.objects.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sequence": 0}, "uncommitted"),
        ({"sequence": 2, "worker": "another"}, "begun"),
        ({"sequence": 3}, "superseded"),
    ],
)
def test_claims_that_match_no_row_are_counted_with_their_reason(schedule, caplog, change, reason):
    Schedule.objects.update(**change)
    caplog.set_level("INFO")
    for _ in range(2):
        assert start([Claim(schedule.pk, 1, 0.0, 0.0), Claim(-1, 1, 0.0, 0.0)], worker="worker@one", now=NOW) == []
    counts = dict(UnmatchedClaims.objects.values_list("reason", "count"))
    assert counts == {reason: 2, "deleted": 2}
    assert f"1 deleted, 1 {reason}" in caplog.text or f"1 {reason}, 1 deleted" in caplog.text


def test_claims_of_paused_sources_are_counted(schedule):
    Source.objects.update(state=Source.State.PAUSED)
    assert start([Claim(schedule.pk, schedule.sequence, 0.0, 0.0)], worker="worker@one", now=NOW) == []
    assert UnmatchedClaims.objects.get().reason == "paused"


def test_a_retrieval_that_is_put_off_stays_due_since_the_first_time(schedule):
    Schedule.objects.update(first_due_at=NOW)
    retrieval = visit(schedule, status=0, body=b"", failure=Failure("host_busy", "Others come first.", 90.0))
    assert (retrieval.outcome, retrieval.begun_at) == ("deferred", None)
    assert schedule.first_due_at == retrieval.due_at
    visit(schedule)
    assert schedule.first_due_at is None


def test_a_quick_source_keeps_its_lease_while_it_is_retrieved():
    source = a_source(always_retrieved=True, clock_rate=10_000)
    adopt_sources(now=NOW)
    begin(source.schedule)
    assert Schedule.objects.get().due_at == NOW + LEASE


class TestAdoption:
    def test_only_wanted_sources_get_a_schedule(self):
        wanted, followed = a_source(always_retrieved=True), a_source()
        a_source(listed=True)
        a_source(always_retrieved=True, state=Source.State.PAUSED)
        a_follow(source=followed)
        a_follow(source=followed)
        assert adopt_sources(now=NOW) == 2
        assert set(Schedule.objects.values_list("pk", "due_at")) == {(wanted.pk, NOW), (followed.pk, NOW)}
        assert adopt_sources(now=NOW) == 0

    def test_an_unfollowed_source_is_no_longer_checked(self):
        follow = a_follow()
        adopt_sources(now=NOW)
        follow.delete()
        assert adopt_sources([follow.source_id], now=NOW) == 1
        assert Schedule.objects.get().due_at is None

    def test_a_source_that_is_wanted_again_waits_for_the_end_of_its_gap(self, schedule):
        visit(schedule)
        Source.objects.update(state=Source.State.PAUSED)
        adopt_sources(now=NOW)
        Source.objects.update(state=Source.State.ACTIVE)
        adopt_sources(now=NOW + timedelta(minutes=5))
        schedule.refresh_from_db()
        assert schedule.due_at == NOW + timedelta(hours=1)

    def test_adopting_takes_as_many_queries_for_many_sources_as_for_few(self, django_assert_max_num_queries):
        for _ in range(30):
            a_source(always_retrieved=True)
        with django_assert_max_num_queries(8):
            adopt_sources(now=NOW)


class TestCheckingNow:
    def test_a_source_is_checked_now_unless_it_was_checked_within_its_gap(self, schedule):
        visit(schedule)
        soon = request_check(schedule.pk, now=NOW + timedelta(minutes=10))
        assert (soon.granted, soon.at) == (False, NOW + timedelta(hours=1))
        later = NOW + timedelta(hours=2)
        assert request_check(schedule.pk, now=later).granted
        schedule.refresh_from_db()
        assert schedule.due_at == later

    def test_a_person_who_set_a_shorter_gap_waits_no_longer_than_it(self, schedule):
        visit(schedule)
        Source.objects.update(min_gap=60)
        assert request_check(schedule.pk, now=NOW + timedelta(minutes=2)).granted

    def test_a_paused_source_is_not_checked(self, schedule):
        Source.objects.update(state=Source.State.PAUSED)
        assert not request_check(schedule.pk, now=NOW).granted


def test_a_new_address_forgets_what_the_old_one_answered(schedule):
    visit(schedule)
    Source.objects.update(url="https://other.example/feed")
    forget_answers(schedule.pk, now=NOW)
    schedule.refresh_from_db()
    assert Validators(schedule.etag, schedule.last_modified) == Validators()
    assert (schedule.due_at, schedule.body_hash, schedule.requested_at) == (NOW, b"", None)


def test_following_raises_the_count_of_subscribers_in_the_user_agent(schedule):
    assert begin(schedule)[0].followers == 0
    a_follow(source=schedule.source)
    assert begin(schedule)[0].followers == 1
