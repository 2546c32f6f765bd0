"""Feed icons on pages, and the address that serves them."""

import re

import pytest

from apps.sources.models import Icon
from tests.builders import a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

DIGEST = "0123456789abcdef0123456789abcdef"


def an_icon() -> Icon:
    return Icon.objects.create(digest=DIGEST, png=b"\x89PNG\r\n\x1a\n")


@pytest.fixture
def followed(client):
    """A posting of a listed source that the client's user follows."""
    user, source = a_user(), a_source(listed=True, title="Daily Example")
    a_follow(user, source)
    client.force_login(user)
    return a_posting(source, title="Bridge stays open")


PAGES = (
    "/river/",
    "/river/source/{source}/",
    "/posting/{posting}/",
    "/posting/{posting}/?mode=reading",
    "/catalogue/",
    "/folders/",
)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_a_letter_or_the_icon(client, followed, page):
    address = page.format(source=followed.source_id, posting=followed.pk)
    letters = re.findall(r'class="feed-icon hue-\d+" data-letter="(.)"', client.get(address).content.decode())
    assert set(letters) == {"D"}
    followed.source.icon = an_icon()
    followed.source.save()
    html = client.get(address).content.decode()
    assert html.count(f'<img class="feed-icon" src="/icon/{DIGEST}.png" alt=""') == len(letters)


def test_icon_is_public_and_immutable(client):
    an_icon()
    response = client.get(f"/icon/{DIGEST}.png")
    assert response.content.startswith(b"\x89PNG")
    assert response["Content-Type"] == "image/png"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_unknown_icon_is_not_cached(client):
    response = client.get("/icon/f.png")
    assert response.status_code == 404
    assert response["Cache-Control"] == "no-store"
