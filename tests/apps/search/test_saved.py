"""Searches that people keep, and read elsewhere."""

import re
from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.search.actions.reindexing import consume
from apps.search.actions.saved import MAX_SAVED, NotSaved, forget_search, move_feed, rename_search, save_search
from apps.search.algorithms.language import BadQuery
from apps.search.models import SavedSearch
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


def a_saved_search(user=None, query="paris", name="Mine", **values):
    return save_search(user or a_user(), name, query, **{"order": SavedSearch.Order.RELEVANCE, "now": NOON} | values)


def address(saved, kind="rss"):
    return reverse("search_feed", args=[saved.secret, kind])


def change(client, saved, **values):
    return client.post(reverse("change_search", args=[saved.pk]), values, follow=True).text


# --- keeping ----------------------------------------------------------------------------------------------------------
def test_a_search_is_kept_and_stands_beside_every_page(client, user):
    answer = client.post(reverse("save_search"), {"q": "paris lang:en", "name": " My  Paris ", "order": "newest"})
    assert answer.url == "/search/?q=paris+lang%3Aen&order=newest"
    for page in ("saved_searches", "river"):
        text = client.get(reverse(page)).text
        assert "My Paris" in text
        assert answer.url.replace("&", "&amp;") in text


def test_the_same_name_is_the_same_search_with_the_same_feed():
    user = a_user()
    first, second = a_saved_search(user, "paris"), a_saved_search(user, "rome", order=SavedSearch.Order.NEWEST)
    assert (first.pk, first.secret) == (second.pk, second.secret)
    assert SavedSearch.objects.get().query == "rome"


def test_an_invalid_search_is_not_saved(client, user):
    with pytest.raises(BadQuery):
        a_saved_search(user, "paris (")
    assert "is not closed" in client.post(reverse("save_search"), {"q": "paris (", "name": "x"}, follow=True).text
    assert "enter a search first" in client.post(reverse("save_search"), {"q": " "}, follow=True).text
    client.post(reverse("save_search"), {"q": "\x00", "name": "\x00", "order": "sideways"})
    assert not SavedSearch.objects.exists()


def test_number_of_saved_searches_is_limited():
    user = a_user()
    made = [SavedSearch(user=user, name=str(n), query="x", secret=str(n), saved_at=NOON) for n in range(MAX_SAVED)]
    SavedSearch.objects.bulk_create(made)
    with pytest.raises(NotSaved, match=f"You have {MAX_SAVED} saved searches"):
        a_saved_search(user, name="one more")
    a_saved_search(user, name="7", query="again")
    a_saved_search(a_user(), name="of somebody else")


def test_a_search_is_renamed_but_not_to_the_name_of_another(client, user):
    mine, other = a_saved_search(user, name="One"), a_saved_search(user, name="Two")
    assert "You already have a saved search named “Two”" in change(client, mine, do="rename", name="Two")
    assert "needs a name" in change(client, mine, do="rename", name=" ")
    assert "Three" in change(client, mine, do="rename", name="Three")
    rename_search(user, other.pk, "Two")
    assert set(SavedSearch.objects.values_list("name", flat=True)) == {"Two", "Three"}


def test_only_their_own_searches_are_shown_and_changed(client, user):
    theirs = a_saved_search(name="Not yours")
    assert "Not yours" not in client.get(reverse("saved_searches")).text
    for action in ("forget", "move", "rename"):
        change(client, theirs, do=action, name="Stolen")
    left = SavedSearch.objects.get()
    assert (left.name, left.secret) == ("Not yours", theirs.secret)


def test_keeping_needs_an_account(client):
    a_posting(title="Paris")
    consume()
    assert client.post(reverse("save_search"), {"q": "paris"}).url.startswith("/accounts/login/")
    assert client.get(reverse("saved_searches")).url.startswith("/accounts/login/")
    assert "Save search" not in client.get(reverse("search"), {"q": "paris"}).text


# --- feeds ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "media_type", "titles"),
    [
        ("rss", "application/rss+xml", "channel/item/title"),
        ("atom", "application/atom+xml", "{http://www.w3.org/2005/Atom}entry/{http://www.w3.org/2005/Atom}title"),
    ],
)
def test_a_feed_has_the_newest_first_as_its_owner_sees_them(client, kind, media_type, titles):
    follow = a_follow()
    for days, title in ((3, "Paris, older"), (1, "Paris & newer\x0b"), (2, "Paris, read"), (1, "Rome")):
        posting = a_posting(follow.source, title=title, published_at=timezone.now() - timedelta(days=days))
        if "read" in title:
            a_mark(follow.user, posting, read=True)
    a_posting(a_source(listed=False), title="Paris, secret")
    consume()
    answer = client.get(address(a_saved_search(follow.user, "paris is:unread"), kind))
    assert answer["Content-Type"].startswith(media_type)
    found = [title.text for title in ElementTree.fromstring(answer.text).findall(titles)]
    assert found == ["Paris & newer", "Paris, older"]
    assert "private" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex"


def test_a_feed_that_did_not_change_is_not_sent_again(client):
    a_posting(title="Paris", source=a_source(listed=True))
    consume()
    saved = a_saved_search()
    answer = client.get(address(saved))
    assert "<title>Paris</title>" in answer.text
    again = client.get(address(saved), headers={"If-None-Match": answer["ETag"]})
    assert again.status_code == 304


def test_a_feed_is_found_under_its_last_address_until_it_is_forgotten(client):
    user = a_user()
    saved = a_saved_search(user)
    old = address(saved)
    move_feed(user, saved.pk)
    saved.refresh_from_db()
    assert client.get(old).status_code == 404
    assert client.get(address(saved)).status_code == 200
    assert client.get(address(saved, "xml")).status_code == 404
    forget_search(user, saved.pk)
    forget_search(user, saved.pk)
    assert client.get(address(saved)).status_code == 404


def test_a_feed_ends_with_its_owner_s_account(client):
    saved = a_saved_search()
    saved.user.is_active = False
    saved.user.save(update_fields=["is_active"])
    assert client.get(address(saved)).status_code == 404


def test_feed_addresses_are_secret():
    secrets = {a_saved_search().secret for _ in range(20)}
    assert len(secrets) == 20
    assert all(re.fullmatch(r"[\w-]{43}", secret) for secret in secrets)


# --- lists that are filtered ------------------------------------------------------------------------------------------
def test_a_list_is_filtered_by_the_same_language(client):
    follow = a_follow()
    client.force_login(follow.user)
    for title in ("Paris summit", "Paris fashion", "Rome"):
        a_posting(follow.source, title=title)
    a_posting(a_source(listed=True), title="Paris elsewhere")
    consume()

    def shown(name, *arguments, **values):
        text = client.get(reverse(name, args=arguments), {"show": "all", **values}).text
        return set(re.findall(r'data-open href="/posting/\d+/">([^<]+)</a>', text)), text

    assert shown("river", q="paris -fashion")[0] == {"Paris summit"}
    assert shown("river_source", follow.source_id, q="intitle:rome")[0] == {"Rome"}
    assert shown("river_starred", q="paris")[0] == set()
    found, text = shown("river", q="paris (")
    assert not found
    assert "The parenthesis at character 7 is not closed" in text
    assert "Mark all read" not in shown("river", q="paris")[1]
    assert shown("river", q="xyzzy")[1].count("Search everywhere") == 1
