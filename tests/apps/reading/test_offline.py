"""What browsers store, and the changes that they send."""

import json
from datetime import timedelta
from hashlib import sha256
from urllib.parse import unquote
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.urls import resolve, reverse
from django.utils import timezone

from apps.following.models import Mark
from apps.reading.pages.following import AT_ONCE, MAX_HTML_LENGTH
from apps.stories.models import Reaction
from apps.web.pages.offline_shell import person_key, shell
from tests.builders import NOON, a_follow, a_mark, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db
LIST, ARTICLES, CHANGES = "/offline/list/", "/offline/articles/", "/offline/changes/"


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


def kept_ids(client, length):
    return [article["id"] for article in client.get(LIST, {"n": length}).json()["articles"]]


def milliseconds(at):
    return int(at.timestamp() * 1000)


def a_change(marked, **values):
    return {
        "id": str(uuid4()),
        "posting": marked.pk,
        "field": "starred",
        "value": True,
        "made_at": milliseconds(timezone.now()),
    } | values


def send(client, person, *changes, **values):
    message = {"person": person_key(person), "sent_at": milliseconds(timezone.now()), "changes": changes} | values
    return client.post(CHANGES, json.dumps(message), content_type="application/json")


# --- installed --------------------------------------------------------------------------------------------------------
def test_the_manifest_names_pictures_and_pages_that_are_there(client):
    answer = client.get("/manifest.webmanifest")
    data = answer.json()
    assert answer["Content-Type"] == "application/manifest+json"
    for picture in data["icons"]:
        assert finders.find(picture["src"].removeprefix("/static/"))
    assert {"any", "maskable"} == {picture["purpose"] for picture in data["icons"]}
    for address in [data["start_url"], *(shortcut["url"] for shortcut in data["shortcuts"])]:
        assert resolve(address)


def test_every_page_links_the_manifest_and_has_a_pseudonym(client):
    assert 'rel="manifest" href="/manifest.webmanifest"' in client.get("/catalogue/").text
    assert 'data-person=""' in client.get("/catalogue/").text
    people = [a_user(), a_user()]
    keys = [person_key(person) for person in people]
    for person, key in zip(people, keys, strict=True):
        client.force_login(person)
        assert f'data-person="{key}"' in client.get("/catalogue/").text
    assert len(set(keys)) == 2
    assert not any(str(person.pk) == key for person, key in zip(people, keys, strict=True))


def test_the_worker_knows_the_files_of_its_version(client):
    data = client.get("/worker.js").text
    known, _ = json.JSONDecoder().raw_decode(data, data.index("{"))
    assert known["version"] == shell().version
    assert {"/static/css/base.css", "/static/js/main.js", "/static/icons.svg"} <= known["digests"].keys()
    for address, digest in known["digests"].items():
        with open(finders.find(unquote(address.removeprefix("/static/"))), "rb") as file:
            assert sha256(file.read()).hexdigest() == digest


def test_a_worker_that_did_not_change_is_not_sent_again(client):
    answer = client.get("/worker.js")
    assert answer["Cache-Control"] == "no-cache"
    assert client.get("/worker.js", headers={"If-None-Match": answer["ETag"]}).status_code == 304


def test_changed_styles_change_the_version(tmp_path, settings):
    before = shell().version
    (tmp_path / "css").mkdir()
    (tmp_path / "css" / "base.css").write_text("body { color: red }")
    settings.STATICFILES_DIRS, settings.DEBUG = [tmp_path], True
    assert shell().version != before


def test_the_shell_has_its_version_and_no_user(client, user):
    frame = client.get("/offline/shell/").text
    assert f"<!-- version {shell().version} -->" in frame
    assert user.username not in frame
    assert person_key(user) not in frame


def test_pages_may_start_our_worker_alone(client):
    assert "worker-src 'self'" in client.get("/")["Content-Security-Policy"]


# --- kept -------------------------------------------------------------------------------------------------------------
def test_unread_postings_are_kept_first_and_read_ones_fill_the_rest(client, user):
    follow = a_follow(user)
    newest, second, third, fourth = some_postings(4, follow.source)
    a_mark(user, newest, read=True)
    a_mark(user, third, read=True, starred_at=NOON)
    assert kept_ids(client, 2) == [second.pk, fourth.pk]
    assert kept_ids(client, 3) == [second.pk, fourth.pk, newest.pk]
    states = client.get(LIST, {"n": 50}).json()["articles"]
    assert [(state["id"], state["unread"], state["starred"]) for state in states] == [
        (second.pk, True, False),
        (fourth.pk, True, False),
        (newest.pk, False, False),
        (third.pk, False, True),
    ]


def test_articles_of_unfollowed_sources_are_not_saved(client, user):
    a_posting(a_source(listed=True))
    a_posting(a_follow().source)
    assert kept_ids(client, 50) == []


def test_a_posting_comes_whole_and_cleaned_without_anything_of_the_request(client, user):
    posting = a_posting(
        a_follow(user).source, title="Rain & <b>wind</b>", html="<p>It <em>rains</em>.</p>", author="Ada"
    )
    data = client.get(ARTICLES, {"ids": posting.pk}).json()["articles"]
    assert [one["title"] for one in data] == ["Rain & <b>wind</b>"]
    page, row = data[0]["page"], data[0]["row"]
    assert "<p>It <em>rains</em>.</p>" in page
    assert "Ada" in page
    for piece in (page, row):
        assert "Rain &amp; &lt;b&gt;wind&lt;/b&gt;" in piece
        assert f'action="/posting/{posting.pk}/mark/"' in piece
        assert "csrfmiddlewaretoken" not in piece


def test_the_version_changes_with_the_words(client, user):
    posting = a_posting(a_follow(user).source, text_hash=b"a" * 16)
    before = client.get(LIST, {"n": 50}).json()["articles"][0]["version"]
    assert client.get(ARTICLES, {"ids": posting.pk}).json()["articles"][0]["version"] == before
    posting.text_hash = b"b" * 16
    posting.save()
    assert client.get(LIST, {"n": 50}).json()["articles"][0]["version"] != before


PICTURES = '<p><img alt="A" src="https://a.example/1.png" srcset="https://a.example/2.png 2x"></p>'


@pytest.mark.parametrize("images", ["proxied", "direct"])
def test_pictures_are_kept_through_us(client, user, images):
    user.images = images
    user.save()
    posting = a_posting(a_follow(user).source, html=PICTURES, image_url="https://a.example/small.png")
    with_pictures, without = (
        client.get(ARTICLES, {"ids": posting.pk, "pictures": choice}).json()["articles"][0] for choice in ("yes", "no")
    )
    assert len(with_pictures["pictures"]) == 2
    assert all(address.startswith("/image/") for address in with_pictures["pictures"])
    assert "a.example" not in with_pictures["page"]
    assert "srcset" not in with_pictures["page"]
    assert without["pictures"] == []
    assert "<img" not in without["page"] + without["row"]


def test_no_pictures_are_kept_for_readers_without_pictures(client, user):
    user.images = "blocked"
    user.save()
    posting = a_posting(a_follow(user).source, html=PICTURES)
    assert client.get(ARTICLES, {"ids": posting.pk, "pictures": "yes"}).json()["articles"][0]["pictures"] == []


def test_only_the_beginning_of_a_long_article_is_saved(client, user):
    posting = a_posting(a_follow(user).source, html="x" * (MAX_HTML_LENGTH + 1), text="It begins so.")
    page = client.get(ARTICLES, {"ids": posting.pk}).json()["articles"][0]["page"]
    assert "It begins so." in page
    assert len(page) < 5_000


def test_postings_of_others_are_left_out(client, user):
    hidden = a_posting(a_follow().source)
    mine = a_posting(a_follow(user).source)
    data = client.get(ARTICLES, {"ids": f"{hidden.pk},{mine.pk}"}).json()["articles"]
    assert [one["id"] for one in data] == [mine.pk]


@pytest.mark.parametrize("length", ["", "-1", "201", "x", "²", "9" * 30])
def test_so_many_cannot_be_kept(client, user, length):
    assert client.get(LIST, {"n": length}).status_code == 400


@pytest.mark.parametrize("ids", ["", "x", "1,", "-1", "9" * 30, ",".join(["1"] * (AT_ONCE + 1))])
def test_postings_are_requested_by_id_and_few_at_a_time(client, user, ids):
    assert client.get(ARTICLES, {"ids": ids}).status_code == 400


def test_the_number_of_queries_does_not_grow(client, user, django_assert_max_num_queries):
    postings = some_postings(20, a_follow(user).source)
    for amount in (1, 20):
        with django_assert_max_num_queries(5):
            client.get(LIST, {"n": amount})
        with django_assert_max_num_queries(5):
            data = client.get(ARTICLES, {"ids": ",".join(str(posting.pk) for posting in postings[:amount])}).json()
        assert len(data["articles"]) == amount


@pytest.mark.parametrize("address", [f"{LIST}?n=0", f"{ARTICLES}?ids=1"])
def test_a_browser_may_not_keep_these_answers_beside_its_store(client, user, address):
    assert "no-store" in client.get(address)["Cache-Control"]


# --- changes ----------------------------------------------------------------------------------------------------------
def test_changes_are_applied_and_their_outcomes_returned(client, user):
    posting = a_posting(a_follow(user).source)
    good, unknown, bad = a_change(posting), a_change(posting, posting=2**60), a_change(posting, field="hidden")
    answer = send(client, user, good, unknown, bad).json()
    assert answer == {"outcomes": {good["id"]: "applied", unknown["id"]: "unknown", bad["id"]: "refused"}}
    assert Mark.objects.get(posting=posting).starred_at
    assert send(client, user, good).json() == {"outcomes": {good["id"]: "applied"}}


def test_a_clock_that_is_wrong_is_corrected_by_when_the_message_was_sent(client, user):
    posting = a_posting(a_follow(user).source)
    wrong = timezone.now() + timedelta(days=400)
    change = a_change(posting, made_at=milliseconds(wrong - timedelta(hours=2)))
    send(client, user, change, sent_at=milliseconds(wrong))
    starred_at = Mark.objects.get().starred_at
    assert abs(starred_at - (timezone.now() - timedelta(hours=2))) < timedelta(minutes=1)


def test_stars_are_learnt(client, user):
    posting = a_posting(a_follow(user).source)
    send(client, user, a_change(posting))
    assert Reaction.objects.filter(user=user, posting=posting, stale=True).exists()


def test_changes_of_another_user_are_refused(client, user):
    posting = a_posting(a_follow(user).source)
    assert send(client, a_user(), a_change(posting)).status_code == 409
    assert not Mark.objects.exists()


def test_half_a_message_is_refused_in_words(client, user):
    answer = client.post(CHANGES, "[]", content_type="application/json")
    assert answer.status_code == 400
    assert "changes" in answer.json()["error"]


def test_visitors_get_401_as_json(client):
    for answer in (
        client.get(LIST, {"n": 0}),
        client.get(ARTICLES, {"ids": 1}),
        client.post(CHANGES, "{}", content_type="application/json"),
    ):
        assert answer.status_code == 401
        assert answer.json()["error"]


def test_changes_need_the_token_of_the_list(user):
    from django.test import Client  # noqa: PLC0415, the one that checks

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(user)
    posting = a_posting(a_follow(user).source)
    message = {"person": person_key(user), "sent_at": 1, "changes": [a_change(posting)]}
    body = json.dumps(message)
    assert strict.post(CHANGES, body, content_type="application/json").status_code == 403
    token = strict.get(LIST, {"n": 0}).json()["token"]
    answer = strict.post(CHANGES, body, content_type="application/json", headers={"X-CSRFToken": token})
    assert answer.status_code == 200
    assert strict.get(CHANGES).status_code == 405


def test_the_offline_page_offers_lengths_and_requires_sign_in(client):
    address = reverse("offline")
    assert client.get(address).status_code == 302
    client.force_login(a_user())
    page = client.get(address).text
    assert [f'value="{length}"' in page for length in (0, 50, 100, 200)] == [True] * 4
    assert "<noscript>" in page


def test_no_file_of_the_shell_lies_outside_of_what_is_served():
    assert all(address.startswith(f"/{settings.STATIC_URL.lstrip('/')}") for address in shell().digests)
