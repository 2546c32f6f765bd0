"""A reader refreshes lists, and the sidebar shows and makes what it should."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.following.models import Folder
from apps.following.queries import folders_of, followed_sources, subscription_list
from apps.retrieval.models import Schedule
from apps.web.pages.sidebar import sidebar
from tests.builders import a_folder, a_follow, a_retrieval, a_schedule, a_source, a_user

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
HOUR = timedelta(hours=1)


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


def a_waiting_follow(user, **values):
    follow = a_follow(user)
    a_schedule(follow.source, **{"due_at": timezone.now() + HOUR, "reason": "first check"} | values)
    return follow


def form(kind: str, number: int = 0) -> dict[str, str]:
    return {"scope": f"{kind}-{number}", "shown_at": timezone.now().isoformat(), "next": "/river/?order=oldest"}


# --- refresh ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["all", "folder", "source"])
def test_a_list_has_a_button_that_checks_its_feeds(client, user, kind):
    folder = a_folder(user)
    follow = a_waiting_follow(user)
    follow.folders.add(folder)
    number = {"all": 0, "folder": folder.pk, "source": follow.source_id}[kind]
    address = {"all": "/river/", "folder": f"/river/folder/{number}/", "source": f"/river/source/{number}/"}[kind]
    assert f'value="{kind}-{number}"' in client.get(address).text
    answer = client.post(reverse("refresh"), form(kind, number), headers=HTMX).text
    assert "being checked…" in answer
    assert f"feeds={follow.source_id}" in answer
    assert Schedule.objects.get().due_at < timezone.now()


def test_lists_that_are_not_of_feeds_have_no_button(client, user):
    a_follow(user)
    stranger = a_source(listed=True)
    for address in ("/river/starred/", f"/river/source/{stranger.pk}/"):
        assert reverse("refresh") not in client.get(address).text


def test_without_scripts_the_answer_is_a_message_above_the_same_list(client, user):
    a_waiting_follow(user)
    answer = client.post(reverse("refresh"), form("all"))
    assert answer.url == "/river/?order=oldest"
    assert "1 feed is being checked…" in client.get(answer.url).text


def test_a_list_without_feeds_says_that_nothing_is_checked(client, user):
    for kind, number in (("all", 0), ("folder", a_folder(user).pk)):
        answer = client.post(reverse("refresh"), form(kind, number), headers=HTMX)
        assert "This list has no feed that could be checked." in answer.text


def test_a_refused_check_says_when_the_next_one_is_and_why(client, user):
    now = timezone.now()
    follow = a_waiting_follow(user, requested_at=now - HOUR / 2, due_at=now + 12.5 * HOUR, reason="the minimum gap")
    answer = " ".join(client.post(reverse("refresh"), form("source", follow.source_id), headers=HTMX).text.split())
    assert ">in 12 h</time>. Reason: the minimum gap." in answer
    assert "You can request a check <time" in answer
    assert ">in 29 min</time>" in answer


@pytest.mark.parametrize("kind", ["folder", "source", "starred", "sources"])
def test_refreshing_a_list_of_another_user_gets_404(client, user, kind):
    folder = a_folder()
    follow = a_waiting_follow(folder.user)
    follow.folders.add(folder)
    number = folder.pk if kind == "folder" else follow.source_id
    for method in (client.post, client.get):
        address = reverse("refresh" if method == client.post else "refreshed")
        assert method(address, form(kind, number) | {"feeds": follow.source_id}, headers=HTMX).status_code == 404
    assert client.post(reverse("refresh"), {"scope": "all-0"}).status_code == 404
    assert Schedule.objects.get().due_at > timezone.now()


def test_the_page_waits_for_results_and_then_shows_them(client, user):
    now = timezone.now()
    follows = [a_waiting_follow(user) for _ in range(2)]
    feeds = "-".join(str(follow.source_id) for follow in follows)
    requested = form("all") | {"feeds": feeds, "shown_at": (now - timedelta(seconds=9)).isoformat()}
    a_retrieval(follows[0].source, fetched_at=now, stored_at=now, new=3)
    assert client.get(reverse("refreshed"), requested, headers=HTMX).status_code == 204
    a_retrieval(follows[1].source, fetched_at=now, stored_at=now, outcome="failed")
    found = client.get(reverse("refreshed"), requested, headers=HTMX).text
    assert "3 new articles" in found
    assert f'href="{reverse("river")}"' in found
    assert "1 check failed." in found
    assert "data-count='all'" in found


def test_the_page_waits_a_minute_at_most(client, user):
    follow = a_waiting_follow(user)
    requested = form("source", follow.source_id) | {"feeds": follow.source_id}
    requested["shown_at"] = (timezone.now() - timedelta(minutes=2)).isoformat()
    assert "takes longer" in client.get(reverse("refreshed"), requested, headers=HTMX).text


# --- the sidebar ------------------------------------------------------------------------------------------------------
class TestNaturalOrder(TestCase):
    @settings(max_examples=15)
    @given(st.lists(st.tuples(st.sampled_from(["feed", "News", "zine"]), st.integers(0, 10**6)), unique=True))
    def test_names_are_ordered_by_their_numbers_without_regard_to_case(self, names):
        user = a_user()
        for word, number in names:
            a_folder(user, f"{word} {number}")
            a_follow(user, a_source(title=f"{word} {number}"))
        expected = [f"{word} {number}" for word, number in sorted(names, key=lambda name: (name[0].lower(), name[1]))]
        assert [followed.title for followed in followed_sources(user)] == expected
        assert [folder.name for folder in sidebar(user).folders] == expected
        listed = subscription_list(user)
        assert ([each.title for each in listed.subscriptions], listed.folders) == (
            expected,
            tuple((n,) for n in expected),
        )


def test_the_manual_order_precedes_the_natural_one(user):
    for name, position in (("10", {}), ("9", {}), ("b", {"position": 2}), ("a", {"position": 3})):
        a_follow(user, a_source(title=name), **position)
    assert [followed.title for followed in followed_sources(user)] == ["b", "a", "9", "10"]


def test_the_browser_remembers_to_show_unread_feeds_only(client, user):
    a_follow(user)
    assert "is-unread-only" not in client.get("/river/").text
    assert client.post(reverse("show_feeds"), {"show": "unread", "next": "/for-you/"}).url == "/for-you/"
    assert "is-unread-only" in client.get("/river/").text
    shown = client.post(reverse("show_feeds"), {"show": "all"}, headers=HTMX).text
    assert "<html" not in shown
    assert "is-unread-only" not in shown + client.get("/river/").text


def test_a_folder_is_made_in_the_sidebar(client, user):
    a_follow(user)
    shown = client.post(reverse("new_folder"), {"name": "Science"}, headers=HTMX).text
    assert "<html" not in shown
    assert f'href="{reverse("river_folder", args=[Folder.objects.get().pk])}"' in shown
    assert client.post(reverse("new_folder"), {"name": "Sport", "next": "/river/"}).url == "/river/"
    assert {folder.name for folder in folders_of(user)} == {"Science", "Sport"}


def test_a_folder_too_many_is_refused_in_the_sidebar(client, user, monkeypatch):
    monkeypatch.setattr("apps.following.actions.follows.MAX_FOLDERS", 0)
    assert "at most 0 folders" in client.post(reverse("new_folder"), {"name": "x"}, headers=HTMX).text
    client.post(reverse("new_folder"), {"name": "x", "next": "/river/"})
    assert "at most 0 folders" in client.get("/river/").text
