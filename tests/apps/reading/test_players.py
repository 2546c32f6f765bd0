"""The frame for players of other sites: which it shows, and what it may load."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.postings.algorithms.markup import clean
from apps.web.pages.rows import proxied, proxied_player
from tests.builders import a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db

VIDEO = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


def policy(response) -> dict[str, str]:
    parts = response.headers["Content-Security-Policy"].split(";")
    return dict(part.strip().partition(" ")[::2] for part in parts)


def test_the_frame_may_load_the_players_site_alone_and_be_shown_here_alone():
    response = Client().get(proxied_player(VIDEO))
    assert 'src="https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?autoplay=1"' in response.content.decode()
    assert policy(response) == {
        "default-src": "'none'",
        "style-src": "'self'",
        "frame-src": "https://www.youtube-nocookie.com",
        "frame-ancestors": "'self'",
    }
    assert response.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_other_pages_may_frame_ours_alone_and_be_framed_by_none():
    posting = a_posting(a_source(listed=True))
    response = Client().get(f"/posting/{posting.pk}/")
    assert policy(response)["frame-src"] == "'self'"
    assert policy(response)["frame-ancestors"] == "'none'"
    assert response.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "address",
    [
        proxied_player("https://evil.example/"),
        proxied_player("javascript:alert(1)"),
        reverse("player", args=["AAAAAAAAAAAAAAAAAAAAAA", proxied_player(VIDEO).rpartition("/")[2]]),
        reverse("player", args=proxied(VIDEO).split("/")[-2:]),
    ],
)
def test_only_signed_addresses_of_known_players_are_framed(address):
    response = Client().get(address)
    assert response.status_code == 404
    assert "<iframe" not in response.content.decode()


@pytest.mark.parametrize(
    ("images", "pictures"),
    [(User.Images.PROXIED, "/image/"), (User.Images.BLOCKED, ""), (User.Images.DIRECT, "https://i.ytimg.com/")],
)
def test_the_picture_of_a_card_follows_the_setting_for_pictures(images, pictures):
    html = clean(f'<iframe src="{VIDEO}" title="A song"></iframe>').html
    posting = a_posting(a_follow(a_user(images=images)).source, html=html)
    client = Client()
    client.force_login(posting.source.follows.get().user)
    page = client.get(f"/posting/{posting.pk}/").content.decode()
    card = re.search(r'<figure class="player video">.*?</figure>', page)
    assert card is not None
    assert [address.startswith(pictures) for address in re.findall('<img [^>]*src="([^"]*)"', card[0])] == [
        True
    ] * bool(pictures)
    assert "A song" in card[0]


def test_articles_stored_before_have_cards_as_well():
    posting = a_posting(a_source(listed=True), html=f'<p><a href="{VIDEO}">www.youtube.com</a></p>')
    assert 'class="player video"' in Client().get(f"/posting/{posting.pk}/").content.decode()


@pytest.mark.parametrize("is_embedded", [True, False])
def test_a_posting_about_a_video_shows_it_once(is_embedded):
    html = clean(f'<p>Words.</p><iframe src="{VIDEO}"></iframe>' if is_embedded else "<p>Words.</p>").html
    posting = a_posting(a_source(listed=True), url=VIDEO.replace("www.", "m."), title="A song", html=html)
    page = Client().get(f"/posting/{posting.pk}/").content.decode()
    assert page.count('class="player video"') == 1


def test_an_episode_is_no_video_of_its_page_as_well():
    recording = {"url": "https://a.example/1.mp3", "media_type": "audio/mpeg", "length": 1, "duration": 65, "title": ""}
    posting = a_posting(a_source(listed=True), url="https://soundcloud.com/a/b", enclosures=[recording])
    page = Client().get(f"/posting/{posting.pk}/").content.decode()
    assert "<audio" in page
    assert "1:05" in page
    assert 'class="player' not in page
