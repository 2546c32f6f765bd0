"""What staff sees and says of the pages of a source."""

from datetime import timedelta

import pytest

from apps.retrieval.models import Crawl, Page
from tests.builders import NOON, a_posting, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client):
    client.force_login(a_user(is_staff=True))
    return client


@pytest.fixture
def site():
    source = a_source(url="https://site.example/", title="The Daily Bridge", kind="site", listed=True)
    Crawl.objects.create(source=source, pages_per_day=500)
    return source


def a_page(site, number, **values):
    given = {"url": f"https://site.example/{number}", "found_at": NOON, "key": bytes([number] * 16)}
    return Page.objects.create(source=site, **given | values)


def test_the_pages_of_a_site_are_listed_with_what_they_were_taken_for_and_why(staff, site):
    posting = a_posting(site)
    a_page(site, 1, kind=Page.Kind.NEWS, reason="It has a long text.", posting=posting, probability=0.93, fetches=1)
    a_page(site, 2, kind=Page.Kind.VALUELESS, reason="It is a form.", due_at=NOON + timedelta(days=7))
    page = staff.get(f"/sources/{site.pk}/pages/").content.decode()
    assert "It has a long text." in page
    assert f"/posting/{posting.pk}/" in page
    only_news = staff.get(f"/sources/{site.pk}/pages/?kind=news").content.decode()
    assert "It is a form." not in only_news
    found = staff.get(f"/sources/{site.pk}/pages/?words=example/2").content.decode()
    assert "It is a form." in found
    assert "It has a long text." not in found


def test_the_list_takes_as_many_queries_for_many_pages_as_for_few(staff, site, django_assert_max_num_queries):
    for number in range(60):
        a_page(site, number)
    staff.get(f"/sources/{site.pk}/pages/")
    with django_assert_max_num_queries(16):
        staff.get(f"/sources/{site.pk}/pages/")


def test_limits_are_changed_and_wrong_ones_are_refused(staff, site):
    values = {"pages_per_day": 50, "max_pages": 1_000, "max_index_pages": 5, "max_depth": 3}
    assert staff.post(f"/sources/{site.pk}/pages/", values).status_code == 302
    assert Crawl.objects.get(pk=site.pk).pages_per_day == 50
    answer = staff.post(f"/sources/{site.pk}/pages/", values | {"max_depth": 0})
    assert "greater than or equal to 1" in answer.content.decode()
    assert Crawl.objects.get(pk=site.pk).max_depth == 3


def test_a_page_is_excluded_or_fetched_again(staff, site):
    page = a_page(site, 1, due_at=NOON)
    staff.post(f"/sources/{site.pk}/pages/{page.pk}/", {"kind": "valueless"})
    page.refresh_from_db()
    assert (page.kind, page.decided_by, page.due_at) == ("valueless", "operator", None)
    staff.post(f"/sources/{site.pk}/pages/{page.pk}/", {"kind": ""})
    page.refresh_from_db()
    assert page.due_at is not None


def test_another_sources_page_is_not_decided_on_here(staff, site):
    page = a_page(site, 1, due_at=NOON)
    assert staff.post(f"/sources/{a_source().pk}/pages/{page.pk}/", {"kind": "valueless"}).status_code == 404


def test_keen_tags_are_typed_and_taken_back(staff, site):
    address = f"/sources/{site.pk}/keen-tags/"
    staff.post(address, {"tags": "<p> B em, my-element"})
    assert Crawl.objects.get(pk=site.pk).keen_tags == ["b", "em", "my-element", "p"]
    assert "4 content tags of this site" in staff.get(address).content.decode()
    assert "is not the name of an element" in staff.post(address, {"tags": "p 3d;"}).content.decode()
    staff.post(address, {"tags": ""})
    assert Crawl.objects.get(pk=site.pk).keen_tags is None


def test_training_without_pages_says_what_is_missing(staff, site):
    answer = staff.post(f"/sources/{site.pk}/keen-tags/", {"train": "1"}, follow=True)
    assert "at least 2 are needed" in answer.content.decode()


@pytest.mark.parametrize("path", ["pages/", "keen-tags/"])
def test_only_staff_comes_in(client, site, path):
    client.force_login(a_user())
    assert client.get(f"/sources/{site.pk}/{path}").status_code == 403


@pytest.mark.parametrize("path", ["pages/", "keen-tags/"])
def test_pages_of_an_unknown_source_get_404(staff, path):
    assert staff.get(f"/sources/999999/{path}").status_code == 404
