"""What is decided of sources is written down with it, and stays as it was written."""

import pytest
from django.db import DatabaseError, transaction

from apps.retrieval.actions import change_plan
from apps.sources.actions import curating
from apps.sources.actions.curating import MAX_DELETED, By, Curation, TooMany, curate, delete_sources
from apps.sources.actions.editing import absorb, edit_source, set_state
from apps.sources.models import AuditEntry, Source
from apps.sources.queries import AuditFilter, audit
from tests.builders import a_source, a_user

pytestmark = pytest.mark.django_db
What = AuditEntry.What


def written() -> list[tuple]:
    """What, of which source, from and to; in the order in which it was decided."""
    return list(AuditEntry.objects.order_by("pk").values_list("what", "source_id", "before", "after"))


def by_admin(why: str = "") -> By:
    return By("a test", a_user().pk, why)


# --- one source -------------------------------------------------------------------------------------------------------
def test_a_new_weight_is_written_down_with_who_and_why():
    source, by = a_source(title="The Wire"), by_admin("it is first with everything")
    edit_source(source.pk, weight=2.5, title="The New Wire", by=by)
    entry = AuditEntry.objects.get()
    assert written() == [("weight", source.pk, "1", "2.5")]
    assert (entry.actor_id, entry.place, entry.why, entry.name) == (by.actor_id, by.place, by.why, "The Wire")
    assert entry.batch is None


def test_unchanged_values_are_not_logged():
    source = a_source(weight=2.0)
    edit_source(source.pk, weight=2.0, state="active", category="", by=by_admin())
    assert set_state([source.pk], Source.State.ACTIVE) == 0
    assert written() == []


def test_a_change_that_is_taken_back_was_never_decided():
    source = a_source()

    def fail() -> None:
        with transaction.atomic():
            edit_source(source.pk, weight=3.0, by=by_admin())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert written() == []


def test_pauses_merges_and_ends_are_written_down():
    kept, merged, gone = a_source(title="Kept"), a_source(title="Merged", category="World"), a_source()
    set_state([kept.pk], Source.State.PAUSED, by=by_admin())
    absorb(kept.pk, merged.pk, by=by_admin())
    delete_sources([gone.pk], by=by_admin())
    assert written() == [
        ("state", kept.pk, "active", "paused"),
        ("merged", merged.pk, merged.url, "Kept"),
        ("category", kept.pk, "", "World"),
        ("deleted", gone.pk, gone.url, ""),
    ]


def test_changes_of_the_plan_are_logged():
    change_plan(budget=24.0, by=by_admin())
    change_plan(budget=24.0, longest_gap=12.0, by=by_admin())
    assert list(AuditEntry.objects.order_by("pk").values_list("what", "name", "before", "after")) == [
        ("plan", "budget", "12.0", "24.0"),
        ("plan", "longest gap", "24.0", "12.0"),
    ]


# --- never changed ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "tamper",
    [
        lambda rows: rows.update(after="7"),
        lambda rows: rows.update(actor=None, why="another reason"),
        lambda rows: rows.delete(),
    ],
)
def test_the_record_cannot_be_changed(tamper):
    edit_source(a_source().pk, weight=2.0, by=by_admin("a reason"))
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        tamper(AuditEntry.objects.all())
    assert AuditEntry.objects.get().after == "2"


def test_log_outlives_deleted_accounts_without_their_names():
    user = a_user()
    edit_source(a_source().pk, weight=2.0, by=By("a test", user.pk))
    user.delete()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.before, entry.after) == (None, "1", "2")


def test_a_deleted_source_keeps_its_record():
    source = a_source(title="The Wire")
    edit_source(source.pk, weight=2.0)
    delete_sources([source.pk])
    assert [row.what for row in audit(AuditFilter(source_id=source.pk))] == ["deleted", "weight"]
    assert [row.name for row in audit(AuditFilter(words="wire", what="weight"))] == ["The Wire"]


# --- many sources -----------------------------------------------------------------------------------------------------
def test_many_sources_change_at_once_and_are_written_down_together():
    first, second = a_source(weight=1.0), a_source(weight=3.0, category="World")
    changed = curate(
        [first.pk, second.pk], Curation(category="World", weight=2.0, listed=True), by=by_admin("a new broom")
    )
    assert changed == [first.pk, second.pk]
    assert set(written()) == {
        ("category", first.pk, "", "World"),
        ("weight", first.pk, "1", "2"),
        ("weight", second.pk, "3", "2"),
        ("listed", first.pk, "no", "yes"),
        ("listed", second.pk, "no", "yes"),
    }
    [(batch, why)] = AuditEntry.objects.values_list("batch", "why").distinct()
    assert batch is not None
    assert why == "a new broom"
    assert set(Source.objects.values_list("category", "weight", "listed")) == {("World", 2.0, True)}


def test_curation_is_idempotent():
    source = a_source()
    for changed in ([source.pk], []):
        assert curate([source.pk], Curation(weight=4.0), by=by_admin()) == changed
    assert len(written()) == 1


def test_those_that_are_active_are_paused_and_the_others_stay_as_they_are():
    states = [Source.State.ACTIVE, Source.State.PAUSED, Source.State.GONE]
    sources = [a_source(state=state) for state in states]
    assert curate([s.pk for s in sources], Curation(state=Source.State.PAUSED), by=by_admin()) == [sources[0].pk]
    assert list(Source.objects.order_by("pk").values_list("state", flat=True)) == ["paused", "paused", "gone"]
    assert len(curate([s.pk for s in sources], Curation(state=Source.State.ACTIVE), by=by_admin())) == 3


def test_index_pages_and_those_that_are_gone_are_left_alone():
    site = a_source(kind="site")
    page = a_source(kind="index", site=site)
    assert curate([site.pk, page.pk, page.pk + 100], Curation(weight=2.0), by=by_admin()) == [site.pk]


@pytest.mark.parametrize("curation", [Curation(weight=-1.0), Curation(weight=float("nan")), Curation(weight=1_001.0)])
def test_invalid_weights_are_refused(curation):
    source = a_source()
    with pytest.raises(ValueError, match="weight"):
        curate([source.pk], curation, by=by_admin())
    assert written() == []


def test_too_many_at_once_are_refused(monkeypatch):
    sources = [a_source().pk for _ in range(3)]
    monkeypatch.setattr(curating, "MAX_AT_ONCE", 2)
    with pytest.raises(TooMany, match="At most 2 feeds"):
        curate(sources, Curation(weight=2.0), by=by_admin())
    with pytest.raises(TooMany):
        delete_sources(range(MAX_DELETED + 1), by=by_admin())
    assert Source.objects.filter(weight=1.0).count() == 3


def test_curating_costs_as_many_queries_for_many_as_for_a_few(django_assert_max_num_queries):
    few, many = ([a_source().pk for _ in range(count)] for count in (2, 30))
    by = by_admin()
    for ids in (few, many):
        with django_assert_max_num_queries(6):
            curate(ids, Curation(weight=2.0, category="World"), by=by)
