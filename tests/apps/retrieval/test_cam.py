"""CAM as a policy of the portal: for all sources, or only for pages whose changes only checks show."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import numpy as np
import pytest
from django.urls import reverse

from apps.retrieval.actions import change_plan, current_plan, learn_profiles, replan, replan_changed
from apps.retrieval.actions.timetables import make_timetables
from apps.retrieval.algorithms.calendar import WEEK, hours_of
from apps.retrieval.models import Plan, Retrieval, Schedule, WeeklyProfile
from apps.retrieval.planner.due_times import BY_TIMETABLE
from apps.retrieval.reports.source import effect_of, plan_of_source
from apps.retrieval.scheduler.beat import Due, messages
from apps.sources.actions.editing import edit_source
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import DAY, HOUR, NOW, an_observed_source, daily, visit
from tests.builders import a_profile, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db

SOON = NOW + timedelta(minutes=5)


def a_watched_page(changes_at: int = 15, *, days: int = 28, every: int = 1, **values) -> Source:
    """A page with a weak prior, checked every few hours; it changed once a day in the hour before one check."""
    source = a_source(**{"always_retrieved": True, "kind": "xpath"} | values)
    a_schedule(source, due_at=NOW + HOUR, observed_at=NOW, earliest_at=NOW + HOUR)
    a_profile(source, hourly=np.full(168, 0.05), learned_at=NOW)
    ends = [NOW - ago * HOUR for ago in range(0, 24 * days, every)]
    log_checks(source, {at: any((at - hour * HOUR).hour == changes_at for hour in range(every)) for at in ends})
    return source


def log_checks(source: Source, checks: Mapping[datetime, bool]) -> None:
    """Log checks of a source, and whether each found something new."""
    Retrieval.objects.bulk_create(
        Retrieval(
            source=source,
            due_at=at,
            dispatched_at=at,
            fetched_at=at,
            stored_at=at,
            outcome=Retrieval.Outcome.NEW if new else Retrieval.Outcome.UNCHANGED,
            new=int(new),
        )
        for at, new in checks.items()
    )


def follow_plan(now: datetime = SOON) -> int:
    """As within the next minute, but at a price that is not looked for; how many timetables were made."""
    Plan.objects.filter(price=None).update(price=1.0)
    made = make_timetables(current_plan(), now=now)
    replan(now=now)
    return len(made)


def timetable(source: Source) -> tuple[np.ndarray, np.ndarray]:
    profile = WeeklyProfile.objects.get(pk=source.pk)
    return np.frombuffer(profile.timetable, "<f8"), np.frombuffer(profile.chances, "<f4")


def per_day(source: Source) -> float:
    return timetable(source)[0].size / 7


class TestCamForAll:
    def test_checks_at_the_likeliest_times(self):
        source = an_observed_source(daily(9.5))
        change_plan(policy="cam", budget=2)
        assert follow_plan() == 1
        times, chances = timetable(source)
        assert per_day(source) == 2
        assert (np.diff(times) > 0).all()
        assert chances.size == times.size
        best = times[np.argsort(-chances)[:7]] % 24
        assert ((best > 9.5) & (best < 10.6)).all()

    def test_gives_more_to_what_is_worth_more_and_keeps_the_budget_and_the_longest_gap(self):
        sources = [an_observed_source(daily(8 + number)) for number in range(4)]
        edit_source(sources[0].pk, weight=30)
        change_plan(policy="cam", budget=3)
        follow_plan()
        assert sum(map(per_day, sources)) == pytest.approx(12, abs=0.01)
        assert per_day(sources[0]) > 1.5 * max(map(per_day, sources[1:]))
        for source in sources:
            times, _ = timetable(source)
            assert np.diff(np.append(times, times[0] + WEEK)).max() <= 24

    def test_keeps_the_shortest_gap_of_each_source(self):
        source = an_observed_source(daily(9.5), min_gap=3 * 3_600)
        change_plan(policy="cam", budget=20)
        follow_plan()
        assert per_day(source) == 8

    def test_says_why_then(self):
        source = an_observed_source(daily(9.5))
        edit_source(source.pk, weight=4)
        change_plan(policy="cam", budget=2)
        follow_plan()
        schedule = Schedule.objects.get()
        assert schedule.reason.startswith("page of weight 4, update expected with probability 0.")
        plan = plan_of_source(source, schedule, SOON)
        assert f"{plan.chance:.2g}" == schedule.reason.rpartition(" ")[2]
        assert plan.by_timetable == 2
        times, chances = timetable(source)
        place = np.abs(times - float(hours_of(schedule.due_at.timestamp())) % WEEK).argmin()
        assert plan.chance == pytest.approx(chances[place])
        assert effect_of(source, 4.0, SOON) is None

    def test_says_the_same_after_a_visit(self):
        source = an_observed_source(daily(9.5))
        change_plan(policy="cam", budget=2)
        follow_plan()
        schedule = visit(source, SOON + HOUR)
        assert schedule.reason.startswith("page of weight 1, update expected with probability 0.")
        assert schedule.due_at >= SOON + 2 * HOUR
        assert len(schedule.ahead) > 5

    def test_says_nothing_of_chances_under_another_policy(self):
        source = an_observed_source(daily(9.5))
        for policy in ("cam", "combined"):
            change_plan(policy=policy, budget=2)
            follow_plan()
        schedule = Schedule.objects.get()
        assert schedule.reason == BY_TIMETABLE
        assert plan_of_source(source, schedule, SOON).chance is None

    def test_of_a_source_with_a_feed_the_profile_counts_and_not_the_log(self):
        source = an_observed_source(daily(9.5))
        change_plan(policy="cam", budget=2)
        follow_plan()
        _, before = timetable(source)
        log_checks(source, {NOW - hour * HOUR: True for hour in range(1, 200)})
        follow_plan()
        assert timetable(source)[1].tolist() == before.tolist()


class TestPages:
    def test_are_learnt_from_the_log_of_retrievals(self):
        source = a_watched_page(changes_at=15)
        change_plan(policy="cam", budget=2)
        follow_plan()
        times, chances = timetable(source)
        best = np.argsort(-chances)[:7]
        assert chances[best].min() > 0.4
        assert len({int(time // 24) for time in times[best]}) == 7
        # A change seen at 15:00 came after 14:00; slots of the page's own grid touch that hour on either side.
        assert ((times[best] % 24 >= 14.01) & (times[best] % 24 <= 16)).all()

    def test_that_are_checked_seldom_are_learned_too(self):
        source = a_watched_page(changes_at=15, every=5)
        change_plan(policy="cam", budget=2)
        follow_plan()
        times, chances = timetable(source)
        hours = times[np.argsort(-chances)[:5]] % 24
        assert np.median(np.abs(hours - 15)) <= 2

    @pytest.mark.parametrize("kind", ["json", "xpath", "regex", "scrape", "index"])
    def test_alone_go_by_cam_and_feeds_by_our_own_plan(self, kind):
        feed = an_observed_source(daily(9.5))
        page = a_watched_page(kind=kind, site=a_source(kind="site") if kind == "index" else None)
        change_plan(pages_policy="cam", budget=4)
        assert follow_plan() == 1
        assert timetable(feed)[0].size == 0
        assert Schedule.objects.get(pk=feed.pk).reason.endswith("an earlier check would cost more than it saves")
        assert "update expected with probability" in Schedule.objects.get(pk=page.pk).reason
        assert effect_of(feed, 4.0, SOON) is not None
        assert effect_of(page, 4.0, SOON) is None

    def test_have_the_share_of_the_budget_that_they_have_under_our_plan(self):
        an_observed_source(daily(9.5))
        pages = [a_watched_page(days=3), a_watched_page(days=3)]
        change_plan(pages_policy="cam", budget=4)
        follow_plan()
        masses = dict(WeeklyProfile.objects.values_list("source_id", "root_mass"))
        share = sum(masses[page.pk] for page in pages) / sum(masses.values())
        assert sum(map(per_day, pages)) == pytest.approx(3 * 4 * share, abs=0.2)

    def test_by_cam_leave_the_rest_to_another_policy_of_the_feeds(self):
        feeds = [an_observed_source(daily(9.5)) for _ in range(2)]
        page = a_watched_page(days=3)
        change_plan(policy="uniform", pages_policy="cam", budget=4)
        assert follow_plan() == 3
        per_feed = [24 / WeeklyProfile.objects.get(pk=feed.pk).period for feed in feeds]
        assert sum(per_feed) + per_day(page) == pytest.approx(12, abs=0.3)
        assert timetable(page)[1].size > timetable(feeds[0])[1].size == 0

    def test_are_checked_often_until_they_have_a_timetable(self):
        page = a_watched_page(days=1)
        Plan.objects.update_or_create(pk=1, defaults={"price": 50.0, "pages_policy": "cam"})
        replan(now=SOON)
        assert Schedule.objects.get(pk=page.pk).due_at == NOW + HOUR
        follow_plan()
        assert Schedule.objects.get(pk=page.pk).due_at > NOW + HOUR

    def test_go_as_the_others_again(self):
        page = a_watched_page(days=3)
        change_plan(pages_policy="cam")
        follow_plan()
        change_plan(pages_policy="same")
        follow_plan()
        assert "update expected" not in Schedule.objects.get(pk=page.pk).reason

    def test_are_learned_each_night(self):
        """What the epochs until then showed is fed back: the timetable follows the page's changes."""
        page = a_watched_page(changes_at=15, days=7)
        change_plan(pages_policy="cam", budget=2)
        follow_plan()
        later = NOW + 21 * DAY
        hours = [NOW + number * HOUR for number in range(1, 21 * 24 + 1)]
        log_checks(page, {at: at.hour == 4 for at in hours})
        learn_profiles(now=later)
        assert replan_changed(now=later) == 1
        times, chances = timetable(page)
        best = times[np.argsort(-chances)[:7]] % 24
        assert ((best >= 3) & (best <= 5)).all()


def test_of_sources_due_together_the_weightiest_is_first_but_none_is_overtaken_for_long():
    light, heavy, late = Due(1, 1, 0, 100.0, 101.0), Due(2, 1, 0, 100.0, 101.0, 5.0), Due(3, 1, 0, -300.0, 101.0)
    assert [claim.source_id for message in messages([light, heavy, late]) for claim in message.claims] == [3, 2, 1]


def test_staff_choose_it_in_the_form_of_the_plan_and_read_why_on_the_page_of_a_source(client):
    client.force_login(a_user(is_staff=True))
    source = an_observed_source(daily(9.5), listed=True)
    values = {"policy": "cam", "pages_policy": "cam", "budget": "2", "unit": "source_day", "longest_gap": "24"}
    assert client.post(reverse("plan"), values).status_code == 302
    assert (current_plan().policy, current_plan().pages_policy) == ("cam", "cam")
    follow_plan()
    page = client.get(reverse("source_plan", args=[source.pk])).content.decode()
    assert "page of weight 1, update expected with probability 0." in page


def test_an_unknown_policy_of_pages_is_refused():
    with pytest.raises(ValueError, match="no policy 'ours' for pages"):
        change_plan(pages_policy="ours")


def test_timetables_take_as_many_queries_for_many_sources_as_for_few(django_assert_max_num_queries):
    for _ in range(3):
        a_watched_page(days=1)
        an_observed_source(daily(9.5))
    change_plan(policy="cam")
    with django_assert_max_num_queries(10):
        make_timetables(current_plan(), now=SOON)
