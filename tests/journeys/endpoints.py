"""Pages and programs that take addresses from people."""

import json
from collections.abc import Callable

from django.urls import reverse

from apps.alerts.models import Rule
from apps.web.pages.rows import proxied


def page(name: str, field: str = "address", **others: str) -> Callable:
    return lambda client, person, address: client.post(reverse(name), {field: address, **others})


def program(path: str, field: str, *, prefix: str = "", is_form: bool = False, **others: str) -> Callable:
    def send(client, person, address):
        fields = others | {field: prefix + address}
        body = {"data": fields} if is_form else {"data": json.dumps(fields), "content_type": "application/json"}
        return client.post(path, headers={"authorization": f"Bearer {person.secret}"}, **body)

    return send


def fetch_as_test(client, person, address):
    return client.get(reverse("test_source"), {"address": address})


def show_a_picture(client, person, address):
    return client.get(proxied(address))


def have_a_webhook_called(client, person, address):
    """Set the address, which is refused where it is wrong on its face, and press the button that tests it."""
    Rule.objects.filter(saved__user=person).update(webhook_url="")
    saved_id = Rule.objects.get(saved__user=person).saved_id
    values = {"webhook_url": address, "importance": "1"}
    answer = client.post(reverse("alert_rule", args=[saved_id]), values, follow=True)
    if not Rule.objects.get(saved__user=person).webhook_url:
        return answer
    return client.post(reverse("alert_test_webhook", args=[saved_id]), follow=True)


def call_a_webhook_that_was_set(client, person, address):
    """Such as before the operator closed a host."""
    Rule.objects.filter(saved__user=person).update(webhook_url=address)
    rule = Rule.objects.get(saved__user=person)
    return client.post(reverse("alert_test_webhook", args=[rule.saved_id]), follow=True)


GOOGLE_READER = "/reader/api/0/subscription/"
ENDPOINTS = {
    "add": page("add"),
    "list by address": page("opml"),
    "test of a source": fetch_as_test,
    "test of a new source": page("add_source", "url", test="test", weight="1", kind="feed"),
    "recipes for a source": page("add_source", "url", propose="propose", example="News", weight="1", kind="xpath"),
    "own interface": program("/api/v1/follows", "address"),
    "Miniflux": program("/v1/feeds", "feed_url"),
    "Miniflux' discovery": program("/v1/discover", "url"),
    "Google Reader's edit": program(f"{GOOGLE_READER}edit", "s", prefix="feed/", is_form=True, ac="subscribe"),
    "Google Reader's quickadd": program(f"{GOOGLE_READER}quickadd", "quickadd", is_form=True),
    "picture": show_a_picture,
    "webhook": have_a_webhook_called,
    "webhook of old": call_a_webhook_that_was_set,
}
