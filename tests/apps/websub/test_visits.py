"""What a visit remembers of who announces a source's news."""

import pytest

from apps.retrieval.models import Schedule
from apps.sources.models import Source
from tests.apps.retrieval.retrieving import NOW, a_feed, a_scheduled_source, visit
from tests.apps.websub.conftest import HOUR

pytestmark = pytest.mark.django_db

TOPIC = "https://news.example/feed"
HUB = f'<https://hub.example/>; rel="hub", <{TOPIC}>; rel="self"'


def named(schedule: Schedule) -> tuple[str, str]:
    return schedule.hub_url, schedule.topic_url


@pytest.fixture
def source() -> Source:
    source = a_scheduled_source(url="https://news.example/here")
    visit(source, NOW, a_feed([NOW]), headers={"link": HUB})
    return source


def test_an_answer_names_a_hub_and_a_topic(source):
    assert named(Schedule.objects.get()) == ("https://hub.example/", TOPIC)


def test_answers_that_show_nothing_leave_them_as_they_are(source):
    assert named(visit(source, NOW + HOUR)) == ("https://hub.example/", TOPIC)  # 304
    assert named(visit(source, NOW + 2 * HOUR, a_feed([NOW]))) == ("https://hub.example/", TOPIC)  # the same bytes
    assert named(visit(source, NOW + 3 * HOUR, a_feed([NOW, NOW]), status=226)) == ("https://hub.example/", TOPIC)
    assert named(visit(source, NOW + 4 * HOUR, b"<!doctype html><title>Sorry</title>"))[0] == "https://hub.example/"


def test_an_answer_without_them_forgets_them(source):
    assert named(visit(source, NOW + HOUR, a_feed([NOW, NOW]))) == ("", "")
