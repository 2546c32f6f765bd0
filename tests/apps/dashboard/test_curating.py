"""Many sources are edited at once after a preview, and everything is logged."""

from datetime import timedelta

import pytest
from django.urls import reverse

from apps.following.models import Follow
from apps.retrieval.models import Plan, Schedule
from apps.retrieval.reports.source import effect_of, effect_of_many
from apps.sources.actions.curating import By
from apps.sources.actions.editing import edit_source
from apps.sources.models import AuditEntry, Source
from tests.builders import NOON, a_follow, a_plan, a_posting, a_profile, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def staff(client):
    user = a_user("grace", is_staff=True)
    client.force_login(user)
    return user


def many(client, **values):
    return client.post(reverse("curate"), values, follow=True)


def a_planned_source(**values) -> Source:
    source = a_source(always_retrieved=True, **values)
    a_profile(source)
    a_schedule(source, due_at=NOON + 3 * HOUR, observed_at=NOON - HOUR, requested_at=NOON - HOUR, earliest_at=NOON)
    return source


# --- who may ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["audit"])
def test_only_staff_reads_the_record(client, name):
    assert client.get(reverse(name)).status_code == 302
    client.force_login(a_user())
    assert client.get(reverse(name)).status_code == 403


def test_only_staff_changes_many_sources(client):
    source = a_source()
    assert client.post(reverse("curate"), {"source": source.pk, "do": "pause"}).status_code == 302
    client.force_login(a_user())
    assert client.post(reverse("curate"), {"source": source.pk, "do": "pause"}).status_code == 403
    assert Source.objects.get().state == "active"


# --- choosing ---------------------------------------------------------------------------------------------------------
def test_chosen_sources_get_a_category_and_a_weight(client, staff):
    chosen, other = [a_source(weight=2.0), a_source()], a_source()
    page = many(client, source=[each.pk for each in chosen], do="choose")
    assert page.context["page"]["ids"] == [each.pk for each in chosen]
    done = many(
        client,
        chosen=page.context["page"]["chosen"],
        do="change",
        category="World",
        weight="3",
        why="they are good",
    )
    assert "2 feeds changed." in done.text
    assert list(Source.objects.order_by("pk").values_list("category", "weight")) == [
        ("World", 3),
        ("World", 3),
        ("", 1),
    ]
    assert {entry.actor for entry in AuditEntry.objects.all()} == {staff}
    assert other.pk not in AuditEntry.objects.values_list("source_id", flat=True)


def test_all_that_was_found_is_what_the_filter_finds(client, staff):
    for number in range(60):
        a_source(title=f"Wire {number:02}", category="World")
    a_source(title="Another", category="World")
    page = many(client, words="wire", category="World", all="on", do="choose")
    assert page.context["page"]["count"] == 60
    assert "and 10 more" in page.text
    many(client, chosen=page.context["page"]["chosen"], do="change", category="-")
    assert Source.objects.filter(category="World").count() == 1


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ({}, "Choose at least one change"),
        ({"weight": "-1"}, "greater than or equal to 0"),
        ({"weight": "nan"}, "Enter a number."),
        ({"language": "no such!"}, "Enter the language as a code"),
        ({"state": "gone"}, "Select a valid choice"),
        ({"why": "x" * 301, "category": "World"}, "at most 300 characters"),
    ],
)
def test_invalid_values_show_an_error_and_change_nothing(client, staff, typed, text):
    source = a_source()
    assert text in many(client, chosen=source.pk, do="change", **typed).text
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("chosen", ["", "x,-1", "99999999999999999999", "123456789"])
def test_an_empty_selection_shows_a_warning(client, staff, chosen):
    assert "No feed was selected." in many(client, chosen=chosen, do="pause").text


def test_it_goes_back_to_the_list_it_came_from_and_to_no_other_site(client, staff):
    source = a_source()
    for wanted, to in (
        ("/dashboard/failing/?page=2", "/dashboard/failing/?page=2"),
        ("https://evil.example/", "/sources/"),
    ):
        answer = client.post(reverse("curate"), {"source": source.pk, "do": "pause", "next": wanted})
        assert answer.url == to


def test_a_get_changes_nothing_and_leads_to_the_list(client, staff):
    assert client.get(reverse("curate")).url == reverse("sources")


# --- other decisions --------------------------------------------------------------------------------------------------
def test_paused_sources_are_no_longer_checked(client, staff):
    source = a_follow().source
    a_schedule(source, due_at=NOON)
    assert "1 feed changed." in many(client, source=source.pk, do="pause").text
    assert Schedule.objects.get().due_at is None


def test_many_are_deleted_only_when_that_is_confirmed(client, staff):
    posting = a_posting()
    a_follow(source=posting.source)
    response = many(client, source=posting.source_id, do="delete")
    assert "Delete 1 feed?" in response.text
    assert Source.objects.exists()
    many(client, chosen=response.context["page"]["chosen"], do="delete", confirmed="yes", why="spam")
    assert not Source.objects.exists()
    assert not Follow.objects.exists()
    entry = AuditEntry.objects.get()
    assert (entry.what, entry.why, entry.actor) == ("deleted", "spam", staff)


def test_two_that_are_chosen_may_be_merged(client, staff):
    first, second = a_source(), a_source()
    page = many(client, source=[first.pk, second.pk], do="choose").text
    assert f"{reverse('merge_source', args=[second.pk])}?kept={first.pk}" in page


# --- what it would do -------------------------------------------------------------------------------------------------
def test_the_effect_on_one_of_many_is_that_on_one_alone():
    a_plan(unit=Plan.Unit.SOURCE_DAY, budget=6)
    source = a_planned_source()
    alone = effect_of(source, 4.0, NOON)
    together = effect_of_many({source.pk: 4.0}, NOON)
    assert (together.now, together.then) == (alone.now, alone.then)
    assert (together.budget, together.unpredicted) == (alone.budget, 0)


def test_the_effect_on_many_is_the_sum_of_the_effects_on_each():
    a_plan(unit=Plan.Unit.DAY, budget=100)
    sources = [a_planned_source(weight=weight) for weight in (1.0, 4.0, 0.0)]
    found = effect_of_many({source.pk: 2.0 for source in [*sources, a_source()]}, NOON)
    each = [effect_of(source, 2.0, NOON) for source in sources]
    assert found.then.retrievals == pytest.approx(sum(effect.then.retrievals for effect in each))
    assert found.now.retrievals == pytest.approx(sum(effect.now.retrievals for effect in each))
    assert (found.rehearsed, found.unpredicted) == (3, 1)


def test_the_effect_is_shown_and_nothing_is_saved(client, staff):
    a_plan(unit=Plan.Unit.SOURCE_DAY, budget=6)
    source = a_planned_source()
    typed = {"chosen": source.pk, "do": "effect", "weight": "4"}
    whole = many(client, **typed).text
    piece = client.post(reverse("curate"), typed, headers={"HX-Request": "true"}).text
    for text in (whole, piece):
        assert "Checks per day" in text
        assert "Nothing is saved yet." in text
    assert "<html" not in piece
    assert Source.objects.get().weight == 1.0


def test_without_a_price_the_effect_is_unknown(client, staff):
    source = a_source()
    assert "cannot be predicted" in many(client, chosen=source.pk, do="effect", weight="4").text


# --- the record -------------------------------------------------------------------------------------------------------
def test_the_record_is_shown_with_filters_page_by_page(client, staff, monkeypatch):
    monkeypatch.setattr("apps.dashboard.pages.sources.LOG_LENGTH", 2)
    wire = a_source(title="The Wire")
    for weight in (2.0, 3.0, 4.0):
        edit_source(wire.pk, weight=weight, by=By("a test", staff.pk, f"reason {weight:g}"))
    edit_source(a_source(title="Another").pk, state="paused")
    page = client.get(reverse("audit"), {"words": "wire", "what": "weight", "who": "GRACE"})
    assert [row["entry"].after for row in page.context["page"]["rows"]] == ["4", "3"]
    older = client.get(reverse("audit"), {"words": "wire", "before": page.context["page"]["next"]})
    assert [row["entry"].after for row in older.context["page"]["rows"]] == ["2"]
    assert "reason 2" in older.text
    assert client.get(reverse("audit"), {"who": "nobody"}).context["page"]["rows"] == []


@pytest.mark.parametrize("query", ["?what=nonsense", "?source_id=-1", "?source_id=9e9", "?words=%00"])
def test_senseless_values_are_left_out(client, staff, query):
    edit_source(a_source().pk, weight=2.0)
    assert len(client.get(reverse("audit") + query).context["page"]["rows"]) == 1


def test_an_invalid_cursor_gets_404(client, staff):
    assert client.get(reverse("audit"), {"before": "x"}).status_code == 404


def test_a_source_shows_staff_what_was_decided_of_it(client, staff):
    source = a_source(listed=True)
    edit_source(source.pk, weight=2.0, by=By("a test", staff.pk, "a reason"))
    address = reverse("source", args=[source.pk])
    assert "a reason" in client.get(address).text
    client.force_login(a_user())
    assert "a reason" not in client.get(address).text


def test_the_reason_of_an_edit_is_logged(client, staff):
    source = a_source(title="The Wire")
    values = {"url": source.url, "kind": "feed", "title": "The Wire", "weight": "3", "why": "people ask for it"}
    assert client.post(reverse("edit_source", args=[source.pk]), values).status_code == 302
    entry = AuditEntry.objects.get(what="weight")
    assert (entry.actor, entry.before, entry.after, entry.why) == (staff, "1", "3", "people ask for it")


def test_buttons_the_plan_and_merging_are_in_the_record(client, staff):
    first, second = a_source(listed=True), a_source(listed=True)
    client.post(reverse("set_source_state", args=[first.pk]), {"state": "paused"})
    client.post(reverse("merge_source", args=[second.pk]), {"kept": first.pk})
    client.post(reverse("plan"), {"policy": "ours", "budget": "3", "unit": "day", "longest_gap": "24"})
    client.post(reverse("delete_source", args=[first.pk]))
    assert {"state", "merged", "plan", "deleted"} == set(AuditEntry.objects.values_list("what", flat=True))
    assert {staff} == {entry.actor for entry in AuditEntry.objects.all()}


def test_pages_cost_as_many_queries_for_many_rows_as_for_a_few(client, staff, django_assert_max_num_queries):
    for _ in range(30):
        edit_source(a_source().pk, weight=2.0, by=By("a test", staff.pk))
    ids = list(Source.objects.values_list("pk", flat=True))
    with django_assert_max_num_queries(16):
        client.get(reverse("audit"))
    with django_assert_max_num_queries(18):
        client.post(reverse("curate"), {"source": ids, "do": "choose"})
