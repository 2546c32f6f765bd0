"""The requests of published clients, in their order and spelling, and newsboat with many feeds.

NetNewsWire: Account/Sources/Account/ReaderAPI/ReaderAPICaller.swift. Read You: provider/greader/GoogleReaderAPI.kt.
Fluent Reader: src/scripts/models/services/greader.ts.
"""

import re
from time import perf_counter
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils.timezone import now

from apps.accounts.actions import make_token
from apps.following.models import Follow
from apps.sources.models import Source
from apps.web.pages.sidebar import sidebar
from tests.apps.api.google_reader import READ, READING_LIST, STARRED, Program
from tests.apps.api.newsboat import EDIT_FLAGS, ENTER, PROGRAM, Newsboat
from tests.builders import a_folder, a_follow, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db

API = "/reader/api/0"
FORM = "application/x-www-form-urlencoded"
LONG = "tag:google.com,2005:reader/item/"


class Requests:
    """One client; each call is asserted to succeed."""

    def __init__(self, login: dict[str, str]) -> None:
        self._client, self._headers = Client(), {}
        answer = self.post("/accounts/ClientLogin", "&".join(f"{name}={value}" for name, value in login.items()))
        # Each client splits the lines at their first or only "=".
        [auth] = [line.removeprefix("Auth=") for line in answer.text.splitlines() if line.startswith("Auth=")] or [
            answer.json()["Auth"]
        ]
        self._headers = {"Authorization": f"GoogleLogin auth={auth}"}

    def get(self, address: str):
        response = self._client.get(address, headers=self._headers)
        assert response.status_code == 200, response.content
        return response

    def post(self, address: str, body: str, kind: str = FORM):
        response = self._client.generic("POST", address, body, kind, headers=self._headers)
        assert response.status_code == 200, response.content
        return response


@pytest.fixture
def ada():
    return a_user("ada")


@pytest.fixture
def secret(ada) -> str:
    return make_token(ada, "client", ("read", "write"), now=now())[1]


@pytest.fixture
def feed(ada):
    source = a_source(title="The Times", url="https://times.example/feed")
    a_follow(ada, source, folders=[a_folder(ada, "News & more")])
    return source


def is_unread(user, posting) -> bool:
    return posting.pk in Program(user).ids(s=READING_LIST, xt=READ, n=10_000)


def is_starred(user, posting) -> bool:
    return posting.pk in Program(user).ids(s=STARRED, n=10_000)


def test_netnewswire_signs_in_syncs_stars_reads_and_follows(ada, secret, feed):
    newest, older = some_postings(2, feed)
    netnewswire = Requests({"Email": "ada", "Passwd": secret})
    token = netnewswire.get(f"{API}/token").text
    tags = netnewswire.get(f"{API}/tag/list?output=json").json()["tags"]
    assert "user/-/label/News & more" in {re.sub(r"user/\d+/", "user/-/", tag["id"]) for tag in tags}
    [subscription] = netnewswire.get(f"{API}/subscription/list?output=json").json()["subscriptions"]
    assert (subscription["title"], subscription["url"]) == ("The Times", "https://times.example/feed")
    assert [category["label"] for category in subscription["categories"]] == ["News & more"]
    refs = netnewswire.get(f"{API}/stream/items/ids?s={READING_LIST}&n=1000&xt={READ}&output=json").json()["itemRefs"]
    ids = [int(ref["id"]) for ref in refs]
    assert ids == [newest.pk, older.pk]
    body = f"T={token}&output=json&" + "&".join(f"i={LONG}{id:x}" for id in ids)  # not padded
    items = netnewswire.post(f"{API}/stream/items/contents", body).json()["items"]
    assert [item["alternate"][0]["href"] for item in items] == [newest.url, older.url]
    assert {item["origin"]["streamId"] for item in items} == {subscription["id"]}
    assert all(item["summary"]["content"] is not None and int(item["crawlTimeMsec"]) for item in items)
    netnewswire.post(f"{API}/edit-tag", f"T={token}&i={LONG}{newest.pk:x}&a={READ}")
    netnewswire.post(f"{API}/edit-tag", f"T={token}&i={LONG}{older.pk:x}&a={STARRED}")
    assert not is_unread(ada, newest)
    assert is_starred(ada, older)
    netnewswire.post(f"{API}/edit-tag", f"T={token}&i={LONG}{newest.pk:x}&r={READ}")
    assert is_unread(ada, newest)
    stream = subscription["id"]
    netnewswire.post(f"{API}/subscription/edit", f"T={token}&s={stream}&ac=edit&t=Renamed")
    netnewswire.post(f"{API}/subscription/edit", f"T={token}&s={stream}&ac=edit&a=user/-/label/World")
    follow = Follow.objects.get(user=ada)
    assert (follow.title, {str(folder) for folder in follow.folders.all()}) == ("Renamed", {"News & more", "World"})
    netnewswire.post(f"{API}/rename-tag", f"T={token}&s=user/-/label/World&dest=user/-/label/Globe")
    assert "Globe" in {str(folder) for folder in follow.folders.all()}
    netnewswire.post(f"{API}/subscription/edit", f"T={token}&s={stream}&ac=unsubscribe")
    assert not Follow.objects.filter(user=ada).exists()
    body = f"T={token}&ac=subscribe&s=feed/https://times.example/feed&a=user/-/label/Globe&t="
    netnewswire.post(f"{API}/subscription/edit", body)
    assert Follow.objects.get(user=ada).source == feed


def test_read_you_signs_in_syncs_stars_and_marks_all_read(ada, secret, feed):
    newest, older = some_postings(2, feed)
    login = {"output": "json", "Email": "ada", "Passwd": secret, "client": "ReadYou"}
    read_you = Requests(login | {"accountType": "HOSTED_OR_GOOGLE", "service": "reader"})
    token = read_you.get(f"{API}/token").text
    assert read_you.get(f"{API}/user-info?output=json").json()["userName"] == "ada"
    [subscription] = read_you.get(f"{API}/subscription/list?output=json").json()["subscriptions"]
    ids = f"{API}/stream/items/ids?output=json"
    refs = read_you.get(f"{ids}&s={READING_LIST}&xt={READ}&n=10000").json()["itemRefs"]
    assert [int(ref["id"]) for ref in refs] == [newest.pk, older.pk]
    assert not read_you.get(f"{ids}&s={READ}&ot=1714500000&n=10000").json().get("itemRefs")
    assert not read_you.get(f"{ids}&s={STARRED}&n=10000").json().get("itemRefs")
    body = "&".join(f"i={int(ref['id']):016x}" for ref in refs) + f"&T={token}"
    items = read_you.post(f"{API}/stream/items/contents?output=json", body).json()["items"]
    assert [item["title"] for item in items] == [newest.title, older.title]
    read_you.post(
        f"{API}/edit-tag?output=json", f"i={LONG}{newest.pk:016x}&i={LONG}{older.pk:016x}&a={STARRED}&T={token}"
    )
    assert is_starred(ada, newest)
    assert is_starred(ada, older)
    read_you.post(f"{API}/edit-tag?output=json", f"i={LONG}{older.pk:016x}&r={STARRED}&T={token}")
    assert not is_starred(ada, older)
    read_you.post(f"{API}/mark-all-as-read?output=json", f"s={subscription['id']}&T={token}")
    assert not is_unread(ada, newest)
    read_you.post(f"{API}/subscription/edit?output=json", f"ac=edit&s={subscription['id']}&t=Mine&T={token}")
    assert Follow.objects.get(user=ada).title == "Mine"
    read_you.post(f"{API}/disable-tag?output=json", f"s=user/-/label/News+%26+more&T={token}")
    assert not Follow.objects.get(user=ada).folders.exists()


def test_fluent_reader_syncs_stars_and_marks_read_without_a_token(ada, secret, feed):
    newest, older = some_postings(2, feed)
    fluent = Requests({"Email": "ada", "Passwd": secret})
    assert fluent.get(f"{API}/user-info").status_code == 200
    [subscription] = fluent.get(f"{API}/subscription/list?output=json").json()["subscriptions"]
    unread = fluent.get(f"{API}/stream/items/ids?output=json&s={READING_LIST}&xt={READ}&n=1000").json()
    assert len(unread["itemRefs"]) == 2
    assert fluent.get(f"{API}/stream/items/ids?output=json&s={STARRED}&n=1000").status_code == 200
    items = fluent.get(f"{API}/stream/contents?output=json&n=125").json()["items"]
    assert [item["canonical"][0]["href"] for item in items] == [newest.url, older.url]
    assert {item["origin"]["streamId"] for item in items} == {subscription["id"]}
    compact = [str(int(item["id"].rpartition("/")[2], 16)) for item in items]
    kind = f"{FORM};charset=UTF-8"
    fluent.post(f"{API}/edit-tag", f"i={compact[0]}&a={READ}", kind)
    fluent.post(f"{API}/edit-tag", f"i={compact[1]}&a={STARRED}", kind)
    assert not is_unread(ada, newest)
    assert is_starred(ada, older)
    fluent.post(f"{API}/mark-all-as-read", f"s={subscription['id']}", kind)
    assert not is_unread(ada, older)


@pytest.mark.parametrize("images", ["proxied", "direct", "blocked"])
def test_pictures_of_items_are_loaded_as_the_person_chose(ada, feed, images, settings, client):
    settings.PROJECT_URL = "https://portal.example"
    ada.images = images
    ada.save()
    a_posting(feed, html='<p>Look: <img alt="A storm" src="https://pictures.example/1.png?a=1&amp;b=2"></p>')
    [item] = Program(ada).json(f"stream/contents/{READING_LIST}")["items"]
    found = re.findall(r'<img[^>]*src="([^"]*)"', item["summary"]["content"])
    if images == "direct":
        assert found == ["https://pictures.example/1.png?a=1&amp;b=2"]
    elif images == "blocked":
        assert found == []
    else:
        [address] = found
        assert address.startswith("https://portal.example/image/")
        # The proxy knows the address as one that the portal signed; the picture's site cannot be reached here.
        assert client.get(urlsplit(address).path).status_code in {502, 504}


FEEDS = 300


def unread(user) -> list[int]:
    return Program(user).ids(s=READING_LIST, xt=READ, n=10_000)


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(PROGRAM is None, reason="newsboat is not installed")
@pytest.mark.trial
def test_newsboat_syncs_300_feeds_reads_stars_and_marks_all_read(ada, secret, live_server, tmp_path, capsys):
    Source.objects.bulk_create(Source(url=f"https://{n}.example/feed", title=f"Feed {n:03}") for n in range(FEEDS))
    for source in Source.objects.all():
        a_follow(ada, source)
        some_postings(3, source)
    lines = ['urls-source "feedhq"', f'feedhq-url "{live_server.url}/"', 'feedhq-login "ada"']
    flags = ["feedhq-show-special-feeds no", 'feedhq-flag-star "s"', "reload-threads 4"]
    newsboat = Newsboat(tmp_path, [*lines, f'feedhq-password "{secret}"', *flags])
    began = perf_counter()
    assert f"{3 * FEEDS} unread articles" in newsboat.run("reload", "print-unread", patience=300.0)
    with capsys.disabled():
        print(f"\nnewsboat synced {FEEDS} feeds in {perf_counter() - began:.1f} s")
    with newsboat.screen() as screen:
        screen.wait_for("Feed 000")
        screen.press(ENTER)
        screen.wait_for("Posting")
        screen.press(ENTER)
        screen.wait_for("Words of posting")
        screen.press(EDIT_FLAGS, "s", ENTER)
        screen.wait_until(lambda: len(Program(ada).ids(s=STARRED, n=10)) == 1)
        screen.press("q")
        screen.wait_until(lambda: len(unread(ada)) == 3 * FEEDS - 1)
        screen.press("A")
        screen.wait_until(lambda: len(unread(ada)) == 3 * FEEDS - 3)
    assert sidebar(ada).unread == 3 * FEEDS - 3
