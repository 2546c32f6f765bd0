"""Who may see and do what."""

import pytest
from django.urls import reverse

from apps.following.models import Folder, Follow
from apps.sources.models import Source
from tests.builders import a_folder, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

OPEN = ["home", "live", "keys", "catalogue", "account_login", "account_signup", "account_reset_password"]
FOR_PEOPLE = [
    "river",
    "river_starred",
    "add",
    "folders",
    "opml",
    "opml_export",
    "feed_health",
    "welcome",
    "first_articles",
    "preferences",
    "account_change_password",
]
FOR_STAFF = ["sources", "add_source", "test_source", "plan"]
FOR_STAFF_ON_A_SOURCE = ["edit_source", "delete_source", "source_plan"]
CHANGES_BY_STAFF = ["set_source_state", "check_source", "edit_source", "delete_source"]


@pytest.mark.parametrize("name", OPEN)
def test_pages_open_to_everybody(client, name):
    assert client.get(reverse(name)).status_code == 200


@pytest.mark.parametrize("name", FOR_PEOPLE)
def test_personal_pages_require_sign_in(client, name):
    assert client.get(reverse(name)).url.startswith(reverse("account_login"))
    client.force_login(a_user())
    assert client.get(reverse(name)).status_code == 200


@pytest.mark.parametrize("name", FOR_STAFF)
def test_pages_of_staff(client, name):
    assert client.get(reverse(name)).status_code == 302
    client.force_login(a_user())
    assert client.get(reverse(name)).status_code == 403
    client.force_login(a_user(is_staff=True))
    assert client.get(reverse(name)).status_code == 200


@pytest.mark.parametrize("name", FOR_STAFF_ON_A_SOURCE)
def test_pages_of_staff_on_a_source(client, name):
    follow = a_follow()
    client.force_login(follow.user)
    assert client.get(reverse(name, args=[follow.source_id])).status_code == 403
    client.force_login(a_user(is_staff=True))
    assert client.get(reverse(name, args=[follow.source_id])).status_code == 200


@pytest.mark.parametrize("name", CHANGES_BY_STAFF)
def test_a_follower_changes_nothing_of_a_source(client, name):
    follow = a_follow()
    client.force_login(follow.user)
    assert client.post(reverse(name, args=[follow.source_id]), {"state": "paused"}).status_code == 403
    assert Source.objects.get().state == Source.State.ACTIVE


def test_a_source_that_is_not_listed_is_seen_by_its_followers_and_staff(client):
    follow = a_follow()
    address = reverse("source", args=[follow.source_id])
    for person, status in ((a_user(), 404), (follow.user, 200), (a_user(is_staff=True), 200)):
        client.force_login(person)
        assert client.get(address).status_code == status


def test_a_follower_sees_the_schedule_of_a_source_without_buttons(client):
    follow = a_follow()
    client.force_login(follow.user)
    page = client.get(reverse("source", args=[follow.source_id])).text
    assert "Update schedule" in page
    assert "Check now" not in page


@pytest.mark.parametrize("name", ["posting", "river_source"])
def test_postings_of_an_unlisted_source_are_visible_only_to_followers(client, name):
    posting = a_posting(a_source())
    address = reverse(name, args=[posting.pk if name == "posting" else posting.source_id])
    assert client.get(address).status_code == 404
    client.force_login(a_user())
    assert client.get(address).status_code == 404
    client.force_login(a_follow(source=posting.source).user)
    assert client.get(address).status_code == 200


def test_invisible_postings_cannot_be_marked(client):
    posting = a_posting(a_source())
    client.force_login(a_user())
    assert client.post(reverse("mark", args=[posting.pk]), {"starred": "yes"}).status_code == 404


def test_invisible_sources_cannot_be_followed(client):
    client.force_login(a_user())
    assert client.post(reverse("follow", args=[a_source().pk])).status_code == 404
    assert not Follow.objects.exists()


@pytest.mark.parametrize("name", ["river_folder", "edit_folder"])
def test_foreign_folders_get_404(client, name):
    folder = a_folder()
    client.force_login(a_user())
    assert client.get(reverse(name, args=[folder.pk])).status_code == 404


def test_foreign_folders_cannot_be_deleted(client):
    folder = a_folder()
    client.force_login(a_user())
    assert client.post(reverse("delete_folder", args=[folder.pk])).status_code == 404
    assert Folder.objects.exists()


@pytest.mark.parametrize("name", ["edit_follow", "unfollow"])
def test_foreign_follows_get_404(client, name):
    follow = a_follow()
    client.force_login(a_user())
    assert client.post(reverse(name, args=[follow.source_id])).status_code == 404
    assert Follow.objects.exists()


CHANGES = [
    "mark",
    "follow",
    "unfollow",
    "dismiss_notice",
    "dismiss_recommendation",
    "delete_folder",
    "set_source_state",
    "check_source",
]


@pytest.mark.parametrize("name", CHANGES)
def test_changes_need_a_post(client, name):
    client.force_login(a_user(is_staff=True))
    assert client.get(reverse(name, args=[1])).status_code == 405


def test_changes_need_a_token(client):
    client.handler.enforce_csrf_checks = True
    client.force_login(a_user())
    assert client.post(reverse("mark_all"), {"scope": "all-0"}).status_code == 403


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example", "http:///evil.example"],
)
def test_redirects_stay_on_this_site(client, elsewhere):
    follow = a_follow()
    posting = a_posting(follow.source)
    client.force_login(follow.user)
    answer = client.post(reverse("mark", args=[posting.pk]), {"read": "yes", "next": elsewhere})
    assert answer.url == reverse("river")


def test_a_form_leads_back_to_where_it_was_sent_from(client):
    follow = a_follow()
    posting = a_posting(follow.source)
    client.force_login(follow.user)
    here = f"/river/?show=unread#posting-{posting.pk}"
    assert client.post(reverse("mark", args=[posting.pk]), {"read": "yes", "next": here}).url == here


def test_a_missing_page_looks_like_other_pages(client):
    page = client.get("/nowhere/")
    assert page.status_code == 404
    assert "There is nothing at this address" in page.text


def test_the_liveness_check_makes_no_queries(client, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert client.get("/health/live").content == b"ok"


def test_names_from_outside_are_escaped(client):
    bad = '<script>alert("x")</script>'
    follow = a_follow(source=a_source(title=bad, description=bad, category=bad, listed=True))
    a_posting(follow.source, title=bad, text=bad, author=bad, categories=[bad])
    client.force_login(follow.user)
    for address in ("/river/", "/catalogue/", reverse("source", args=[follow.source_id]), "/posting/%d/"):
        page = client.get(address.replace("%d", str(follow.source.postings.get().pk))).text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page
