"""Pages of what people follow: the catalogue, folders and their order, choices, health, and the first minutes."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.feed_health import actions as notices
from apps.following import queries as following
from apps.following.models import Follow
from apps.reading.forms import NoMove, read_move
from apps.reading.pages.following import language_choices, why
from apps.recommendations.models import Dismissal, Growth, Likeness
from apps.retrieval.models import Schedule
from tests.builders import (
    NOON,
    a_folder,
    a_follow,
    a_posting,
    a_retrieval,
    a_schedule,
    a_source,
    a_user,
    some_postings,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


# --- the catalogue ----------------------------------------------------------------------------------------------------
def test_the_catalogue_begins_with_popular_sources(client):
    for title, followers in (("One", 1), ("Three", 3), ("Two", 2)):
        source = a_source(title=title, listed=True)
        for _ in range(followers):
            a_follow(source=source)
    order = ["Three", "Two", "One"]
    page = client.get("/catalogue/").text
    assert sorted(order, key=page.index) == order
    page = client.get("/catalogue/?sort=name").text
    assert sorted(order, key=page.index) == ["One", "Three", "Two"]


def test_the_catalogue_is_sorted_by_what_rises_and_by_what_is_new(client):
    old = a_source(title="Old", listed=True, added_at=NOON - timedelta(days=9))
    new = a_source(title="New", listed=True, added_at=NOON)
    Growth.objects.create(source=old, value=3.0, gained=5, opened=7)
    page = client.get("/catalogue/?sort=rising&category=&words=").text
    assert page.index(f"/river/source/{old.pk}/") < page.index(f"/river/source/{new.pk}/")
    page = client.get("/catalogue/?sort=new&language=").text
    assert page.rindex(f"/river/source/{new.pk}/") < page.rindex(f"/river/source/{old.pk}/")
    assert client.get("/catalogue/?sort=nonsense").status_code == 200


def test_languages_are_those_of_all_their_countries_under_their_own_names(client):
    for language in ("de-AT", "de", "pt_BR", "EN"):
        a_source(title=f"In {language}", listed=True, language=language)
    page = client.get("/catalogue/?language=de").text
    assert "In de-AT" in page
    assert "In pt_BR" not in page
    assert ">Deutsch (2)<" in page
    assert [choice.code for choice in language_choices([("de", 1), ("de-CH", 2), ("", 5), ("en", 1)])] == ["de", "en"]


def test_visitors_see_rising_sources_and_why(client):
    source = a_source(title="Risen", listed=True)
    Growth.objects.create(source=source, value=3.0, gained=5, opened=1)
    page = client.get("/catalogue/").text
    assert "Rising: 5 new followers, 1 reader this week" in page


def test_a_recommendation_says_why_and_is_dismissed_for_good(client, user):
    wire = a_follow(user, a_source(title="The Wire")).source
    bridge = a_source(title="The Bridge", listed=True)
    Likeness.objects.create(source=wire, other=bridge, value=4.0, shared=12)
    assert "Followed by 12 of those who follow The Wire" in client.get("/catalogue/").text
    answer = client.post(reverse("dismiss_recommendation", args=[bridge.pk]), headers={"HX-Request": "true"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert "Followed by" not in client.get("/catalogue/").text
    assert Dismissal.objects.get().user == user


def test_invisible_sources_cannot_be_dismissed(client, user):
    assert client.post(reverse("dismiss_recommendation", args=[a_source().pk])).status_code == 404


def test_htmx_follows_in_place(client, user):
    source = a_source(title="The Wire", listed=True)
    answer = client.post(reverse("follow", args=[source.pk]), headers={"HX-Request": "true"}).text
    assert "Following" in answer
    assert "<html" not in answer
    assert Follow.objects.get().source == source


# --- folders and order ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "",
        "source-1",
        "source-1 folder-0",
        "source-1 folder-0 sideways",
        "source-1 folder-0 up folder-0",
        "planet-1 folder-0 up",
        "source-x folder-0 up",
        "source-1 source-2 up",
        "source-1 folder-0 into source-2 source-3",
        "source-1 folder-0 into folder-2",
        f"source-{'9' * 30} folder-0 up",
    ],
)
def test_an_invalid_move_is_refused(client, user, text):
    with pytest.raises(NoMove):
        read_move(text)
    assert client.post(reverse("arrange"), {"move": text}).status_code == 400


def test_a_button_moves_and_leads_back_to_what_was_moved(client, user):
    folder = a_folder(user)
    first, second = (a_follow(user, a_source(title=title), folders=(folder,)).source_id for title in "AB")
    answer = client.post(reverse("arrange"), {"move": f"source-{second} folder-{folder.pk} up"})
    assert answer.url == f"{reverse('folders')}#source-{second}-{folder.pk}"
    assert [each.source_id for each in following.followed_sources(user)] == [second, first]
    page = client.get(reverse("folders")).text
    assert page.index(f'data-item="source-{second}"') < page.index(f'data-item="source-{first}"')
    assert page.index(f"/river/source/{second}/") < page.index(f"/river/source/{first}/")  # and in the sidebar


def test_a_script_learns_whether_a_move_was_stored(client, user):
    follow, folder = a_follow(user), a_folder(user)
    move = {"move": f"source-{follow.source_id} folder-0 into folder-{folder.pk} source-0"}
    headers = {"HX-Request": "true"}
    assert client.post(reverse("arrange"), move, headers=headers).status_code == 204
    assert list(follow.folders.all()) == [folder]
    refused = client.post(reverse("arrange"), {"move": f"folder-{a_folder().pk} folder-0 up"}, headers=headers)
    assert (refused.status_code, refused.text) == (409, "You have no such folder.")


def test_without_scripts_an_impossible_move_shows_a_message(client, user):
    folder = a_folder(user)
    move = {"move": f"folder-{folder.pk} folder-0 into folder-{folder.pk} folder-0"}
    assert "into itself" in client.post(reverse("arrange"), move, follow=True).text


def test_choices_for_a_source_are_kept_and_shown_again(client, user):
    follow = a_follow(user)
    address = reverse("edit_follow", args=[follow.source_id])
    form = {"title": "", "view": "cards", "full_text": "feed", "images": "blocked", "muted": "on"}
    assert client.post(address, form).status_code == 302
    follow.refresh_from_db()
    assert (follow.view, follow.full_text, follow.images, follow.muted) == ("cards", "feed", "blocked", True)
    page = client.get(address).text
    assert page.count(" selected>") == 3
    assert "checked" in page
    assert "is-muted" in page
    assert 'role="alert"' in client.post(address, form | {"view": "wall"}).text


def test_a_name_that_is_too_long_shows_an_error(client, user):
    follow = a_follow(user)
    page = client.post(reverse("edit_follow", args=[follow.source_id]), {"title": "x" * 1_001}).text
    assert "at most 1,000 characters" in page


# --- health -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("outcome", "status", "words"),
    [
        ("failed", 404, "address no longer exists (404)"),
        ("refused", 0, "does not allow automatic reading"),
        ("failed", 403, "denies access (403)"),
        ("failed", 502, "server error (502)"),
        ("throttled", 429, "asks for fewer requests (429)"),
        ("throttled", 503, "server error (503)"),
        ("not_a_feed", 200, "no readable feed"),
        ("failed", 0, "It took too long."),
        ("failed", 418, "status 418"),
    ],
)
def test_failures_are_explained_in_plain_words(outcome, status, words):
    assert words in why(outcome, status, "It took too long." if not status else "")


def test_a_failing_source_is_shown_everywhere_until_dismissed(client, user):
    follow = a_follow(user, a_source(title="The Wire"))
    day = timezone.now() - timedelta(days=2)
    a_schedule(follow.source, failing_since=day, consecutive_failures=9, observed_at=day)
    a_retrieval(follow.source, outcome="failed", status=404)
    notices.notify_followers(now=timezone.now())
    page = client.get(reverse("feed_health")).text
    assert "address no longer exists (404)" in page
    assert "is failing" in page
    river = client.get(reverse("river_source", args=[follow.source_id])).text
    assert "last success" in river
    assert "Feed notices" in river
    client.post(reverse("dismiss_notices"), {"up_to": page.split('name="up_to" value="')[1].split('"')[0]})
    assert "Feed notices" not in client.get("/river/").text


def test_foreign_notices_get_404(client, user):
    follow = a_follow()
    a_schedule(follow.source, failing_since=NOON - timedelta(days=2), consecutive_failures=9)
    notices.notify_followers(now=NOON)
    notice = follow.user.notices.get()
    assert client.post(reverse("dismiss_notice", args=[notice.pk])).status_code == 404
    assert client.post(reverse("dismiss_notices"), {"up_to": "x"}).status_code == 400
    client.force_login(follow.user)
    assert client.post(reverse("dismiss_notice", args=[notice.pk])).url == reverse("feed_health")


# --- the first minutes ------------------------------------------------------------------------------------------------
def test_new_users_choose_interests(client):
    form = {
        "username": "ada",
        "email": "ada@example.org",
        "password1": "a long password",
        "password2": "a long password",
    }
    assert client.post(reverse("account_signup"), form).url == reverse("welcome")


def test_interests_come_with_sources_and_in_the_languages_that_the_browser_names(client, user):
    for language, title in (("en", "The Wire"), ("de", "Der Draht")):
        a_source(listed=True, category="Technology", language=language, title=title)
    a_source(listed=True, category="Politik", language="de")
    page = client.get(reverse("welcome"), headers={"Accept-Language": "de-CH,de;q=0.8,fr;q=0.5"}).text
    assert "Der Draht" in page
    assert "The Wire" not in page
    assert 'value="de" checked' in page
    page = client.get(reverse("welcome"), headers={"Accept-Language": "en"}).text
    assert "Politik" not in page


def test_popular_sources_of_an_interest_are_followed_and_checked_at_once(client, user):
    popular = a_source(listed=True, category="Technology", language="en", title="Z popular")
    a_follow(source=popular)
    for number in range(9):
        a_source(listed=True, category="Technology", language="en-GB", title=f"Source {number}")
    a_source(listed=True, category="Technology", language="de")
    a_source(listed=True, category="Sport", language="en")
    answer = client.post(reverse("welcome"), {"categories": ["Technology"], "languages": ["en"]})
    assert answer.url == reverse("first_articles")
    followed = Follow.objects.filter(user=user)
    assert followed.count() == 6
    assert followed.filter(source=popular).exists()
    assert not followed.exclude(source__category="Technology", source__language__startswith="en").exists()
    assert Schedule.objects.filter(source__follows__user=user, due_at__isnull=False).count() == 6


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "Choose at least one interest"),
        ({"categories": ["Nonsense"]}, "Nonsense is not one of the available choices"),
        ({"categories": ["Sport"], "languages": ["de"]}, "nothing on this in these languages"),
    ],
)
def test_interests_without_sources_show_an_error(client, user, form, words):
    a_source(listed=True, category="Sport", language="en")
    a_source(listed=True, category="Politik", language="de")
    assert words in client.post(reverse("welcome"), form).text
    assert not Follow.objects.exists()


def test_the_page_polls_until_all_sources_were_checked(client, user):
    checked, waiting = (a_follow(user, a_source(), followed_at=timezone.now()) for _ in range(2))
    a_schedule(checked.source, requested_at=timezone.now())
    a_schedule(waiting.source)
    posting = a_posting(checked.source)
    page = client.get(reverse("first_articles")).text
    assert "1 of 2 feeds have been checked" in page
    assert 'hx-trigger="load' in page
    assert posting.title in page
    rest = client.get(reverse("first_articles"), headers={"HX-Request": "true"}).text
    assert "<html" not in rest
    Schedule.objects.filter(source=waiting.source).update(requested_at=timezone.now(), worker="worker")
    assert "1 of 2 feeds" in client.get(reverse("first_articles")).text  # what it says is not stored yet
    Schedule.objects.update(worker="")
    fragment = client.get(reverse("first_articles"), headers={"HX-Request": "true"}).text
    assert "hx-trigger" not in fragment.split("<article")[0]


def test_waiting_for_a_source_that_never_answers_ends(client, user):
    a_schedule(a_follow(user, followed_at=timezone.now() - timedelta(minutes=5)).source)
    assert "hx-trigger" not in client.get(reverse("first_articles")).text.split('id="first_articles"')[1].split(">")[0]


def test_a_second_check_is_not_waited_for(client, user):
    now = timezone.now()
    a_schedule(a_follow(user, followed_at=now).source, observed_at=now, requested_at=now, worker="worker")
    assert "hx-trigger" not in client.get(reverse("first_articles")).text.split('id="first_articles"')[1].split(">")[0]


def test_the_front_page_shows_sections_of_the_busiest_categories(client):
    for category, how_many in (("World", 5), ("Sport", 3), ("Rare", 1)):
        some_postings(how_many, a_source(listed=True, category=category))
    page = client.get("/").text
    assert page.index("category=World") < page.index("category=Sport")
    assert "category=Rare" not in page
    assert "Sign up" in page


def grow(user, how_many: int) -> None:
    for _ in range(how_many):
        source = a_source(listed=True, category="News", language="en")
        a_follow(user, source, folders=(a_folder(user),), followed_at=timezone.now())
        a_posting(source)
        a_schedule(source, failing_since=NOON, consecutive_failures=9)
        a_retrieval(source, outcome="failed", status=404)
        Likeness.objects.create(source=source, other=a_source(listed=True), value=3.0, shared=4)
        Growth.objects.create(source=a_source(listed=True), value=3.0, gained=4, opened=4)


@pytest.mark.parametrize("name", ["catalogue", "feed_health", "welcome", "first_articles", "folders", "home"])
def test_queries_do_not_grow_with_the_number_of_follows(name, client, user):
    costs = []
    for _ in range(2):
        grow(user, 8)
        notices.notify_followers(now=timezone.now())
        if name == "home":
            client.logout()
        client.get(reverse(name))
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse(name)).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1]
