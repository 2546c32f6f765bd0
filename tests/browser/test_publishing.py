"""A user publishes a list as a feed, and saves a page of another site."""

import pytest
from playwright.sync_api import Page, expect

from apps.following.models import Mark
from apps.postings.queries.recognition import link_key_of
from apps.published_feeds.models import PrivateAddress
from tests.browser.scripts import with_and_without_scripts
from tests.browser.test_reading import sign_in
from tests.builders import a_folder, a_follow, a_posting, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@with_and_without_scripts
def test_a_folder_gets_an_address_and_another_one(page: Page):
    user = a_user()
    folder = a_folder(user, "Papers")
    a_posting(a_follow(user, folders=(folder,)).source)
    sign_in(page, user)
    page.goto(f"/river/folder/{folder.pk}/")
    main = page.get_by_role("main")
    main.get_by_title("More", exact=True).click()
    main.get_by_role("button", name="Create a private URL").click()
    address = main.get_by_role("link", name=f"/feeds/{PrivateAddress.objects.get().secret}/rss/")
    expect(address).to_be_visible()
    main.get_by_role("button", name="New URLs for Papers").click()
    expect(main.get_by_text("the old ones no longer work")).to_be_visible()
    expect(address).to_have_count(0)
    page.goto(f"/river/folder/{folder.pk}/")
    main.get_by_title("More", exact=True).click()
    expect(main.get_by_role("link", name="Atom")).to_be_visible()


@with_and_without_scripts
def test_a_page_from_elsewhere_is_starred(page: Page):
    user = a_user()
    url = "https://news.example/rain/1"
    posting = a_posting(a_follow(user).source, url=url, title="Rain", link_key=link_key_of(url))
    sign_in(page, user)
    page.goto(f"/save/?url={url}&title=Rain")
    page.get_by_role("button", name="Star").click()
    expect(page.get_by_role("heading", name="Rain")).to_be_visible()
    assert Mark.objects.filter(user=user, posting=posting, starred_at__isnull=False).exists()
