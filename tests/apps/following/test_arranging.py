"""People put their folders and sources into an order of their own."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.following import actions, queries
from apps.following.actions import follows
from apps.following.actions.errors import NotPossible
from apps.following.models import Follow
from apps.sources.formats import opml
from tests.builders import NOON, a_folder, a_follow, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def person():
    return a_user()


def sources_of(person) -> list[str]:
    return [each.title for each in queries.followed_sources(person)]


def following(person, *titles: str, folders=()) -> list[int]:
    return [a_follow(person, a_source(title=title), folders=folders).source_id for title in titles]


def test_unsorted_sources_follow_sorted_ones_by_name(person):
    _, second, _ = following(person, "Alpha", "Beta", "Gamma")
    assert sources_of(person) == ["Alpha", "Beta", "Gamma"]
    follows.step_source(person, second, within=None, step="first")
    following(person, "Zeta", "Aardvark")
    assert sources_of(person) == ["Beta", "Alpha", "Gamma", "Aardvark", "Zeta"]


@pytest.mark.parametrize(
    ("step", "order"),
    [("up", "BACD"), ("first", "BACD"), ("down", "ACBD"), ("last", "ACDB")],
)
def test_a_source_goes_a_step(person, step, order):
    _, second, _, _ = following(person, *"ABCD")
    follows.step_source(person, second, within=None, step=step)
    assert "".join(sources_of(person)) == order


def test_sorting_in_a_folder_leaves_the_others_where_they_are(person):
    folder = a_folder(person)
    first, _, _ = following(person, "B", "D", "F", folders=(folder,))
    following(person, "A", "C", "E")
    follows.place_source(person, first, out_of=folder.pk, into=folder.pk, before=None)
    assert "".join(sources_of(person)) == "ADCFEB"


def test_a_source_goes_into_another_folder_and_stays_in_a_third(person):
    here, there, elsewhere = (a_folder(person, name) for name in ("Here", "There", "Elsewhere"))
    [known] = following(person, "Known", folders=(there,))
    [moved] = following(person, "Moved", folders=(here, elsewhere))
    follows.place_source(person, moved, out_of=here.pk, into=there.pk, before=known)
    assert set(Follow.objects.get(source=moved).folders.all()) == {there, elsewhere}
    assert sources_of(person) == ["Moved", "Known"]


def test_a_source_leaves_its_only_folder(person):
    folder = a_folder(person)
    [source] = following(person, "Free", folders=(folder,))
    follows.place_source(person, source, out_of=folder.pk, into=None, before=None)
    assert not Follow.objects.get().folders.exists()


def test_folders_go_their_steps_among_those_beside_them(person):
    a, b, c = (a_folder(person, name) for name in "ABC")
    inner = a_folder(person, "Inner", parent=b)
    follows.step_folder(person, c.pk, step="first")
    assert list(queries.folders_of(person).filter(parent=None)) == [c, a, b]
    follows.step_folder(person, inner.pk, step="up")
    follows.place_folder(person, b.pk, into=None, before=c.pk)
    assert list(queries.folders_of(person).filter(parent=None)) == [b, c, a]


def test_a_folder_is_dragged_into_another_one_but_never_into_itself(person):
    outer, other = a_folder(person, "Outer"), a_folder(person, "Other")
    inner = a_folder(person, "Inner", parent=outer)
    follows.place_folder(person, other.pk, into=outer.pk, before=inner.pk)
    assert list(queries.folders_of(person).filter(parent=outer)) == [other, inner]
    with pytest.raises(NotPossible, match="into itself"):
        follows.place_folder(person, outer.pk, into=inner.pk, before=None)


def test_objects_of_others_cannot_be_moved(person):
    stranger = a_user()
    theirs, [source] = a_folder(stranger), following(stranger, "Theirs")
    [mine] = following(person, "Mine")
    for attempt in (
        lambda: follows.step_folder(person, theirs.pk, step="up"),
        lambda: follows.step_source(person, source, within=None, step="up"),
        lambda: follows.place_source(person, mine, out_of=None, into=theirs.pk, before=None),
        lambda: follows.place_folder(person, a_folder(person).pk, into=theirs.pk, before=None),
    ):
        with pytest.raises(NotPossible):
            attempt()
    assert not Follow.objects.get(source=mine).folders.exists()


def test_moving_twice_changes_nothing_more(person):
    first, _, _ = following(person, *"ABC")
    for _ in range(2):
        follows.place_source(person, first, out_of=None, into=None, before=None)
    assert "".join(sources_of(person)) == "BCA"


def test_sorting_costs_as_many_queries_for_a_hundred_sources_as_for_ten(person, django_assert_num_queries):
    ids = following(person, *(f"Source {number:03}" for number in range(10)))
    follows.step_source(person, ids[3], within=None, step="up")
    with CaptureQueriesContext(connection) as few:
        follows.step_source(person, ids[3], within=None, step="up")
    following(person, *(f"Source {number:03}" for number in range(10, 100)))
    with django_assert_num_queries(len(few)):
        follows.step_source(person, ids[3], within=None, step="last")


def test_an_exported_list_has_the_order_and_even_empty_folders(person):
    world, local = a_folder(person, "World"), a_folder(person, "Local")
    a_folder(person, "Empty", parent=world)
    following(person, "A", "B", folders=(local, world))
    [last] = following(person, "Z", folders=(local,))
    follows.step_folder(person, world.pk, step="first")
    follows.step_source(person, last, within=local.pk, step="first")
    written = opml.write(queries.subscription_list(person), NOON).decode()
    order = [part.split('"')[0] for part in written.split('text="')[1:]]
    assert order == ["World", "Empty", "A", "B", "Local", "Z", "A", "B"]


def test_a_new_folder_follows_sorted_ones(person):
    b = a_folder(person, "B")
    a_folder(person, "C")
    follows.step_folder(person, b.pk, step="last")
    actions.follows.create_folder(person, "A")
    assert [folder.name for folder in queries.folders_of(person)] == ["C", "B", "A"]
