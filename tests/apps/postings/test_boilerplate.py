"""What a source repeats is learned as its postings are stored, and is left out of excerpts."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from apps.api.dialects.rest.schemas.postings import serialize
from apps.postings.actions import Document, PageOfPosting, fill, store
from apps.postings.algorithms.extraction.articles import Article
from apps.postings.models import Boilerplate, Posting
from apps.postings.queries import boilerplate
from apps.postings.queries.boilerplate import learned, strippers
from apps.sources.formats.feed import ParsedEntry
from apps.web.pages.rows import rows
from tests.builders import a_source, a_user

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
REPORTS = (
    ("Storm floods Lisbon", "The river left its banks on Friday night."),
    ("Bank raises rates", "Inflation stays above the target, said its governor."),
    ("Derby ends in a draw", "A late penalty saved the visitors one point."),
    ("Museum reopens after fire", "Visitors queued around the block for frescoes."),
    ("New vaccine approved", "Regulators looked at trials with many volunteers."),
)
FOOTER = "Sign up to our newsletter."

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_common():
    boilerplate._common.cache_clear()


def entries(template: str = "<p>{footer}</p><p>{text}</p>") -> list[ParsedEntry]:
    return [
        ParsedEntry(
            guid=title,
            link=f"https://news.example/{number}",
            title=title,
            content=template.format(footer=FOOTER, text=text),
            published=NOON - timedelta(hours=number),
        )
        for number, (title, text) in enumerate(REPORTS)
    ]


def stored(source, given, received_at=NOON):
    [result] = store([Document(source.pk, given, "", "", "en", received_at)])
    return result


def test_excerpts_of_a_first_document_are_without_what_all_its_entries_repeat():
    source = a_source()
    stored(source, entries())
    leads = dict(Posting.objects.values_list("title", "lead"))
    assert leads == dict(REPORTS)
    assert all(FOOTER in text for text in Posting.objects.values_list("text", flat=True))


def test_postings_without_boilerplate_store_no_second_excerpt():
    stored(a_source(), entries("<p>{text}</p>"))
    assert set(Posting.objects.values_list("lead", flat=True)) == {None}


def test_learned_boilerplate_is_shown_with_its_share():
    source = a_source()
    stored(source, entries())
    [found] = learned(source.pk)
    assert (found.sample, found.share) == (FOOTER, pytest.approx(1.0))
    assert found.at == NOON.timestamp()
    assert learned(a_source().pk) == []


def test_a_document_that_is_stored_twice_is_learned_once():
    source = a_source()
    stored(source, entries())
    before = Boilerplate.objects.values("state", "keys").get()
    stored(source, entries(), NOON + timedelta(hours=1))
    assert Boilerplate.objects.values("state", "keys").get() == before


def test_an_edited_posting_gets_a_new_excerpt():
    source = a_source()
    stored(source, entries())
    stored(source, entries("<p>{footer}</p><p>Corrected: {text}</p>"), NOON + timedelta(hours=1))
    assert all(lead.startswith("Corrected: ") for lead in Posting.objects.values_list("lead", flat=True))


def test_the_text_of_a_page_is_learned_and_stripped_too():
    source = a_source()
    stored(source, entries("<p>{text}</p>"))
    page = "<p>Photograph: Getty Images</p><p>{text}</p>"
    for posting in Posting.objects.order_by("id"):
        html = page.format(text=posting.text)
        article = Article(title=posting.title, text="", html=html, confidence=1.0, extractor="keen")
        assert fill(posting.pk, PageOfPosting(posting.url, article, b"", NOON))
    assert [each.sample for each in learned(source.pk)] == ["Photograph: Getty Images"]
    assert Posting.objects.latest("id").lead == REPORTS[-1][1]


def test_three_sources_teach_a_fourth_one():
    for _ in range(3):
        stored(a_source(), entries())
    boilerplate._common.cache_clear()
    fourth = a_source()
    assert strippers([fourth.pk]).strip(fourth.pk, f"Its first posting. {FOOTER}") == "Its first posting."


def test_common_boilerplate_is_read_once(django_assert_num_queries):
    with django_assert_num_queries(1):
        assert strippers([]).common == strippers([]).common == frozenset()


def test_lists_and_the_api_show_excerpts_without_boilerplate():
    source = a_source(listed=True)
    stored(source, entries())
    posting = Posting.objects.get(title=REPORTS[0][0])
    [row] = rows(AnonymousUser(), [posting.pk])
    assert row.excerpt == serialize(a_user(), [posting.pk])[posting.pk].excerpt == REPORTS[0][1]


def test_only_staff_see_on_the_feeds_page_what_it_repeats(client):
    source = a_source(listed=True)
    stored(source, entries())
    assert FOOTER not in client.get(reverse("source", args=[source.pk])).content.decode()
    client.force_login(a_user(is_staff=True))
    page = client.get(reverse("source", args=[source.pk])).content.decode()
    assert f'<td dir="auto">{FOOTER}</td><td class="number">100.0 %</td>' in page
