"""Jobs as rows: whatever becomes of workers, each record counts once."""

import random
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from apps.database.time_limits import stopping
from apps.jobs import actions, queries, tasks
from apps.jobs.actions import working
from apps.jobs.actions.claiming import MAX_FAILURES, MAX_LOSSES, Claim, Stopped
from apps.jobs.kinds import kind_of
from apps.jobs.models import Attempt, Job, Split
from tests.apps.jobs.counting import KIND, counted
from tests.trials import quick_every

pytestmark = pytest.mark.django_db


def a_job(**parameters: int) -> Job:
    """A job that is cut already."""
    job, _ = actions.claiming.create(KIND, parameters, requested_by="a test")
    actions.advancing.advance(job.pk)
    return job


def now(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def end_leases() -> None:
    """As if a minute had passed."""
    Attempt.objects.filter(outcome="").update(leased_until=Now() - timedelta(seconds=1))


def be_late(seconds: float) -> None:
    Attempt.objects.filter(outcome="").update(begun_at=Now() - timedelta(seconds=seconds))


def write_of(claim: Claim):
    return kind_of(KIND).map.work(claim.parameters, lambda: None)


def test_all_records_are_worked_on_once_and_reduced_at_the_end(counting_job):
    seen = []
    counting_job(records=10, at_the_end=lambda: seen.append(counted()))
    job = a_job()
    working.work("a worker", job.pk)
    assert seen == [list(range(10))]  # all was there when the reduce stage began
    assert now(job).state == Job.State.DONE
    assert now(job).result == {"sum": 45, "reduced": 1}
    assert counted() == list(range(10))


def test_a_job_without_records_is_done_at_once(counting_job):
    counting_job(records=0)
    job = a_job()
    working.work("a worker", job.pk)
    assert now(job).state == Job.State.DONE


def test_unfinished_job_is_returned_for_the_same_request(counting_job):
    counting_job()
    job, is_new = actions.claiming.create(KIND, requested_by="Ann")
    assert is_new
    assert actions.claiming.create(KIND, requested_by="Bo") == (job, False)
    assert actions.claiming.create(KIND, {"records": 3}, requested_by="Bo")[1]
    actions.claiming.cancel(job.pk)
    assert actions.claiming.create(KIND, requested_by="Bo")[1]


def test_unknown_kinds_and_parameters_are_rejected(counting_job):
    counting_job()
    with pytest.raises(LookupError, match="no jobs of the kind 'dance', only count, crawl, extract, index, update"):
        actions.claiming.create("dance", requested_by="a test")
    with pytest.raises(ValueError, match="have no 'colour', only records"):
        actions.claiming.create(KIND, {"colour": 3}, requested_by="a test")


@pytest.mark.parametrize("seed", quick_every(4, range(8)))
def test_each_record_counts_once_however_workers_end(seed, counting_job):
    """Workers begin, are heard of, vanish, come back, fail and commit twice, while the job is paused and goes on."""
    counting_job(records=14, per_split=2)
    chance, job = random.Random(seed), a_job()
    claims: list[Claim] = []  # of all attempts, including ended ones
    for _ in range(60):
        match chance.choice(["claim", "claim", "commit", "commit", "renew", "vanish", "fail", "advance", "pause"]):
            case "claim":
                if claim := actions.claiming.claim("a worker", job.pk):
                    claims.append(claim)
            case "commit" if claims:
                claim = chance.choice(claims)
                for _ in range(chance.randint(1, 2)):
                    commit_or_stop(claim)
            case "renew" if claims:
                renew_or_stop(chance.choice(claims))
            case "vanish":
                end_leases()
            case "fail" if claims and chance.random() < 0.3:
                actions.claiming.end_attempt(chance.choice(claims).attempt_id, Attempt.Outcome.FAILED, "It failed.")
            case "advance":
                actions.advancing.advance(job.pk)
            case "pause":
                actions.claiming.pause(job.pk)
                actions.claiming.resume(job.pk)
        assert len(counted()) == len(set(counted()))
    finish(job)
    assert counted() == list(range(14))
    assert now(job).result["sum"] == sum(range(14))
    assert Attempt.objects.filter(outcome=Attempt.Outcome.DONE).count() == Split.objects.count()
    assert not Attempt.objects.filter(outcome="").exists()


def commit_or_stop(claim: Claim) -> None:
    if claim.stage == Job.Stage.MAP:
        try:
            actions.claiming.commit(claim.attempt_id, write_of(claim))
        except Stopped:
            actions.claiming.end_attempt(claim.attempt_id, Attempt.Outcome.CANCELLED)


def renew_or_stop(claim: Claim) -> None:
    try:
        actions.claiming.renew(claim.attempt_id)
    except Stopped:
        actions.claiming.end_attempt(claim.attempt_id, Attempt.Outcome.CANCELLED)


def finish(job: Job) -> None:
    """The job to its end, whatever had failed."""
    while now(job).state in (Job.State.WAITING, Job.State.RUNNING, Job.State.FAILED):
        end_leases()
        actions.advancing.advance(job.pk)
        working.work("the last worker", job.pk)
        actions.claiming.try_again(job.pk)


def test_a_worker_that_was_stopped_and_wakes_up_late_commits_nothing(counting_job):
    woken = []

    def be_stopped_once(number, beat):
        if number == 0 and not woken:
            woken.append(number)
            end_leases()
            actions.advancing.advance(job.pk)
            assert working.work_on_one("another", job.pk)
            assert 0 in counted()

    counting_job(during=be_stopped_once, in_order=True)
    job = a_job()
    working.work_on_one("the stopped one", job.pk)
    assert counted() == [0, 1, 2]
    outcomes = Attempt.objects.order_by("number").values_list("worker", "outcome")
    assert list(outcomes) == [("the stopped one", "lost"), ("another", "done")]


def test_of_two_attempts_the_first_that_commits_counts_and_the_other_hears_of_it(counting_job):
    counting_job(records=2)
    job = a_job()
    first = actions.claiming.claim("a worker")
    Split.objects.update(open=True)
    second = actions.claiming.claim("another")
    actions.claiming.commit(second.attempt_id, write_of(second))
    with pytest.raises(Stopped, match="Another worker"):
        actions.claiming.renew(first.attempt_id)
    with pytest.raises(Stopped, match="no longer needed"):
        actions.claiming.commit(first.attempt_id, write_of(first))
    actions.claiming.end_attempt(first.attempt_id, Attempt.Outcome.CANCELLED)
    assert counted() == [0, 1]
    assert Attempt.objects.get(pk=first.attempt_id).outcome == Attempt.Outcome.OVERTAKEN
    assert Split.objects.get(job=job).state == Split.State.DONE


def test_the_database_itself_lets_no_two_attempts_count(counting_job):
    counting_job(records=2)
    a_job()
    claim = actions.claiming.claim("a worker")
    actions.claiming.commit(claim.attempt_id, write_of(claim))
    with pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.create(split=Split.objects.get(), number=2, outcome="done", leased_until=Now())


@pytest.mark.parametrize("stop", [actions.claiming.pause, actions.claiming.cancel])
def test_workers_of_a_paused_or_cancelled_job_stop_at_their_next_beat(stop, counting_job, monkeypatch):
    monkeypatch.setattr(working, "RENEW_SECONDS", 0)
    seen = []

    def stop_at_the_second(number, beat):
        seen.append(number)
        if number == 1:
            stop(job.pk)
        beat()

    counting = counting_job(during=stop_at_the_second, in_order=True)
    job = a_job()
    assert not working.work("a worker", job.pk)
    assert (seen, counted()) == ([0, 1], [])
    assert Attempt.objects.get().outcome == Attempt.Outcome.CANCELLED
    counting.during = lambda number, beat: beat()
    assert not working.work("a worker", job.pk)
    assert counted() == []
    if actions.claiming.resume(job.pk):
        working.work("a worker", job.pk)
    assert counted() == (list(range(12)) if stop is actions.claiming.pause else [])


def test_split_that_keeps_failing_dies_and_can_be_retried(counting_job):
    def fail(number, beat):
        if number == 4 and poisoned:
            raise ValueError("4 is no number.")

    poisoned = [True]
    counting_job(during=fail, in_order=True)
    job = a_job()
    working.work("a worker", job.pk)
    assert now(job).state == Job.State.FAILED
    assert "1 split failed" in now(job).problem
    assert "ValueError: 4 is no number." in now(job).problem
    assert counted() == [0, 1, 2, *range(6, 12)]  # the others were done
    [split] = queries.troubled_splits(job.pk)
    assert (split.failures, split.attempts.count()) == (MAX_FAILURES, MAX_FAILURES)
    poisoned.clear()
    assert actions.claiming.try_again(job.pk)
    assert not actions.claiming.try_again(job.pk)
    working.work("a worker", job.pk)
    assert (now(job).state, now(job).problem, counted()) == (Job.State.DONE, "", list(range(12)))


def test_split_that_kills_its_workers_dies(counting_job):
    counting_job(records=1)
    job = a_job()
    for _ in range(MAX_LOSSES):
        assert actions.claiming.claim("a worker")
        end_leases()
        actions.advancing.advance(job.pk)
    assert actions.claiming.claim("a worker") is None
    actions.advancing.advance(job.pk)
    assert now(job).state == Job.State.FAILED
    assert "stopped responding" in now(job).problem


def test_a_job_that_cannot_be_cut_says_why(counting_job):
    counting_job()
    job, _ = actions.claiming.create(KIND, {"records": 3}, requested_by="a test")
    Job.objects.update(kind="dance")
    actions.advancing.advance_all()
    assert now(job).state == Job.State.FAILED
    assert "'dance'" in now(job).problem


# --- which split, and when another attempt ----------------------------------------------------------------------------
def test_the_largest_split_is_begun_first_unless_the_order_matters(counting_job):
    largest_first = counting_job(records=15)
    working.work("a worker", a_job().pk)
    assert largest_first.begun == [9, 3, 12, 6, 0]  # of sizes 5, 4, 3, 2 and 1
    in_order = counting_job(records=15, in_order=True)
    working.work("a worker", a_job(records=15).pk)
    assert in_order.begun == [0, 3, 6, 9, 12]


def test_splits_are_expected_to_take_what_their_like_took_before(counting_job):
    counting_job(records=24)
    first = a_job()
    assert set(first.splits.values_list("estimate", flat=True)) == {None}
    working.work("a worker", first.pk)
    for attempt in Attempt.objects.filter(split__stage="map").select_related("split"):
        slow = 10 if attempt.split.key == "host1" else 1
        took = timedelta(seconds=slow * attempt.split.size)
        Attempt.objects.filter(pk=attempt.pk).update(begun_at=attempt.ended_at - took)
    second = a_job()
    of_first, of_second = (
        [split.estimate / split.size for split in second.splits.filter(key=f"host{number}")] for number in (0, 1)
    )
    assert 1 < max(of_first) < min(of_second) < 10
    progress = queries.progress([second])[second.pk]
    assert progress.seconds_left == pytest.approx(sum(split.estimate for split in second.splits.all()))


def near_the_end(job: Job) -> Claim:
    """All but one split are done, in a hundred seconds for each unit; the last one is under way."""
    while (claim := actions.claiming.claim("a worker", job.pk)) and Split.objects.filter(state="waiting").exists():
        actions.claiming.commit(claim.attempt_id, write_of(claim))
    for attempt in Attempt.objects.filter(outcome="done").select_related("split"):
        took = timedelta(seconds=100 * attempt.split.size)
        Attempt.objects.filter(pk=attempt.pk).update(begun_at=attempt.ended_at - took)
    return claim


def test_near_the_end_a_slow_split_has_another_attempt(counting_job):
    counting_job(records=36)
    job = a_job()
    slow = near_the_end(job)
    be_late(140)  # of size 1
    actions.advancing.advance(job.pk)
    assert actions.claiming.claim("another", job.pk) is None
    be_late(160)
    actions.advancing.advance(job.pk)
    backup = actions.claiming.claim("another", job.pk)
    assert backup.parameters == slow.parameters
    actions.advancing.advance(job.pk)
    assert actions.claiming.claim("a third", job.pk) is None  # two are enough
    actions.claiming.commit(backup.attempt_id, write_of(backup))
    assert counted() == list(range(36))
    with pytest.raises(Stopped):
        actions.claiming.renew(slow.attempt_id)


def test_kind_without_backups_gets_no_second_attempt(counting_job):
    counting_job(records=36, backups=False)
    job = a_job()
    near_the_end(job)
    be_late(1_000)
    actions.advancing.advance(job.pk)
    assert actions.claiming.claim("another", job.pk) is None
    assert not kind_of("crawl").backups


# --- messages ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def sent(monkeypatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(tasks.work, "apply_async", lambda *_, **__: found.append("work"))
    for number in range(tasks.MAX_WOKEN):  # as if the messages of earlier tests were done
        cache.delete(f"outstanding:work-{number}")
    return found


def test_workers_are_woken_for_open_splits(counting_job, sent):
    counting_job(records=6)
    tasks.advance()
    assert sent == []
    actions.claiming.create(KIND, requested_by="a test")
    tasks.advance()
    assert sent == ["work", "work"]  # it was cut into two
    tasks.work()
    assert counted() == list(range(6))
    assert len(sent) == 2  # nothing was left for another message
    tasks.work()
    assert counted() == list(range(6))


def test_a_worker_yields_after_its_longest_turn(counting_job, sent, monkeypatch):
    monkeypatch.setattr(tasks, "MAX_TURN_SECONDS", 0.0)
    counting_job()
    a_job()
    tasks.work()
    assert sent == ["work"]


def test_a_worker_that_stops_leaves_its_split_to_another(counting_job, sent):
    counting_job()
    a_job()
    stopping.set()
    try:
        assert working.work_on_one("stopped")
    finally:
        stopping.clear()
    assert counted() == []
    tasks.work()
    assert len(counted()) == 12


def test_a_process_works_on_one_split_at_a_time(counting_job, sent):
    counting_job()
    a_job()
    with tasks._at_work:
        tasks.work()
    assert counted() == []
    tasks.work()
    assert len(counted()) == 12


def test_jobs_are_forgotten_a_month_after_their_end(counting_job):
    counting_job()
    job = a_job()
    working.work("a worker", job.pk)
    actions.claiming.forget_old()
    assert Job.objects.exists()
    Job.objects.update(ended_at=Now() - timedelta(days=31))
    actions.claiming.forget_old()
    assert not Job.objects.exists()
    assert not Split.objects.exists()
