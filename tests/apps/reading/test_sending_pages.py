"""Pages of services, and sending articles from the article, its menu in a list, and by a key."""

import pytest
from django.urls import reverse

from apps.alerts.actions import sending
from apps.alerts.models import Destination, Message
from tests.builders import NOON, a_follow, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(client):
    user = a_user(email="reader@example.org")
    client.force_login(user)
    return user


@pytest.fixture
def posting(user):
    source = a_source()
    a_follow(user, source)
    return a_posting(source, url="https://news.example/1?a=b", title="Storm & floods")


def a_destination(user, **values):
    return sending.add_destination(user, "readwise", {"token": "secret-t0ken"}, name="My reader", now=NOON)


def test_a_service_is_added_listed_without_its_secret_and_removed(client, user):
    address = reverse("destinations")
    assert 'name="token"' in client.get(address, {"service": "readwise"}).content.decode()
    response = client.post(f"{address}?service=readwise", {"token": "secret-t0ken", "name": "My reader"}, follow=True)
    page = response.content.decode()
    assert "My reader" in page
    assert "secret-t0ken" not in page
    destination = Destination.objects.get(user=user)
    client.post(reverse("remove_destination", args=[destination.pk]))
    assert not Destination.objects.exists()


def test_a_mistake_is_shown_in_the_form_and_nothing_is_stored(client, user):
    address = f"{reverse('destinations')}?service=linkding"
    page = client.post(address, {"server": "http://links.example", "token": "x"}).content.decode()
    assert "has to begin with https://" in page
    assert "This field is required" in client.post(address, {"token": "x"}).content.decode()
    assert not Destination.objects.exists()


@pytest.mark.parametrize("place", ["posting", "menu"])
def test_article_and_menu_offer_every_service(client, user, posting, place):
    destination = a_destination(user)
    page = client.get(reverse(place, args=[posting.pk])).content.decode()
    assert "Send to My reader" in page
    client.post(reverse("send", args=[posting.pk]), {"to": destination.pk})
    message = Message.objects.get()
    assert (message.destination, message.posting) == (destination, posting)
    assert "Storm &amp; floods" in client.get(reverse("alert_messages")).content.decode()


def test_a_custom_address_for_the_browser_is_a_link(client, user, posting):
    settings = {"template": "https://save.example/?u={url}&t={title}", "way": "browser"}
    sending.add_destination(user, "custom", settings, name="Saver", now=NOON)
    link = "https://save.example/?u=https%3A%2F%2Fnews.example%2F1%3Fa%3Db&amp;t=Storm%20%26%20floods"
    for place in ("posting", "menu"):
        assert f'href="{link}"' in client.get(reverse(place, args=[posting.pk])).content.decode()


def test_the_key_sends_to_the_first_service_and_says_so(client, user, posting):
    address = reverse("send", args=[posting.pk])
    response = client.post(address, headers={"Accept": "text/plain"})
    assert (response.status_code, response.content) == (409, b"Set up a service first.")
    a_destination(user)
    response = client.post(address, headers={"Accept": "text/plain"})
    assert (response.status_code, response.content) == (200, b"On its way to My reader.")
    assert Message.objects.count() == 1


def test_articles_that_one_cannot_read_cannot_be_sent(client, user):
    a_destination(user)
    hidden = a_posting(a_source(listed=False), url="https://private.example/1")
    assert client.post(reverse("send", args=[hidden.pk])).status_code == 404
    assert not Message.objects.exists()


def test_services_of_others_are_neither_shown_nor_removed(client, user, posting):
    foreign = a_destination(a_user())
    assert "My reader" not in client.get(reverse("destinations")).content.decode()
    assert "My reader" not in client.get(reverse("posting", args=[posting.pk])).content.decode()
    assert client.post(reverse("remove_destination", args=[foreign.pk])).status_code == 404
    assert client.post(reverse("send", args=[posting.pk]), {"to": foreign.pk}, follow=True).status_code == 200
    assert not Message.objects.exists()
