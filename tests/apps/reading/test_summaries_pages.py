"""The summary on a posting's page."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from apps.postings.models import Posting
from apps.reading.pages.news import story_part
from apps.summaries import actions
from apps.web.pages.summaries import summary_of_posting
from tests.builders import a_posting, a_source

pytestmark = pytest.mark.django_db

SENTENCES = [
    f"The {which} bridge was {what} on {day} after the storm, <b>officials</b> of the harbour told our paper later."
    for which, what, day in zip(
        ["harbour", "old", "stone", "new", "wooden", "iron", "last"],
        ["closed", "inspected", "left", "searched", "opened", "watched", "painted"],
        ["Monday", "Tuesday", "Sunday", "Friday", "Monday", "Thursday", "Monday"],
        strict=True,
    )
]


@pytest.fixture
def posting() -> Posting:
    found = a_posting(text=" ".join(SENTENCES), text_hash=b"1" * 16, language="en", title="Bridges")
    actions.consume()
    return found


def test_a_default_summary_has_three_to_five_sentences(posting: Posting):
    part = summary_of_posting(AnonymousUser(), posting.pk, None)
    assert part is not None
    assert len(part["sentences"]) == 3
    assert part["percent"] == round(100 * 3 / 7)
    assert set(part["sentences"]) <= set(SENTENCES)


@pytest.mark.parametrize(("requested", "shown"), [(10, 10), (14, 10), (15, 10), (44, 40), (0, 10), (999, 50)])
def test_the_step_nearest_to_the_requested_ratio_is_shown(posting: Posting, requested: int, shown: int):
    part = summary_of_posting(AnonymousUser(), posting.pk, requested)
    assert part is not None
    assert part["percent"] == shown


def test_the_page_shows_the_publishers_words_before_ours_and_marks_ours(client: Client, posting: Posting):
    Posting.objects.filter(pk=posting.pk).update(text="A teaser & more.", text_hash=b"2" * 16)
    Posting.objects.filter(pk=posting.pk).update(text=posting.text, text_hash=b"1" * 16, extractor="keen-1")
    html = client.get(reverse("posting", args=[posting.pk])).content.decode()
    assert html.index("A teaser &amp; more.") < html.index('class="prose"') < html.index(">Summary<")
    assert "<b>officials</b>" not in html
    assert 'href="/search/?q=bridge"' in html


def test_links_request_another_length_without_script(client: Client, posting: Posting):
    address = reverse("posting", args=[posting.pk])
    html = client.get(address, {"percent": "20"}).content.decode()
    assert f'<a href="{address}?percent=50#summary"' in html
    current = html[: html.index('aria-current="true">20%')]
    assert current.rindex("<a ") > current.rindex("</a>")
    answer = client.get(reverse("summary", args=[posting.pk]), {"percent": "50"})
    assert answer.status_code == 302
    assert answer["Location"] == f"{address}?percent=50#summary"


def test_htmx_gets_the_part_alone(client: Client, posting: Posting):
    answer = client.get(reverse("summary", args=[posting.pk]), {"percent": "50"}, headers={"HX-Request": "true"})
    html = answer.content.decode()
    assert html.strip().startswith("<section") or html.strip().startswith("\n<section")
    assert "<html" not in html
    assert html.count("officials") == 4


@pytest.mark.parametrize("requested", ["", "x", "-5", "²", "9" * 30])
def test_an_invalid_length_is_ignored(client: Client, posting: Posting, requested: str):
    assert client.get(reverse("posting", args=[posting.pk]), {"percent": requested}).status_code == 200


def test_a_short_posting_has_no_summary_and_invisible_ones_get_404(client: Client):
    short = a_posting(text="Too short. To be said shorter.")
    assert "Summary" not in client.get(reverse("posting", args=[short.pk])).content.decode()
    hidden = a_posting(a_source(listed=False), text=" ".join(SENTENCES))
    answer = client.get(reverse("summary", args=[hidden.pk]), headers={"HX-Request": "true"})
    assert answer.status_code == 404


def test_a_story_names_the_source_and_time_of_each_sentence_and_leaves_out_what_is_hidden():
    sources = [a_source(listed=True, title="Gazette"), a_source(listed=True, title="Herald"), a_source(listed=False)]
    texts = [
        "A storm closed the harbour bridge. The mayor was in Rome.",
        "A storm closed the harbour bridge. Two ferries replace it until Friday.",
        "A storm closed the harbour bridge. Secret divers look for a pillar of stone.",
    ]
    postings = [a_posting(source, text=text, language="en") for source, text in zip(sources, texts, strict=True)]
    summary = story_part(AnonymousUser(), [posting.pk for posting in postings])
    assert [part["source"] for part in summary] == ["Gazette", "Gazette", "Herald"]
    assert [part["posting_id"] for part in summary] == [postings[0].pk, postings[0].pk, postings[1].pk]
    assert [part["published_at"] for part in summary] == [
        each.published_at for each in postings[:1] * 2 + postings[1:2]
    ]
    assert "ferries" in summary[2]["text"]
    assert not any("divers" in part["text"] for part in summary)
