"""What other readers were warned of in public does not happen here; each test names the warning."""

from base64 import b64encode, urlsafe_b64encode
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.actions import make_token
from apps.accounts.models import User
from apps.following.models import Mark, Note, Share, Tag, Tagging
from apps.postings.models import Posting
from apps.web.pages.rows import proxied
from tests.builders import NOON, a_folder, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

SCRIPT = "<script>alert(1)</script>"
PASSWORD = "correct horse battery"


@pytest.fixture
def ada() -> User:
    return a_user("ada", email="ada@mail.example")


@pytest.fixture
def hers(ada) -> Posting:
    """Of a source that only Ada follows, and that no catalogue lists."""
    source = a_source(listed=False)
    a_follow(ada, source)
    return a_posting(source)


@pytest.fixture
def eve(client) -> Client:
    client.force_login(a_user("eve"))
    return client


def test_a_broken_picture_is_never_answered_with_a_page(client):
    """Miniflux CVE-2023-27592: an error of the picture proxy returned the text of the publisher as HTML."""
    encoded = urlsafe_b64encode(f"https://a.example/{SCRIPT}".encode()).decode().rstrip("=")
    for address in (reverse("image", args=["forged", encoded]), proxied(f"http://127.0.0.1:1/{SCRIPT}")):
        answer = client.get(address)
        assert answer.status_code in (404, 502)
        assert answer["Content-Type"].startswith("text/plain")
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert SCRIPT not in answer.text


def test_nothing_that_comes_as_a_picture_may_run(client):
    """Miniflux CVE-2025-31483: a drawing with scripts came through a weak policy."""
    policy = client.get(proxied("http://127.0.0.1:1/drawing.svg"))["Content-Security-Policy"]
    assert policy == "default-src 'none'; sandbox"


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "10.0.0.1", "[fd00::1]", "100.64.0.1", "[64:ff9b::7f00:1]"])
def test_pictures_are_not_fetched_from_private_networks(client, host):
    """Miniflux GHSA-xwh2-742g-w3wp; CommaFeed GHSA-q5qw and GHSA-hgrr: of IPv6, unique local and carriers' ranges."""
    answer = client.get(proxied(f"http://{host}/secret.png"))
    assert answer.status_code == 502
    assert "refused_address" in answer.text


CHANGES = [
    ("mark", {"starred": "yes"}),
    ("mark", {"read": "no"}),
    ("tag", {"tag": "mine"}),
    ("note", {"text": "mine"}),
    ("share", {}),
    ("hide", {}),
    ("mark_up_to", {"scope": "all-0", "shown_at": NOON.isoformat(), "order": "newest"}),
]


@pytest.mark.parametrize(("name", "form"), CHANGES)
def test_postings_of_private_sources_of_others_cannot_be_marked(eve, hers, name, form):
    """CommaFeed GHSA-prfv: people starred, tagged and read entries of others by their numbers."""
    answer = eve.post(reverse(name, args=[hers.pk]), form)
    assert answer.status_code in (302, 404)
    assert not any(model.objects.exists() for model in (Mark, Tagging, Note, Share))
    for page in ("posting", "menu", "summary"):
        assert eve.get(reverse(page, args=[hers.pk]), follow=True).status_code == 404


def test_feeds_and_lists_of_others_get_404(eve, ada, hers):
    """FreshRSS: feeds and lists of subscriptions were returned without access control."""
    tag = Tag.objects.create(user=ada, name="secret")
    folder = a_folder(ada, "Secret")
    assert eve.get(reverse("river_tag", args=[tag.pk])).status_code == 404
    assert eve.get(reverse("river_folder", args=[folder.pk])).status_code == 404
    assert hers.source.url not in eve.get(reverse("opml_export")).text
    assert Client().get(reverse("opml_export")).status_code == 302


def test_signing_in_cannot_be_forged_by_another_site(settings):
    """FreshRSS 1.30: the forms to sign in and to register took whatever other sites sent."""
    strict = Client(enforce_csrf_checks=True)
    for name in ("account_login", "account_signup", "account_reset_password"):
        assert strict.post(reverse(name), {"login": "ada", "password": PASSWORD}).status_code == 403


def test_no_link_of_a_posting_runs_anything(client):
    """CommaFeed GHSA-44pq, FreshRSS 1.30: links and enclosures with other schemes reached the pages."""
    bad = "javascript:alert(1)"
    source = a_source(listed=True, site_url=bad)
    enclosures = [{"url": bad, "media_type": "audio/mpeg", "length": 1, "duration": 1, "title": "Run"}]
    posting = a_posting(source, url=bad, comments_url=bad, image_url=bad, enclosures=enclosures)
    reader = a_user()
    a_follow(reader, source)
    client.force_login(reader)
    pages = [reverse("river"), reverse("posting", args=[posting.pk]), reverse("river_source", args=[source.pk])]
    for page in pages:
        assert "javascript:" not in client.get(page).text


@pytest.fixture
def program(client):
    """Sends requests with a token, as other programs do."""
    reader = a_user()
    secret = make_token(reader, "program", ["read", "write"], now=NOON)[1]
    return reader, lambda path: client.get(path, headers={"Authorization": f"Bearer {secret}"})


def test_no_link_that_runs_anything_is_handed_to_programs(program):
    """CommaFeed GHSA-44pq: programs opened `javascript:` addresses that its API gave them."""
    bad = "javascript:alert(1)"
    reader, get = program
    enclosures = [{"url": bad, "media_type": "audio/mpeg", "length": 1, "duration": 1, "title": "Run"}]
    source = a_source(listed=True, site_url=bad, image_url=bad)
    a_follow(reader, source, unread_from=NOON - timedelta(days=1))
    posting = a_posting(source, url=bad, comments_url=bad, image_url=bad, enclosures=enclosures)
    for path in (
        f"/api/v1/postings/{posting.pk}",
        f"/api/v1/sources/{source.pk}",
        f"/v1/entries/{posting.pk}",
        "/v1/feeds",
        f"/reader/api/0/stream/contents/feed/{source.pk}",
        f"/reader/atom/feed/{source.pk}",
        "/reader/api/0/subscription/list",
    ):
        answer = get(path)
        assert answer.status_code == 200, path
        assert "javascript:" not in answer.text, path


@pytest.mark.parametrize("path", ["/api/v1/me", "/v1/me", "/reader/api/0/user-info", "/river/"])
@pytest.mark.parametrize("header", ["Authorization", "X-Auth-Token"])
def test_a_password_opens_nothing_to_programs(client, ada, header, path):
    """Tiny Tiny RSS: the password alone gave access by the API, past the second factor."""
    ada.set_password(PASSWORD)
    ada.save()
    basic = "Basic " + b64encode(f"ada:{PASSWORD}".encode()).decode()
    value = basic if header == "Authorization" else PASSWORD
    assert client.get(path, headers={header: value}).status_code in (302, 401)


def test_a_password_is_no_token_of_google_reader(client, ada):
    ada.set_password(PASSWORD)
    ada.save()
    answer = client.post("/accounts/ClientLogin", {"Email": "ada", "Passwd": PASSWORD})
    assert answer.status_code in (401, 403)
    assert "Auth=" not in answer.text.replace("BadAuthentication", "")
