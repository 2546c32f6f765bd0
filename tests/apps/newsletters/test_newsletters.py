"""Newsletters by mail: received from a pipe, stored once, shown like the articles of a feed."""

import os
from datetime import timedelta
from io import BytesIO, TextIOWrapper

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from apps.account_data.actions import delete_account
from apps.following.actions.errors import NotPossible
from apps.following.queries import Scope, subscription_list
from apps.following.queries.listing import positions
from apps.newsletters import actions
from apps.newsletters.actions import HELD_FOR, MAX_HELD, TooMany, UnknownAddress, add_newsletter, receive
from apps.newsletters.models import HeldLetter, Newsletter
from apps.postings.models import Posting
from apps.retrieval.actions.following import unfollow
from apps.retrieval.models import Schedule
from apps.retrieval.queries import to_check
from apps.sources.models import Source
from tests.algorithms.test_letters import a_mail
from tests.builders import NOON, a_user

pytestmark = pytest.mark.django_db
DOMAIN = "letters.example"
PIXEL = '<p>Tea</p><img src="https://t.example/o.gif" width="1" height="1">'


@pytest.fixture(autouse=True)
def domain(settings):
    settings.NEWSLETTER_DOMAIN = DOMAIN


def a_newsletter(user=None, site="news.example"):
    return add_newsletter(user or a_user(), "Tea", site, now=NOON)


def address_of(newsletter):
    return f"{newsletter.token}@{DOMAIN}"


def piped(monkeypatch, mail, recipient):
    """The exit code of the command for a mail on its standard input."""
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(mail)))
    try:
        call_command("receive_mail", recipient, stderr=open(os.devnull, "w"))  # noqa: SIM115
    except SystemExit as end:
        return end.code
    return os.EX_OK


# --- what is received -------------------------------------------------------------------------------------------------
def test_a_mail_is_an_unread_article_of_its_newsletter_without_trackers_and_stored_once():
    newsletter = a_newsletter()
    for _ in range(2):
        assert receive(address_of(newsletter).upper(), a_mail(PIXEL), now=NOON)
    posting = Posting.objects.get()
    assert (posting.source_id, posting.title, posting.author) == (newsletter.pk, "News", "Ada")
    assert "Tea" in posting.html
    assert "t.example" not in posting.html
    user = newsletter.user
    assert [place.id for place in positions(user, Scope("all"), unread_only=True, limit=9)] == [posting.pk]


def test_a_newsletter_is_private_and_never_checked_nor_exported():
    newsletter = a_newsletter()
    source = newsletter.source
    assert (source.kind, source.listed, source.site_url) == ("newsletter", False, "https://news.example/")
    assert newsletter.token not in source.url
    assert not to_check().exists()
    assert not Schedule.objects.exists()
    assert subscription_list(newsletter.user).subscriptions == ()


def test_mails_of_other_senders_wait_until_the_person_confirms_them():
    newsletter = a_newsletter(site="")
    user, address = newsletter.user, address_of(newsletter)
    for mail in (a_mail(), a_mail(), a_mail(text="Second"), a_mail(From="Eve <eve@other.example>")):
        assert not receive(address, mail, now=NOON)
    assert not Posting.objects.exists()
    first, _, eve = HeldLetter.objects.order_by("pk")
    assert not actions.confirm_sender(a_user(), first.pk, now=NOON)
    assert actions.confirm_sender(user, first.pk, now=NOON)
    assert Posting.objects.count() == 2
    assert list(HeldLetter.objects.all()) == [eve]
    assert receive(address, a_mail(text="Third", From="news@mail.news.example"), now=NOON)
    assert not actions.refuse_letter(a_user(), eve.pk)
    assert actions.refuse_letter(user, eve.pk)


@pytest.mark.parametrize("written", ["Fri, 31 Dec 9999 23:59:00 -0500", "Fri, 01 Jan 2021 10:00:00 +9959"])
def test_a_mail_with_an_impossible_date_can_be_read(client, written):
    newsletter = a_newsletter()
    receive(address_of(newsletter), a_mail(Date=written), now=NOON)
    client.force_login(newsletter.user)
    assert client.get(reverse("posting", args=[Posting.objects.get().pk])).status_code == 200


def test_mails_that_wait_are_limited_and_expire():
    newsletter = a_newsletter(site="")
    for number in range(MAX_HELD):
        receive(address_of(newsletter), a_mail(text=f"{number}"), now=NOON)
    receive(address_of(newsletter), a_mail(text="0"), now=NOON)  # is there already
    with pytest.raises(TooMany):
        receive(address_of(newsletter), a_mail(text="another"), now=NOON)
    assert HeldLetter.objects.count() == MAX_HELD
    receive(address_of(newsletter), a_mail(), now=NOON + HELD_FOR + timedelta(seconds=1))
    assert HeldLetter.objects.count() == 1


def test_the_mails_of_a_day_are_limited(monkeypatch):
    monkeypatch.setattr(actions, "MAX_A_DAY", 2)
    newsletter = a_newsletter()
    receive(address_of(newsletter), a_mail(text="1"), now=NOON)
    receive(address_of(newsletter), a_mail(From="eve@other.example"), now=NOON)
    with pytest.raises(TooMany):
        receive(address_of(newsletter), a_mail(text="3"), now=NOON)
    assert receive(address_of(newsletter), a_mail(text="3"), now=NOON + timedelta(days=1, seconds=1))


def test_an_address_ends_with_the_newsletter_the_follow_or_the_account():
    removed, unfollowed, deleted = a_newsletter(), a_newsletter(), a_newsletter()
    receive(address_of(removed), a_mail(), now=NOON)
    assert not actions.remove_newsletter(a_user(), removed.pk)
    assert actions.remove_newsletter(removed.user, removed.pk)
    unfollow(unfollowed.user, unfollowed.pk, now=NOON)
    delete_account(deleted.user, now=NOON)
    assert not Source.objects.filter(pk__in=[removed.pk, deleted.pk]).exists()
    for each in (removed, unfollowed, deleted):
        with pytest.raises(UnknownAddress):
            receive(address_of(each), a_mail(), now=NOON)


def test_without_a_domain_there_are_no_addresses(settings):
    newsletter = a_newsletter()
    settings.NEWSLETTER_DOMAIN = ""
    with pytest.raises(NotPossible, match="receives no mail"):
        a_newsletter()
    with pytest.raises(UnknownAddress):
        receive(newsletter.token, a_mail(), now=NOON)


# --- the command ------------------------------------------------------------------------------------------------------
def test_exit_codes_have_mail_servers_bounce_what_is_wrong_and_retry_what_may_pass(monkeypatch):
    address = address_of(a_newsletter())
    assert piped(monkeypatch, a_mail(), address) == os.EX_OK
    assert piped(monkeypatch, a_mail(), f"nobody@{DOMAIN}") == os.EX_NOUSER
    assert piped(monkeypatch, b"", address) == os.EX_DATAERR
    assert piped(monkeypatch, b"x" * 5_000_001, address) == os.EX_DATAERR
    monkeypatch.setattr(actions, "MAX_A_DAY", 1)
    assert piped(monkeypatch, a_mail(text="More"), address) == os.EX_TEMPFAIL
    monkeypatch.setattr("apps.newsletters.management.commands.receive_mail.receive", None)
    assert piped(monkeypatch, a_mail(), address) == os.EX_TEMPFAIL
    assert Posting.objects.count() == 1


# --- pages ------------------------------------------------------------------------------------------------------------
def test_a_person_gets_an_address_for_a_site_and_reads_the_mail_in_their_list(client):
    user = a_user()
    client.force_login(user)
    assert "Get an address for it" in client.get(reverse("add")).text
    assert (
        'value="https://news.example/about"'
        in client.get(reverse("newsletters"), {"site": "https://news.example/about"}).text
    )
    form = {"do": "add", "name": "Tea & cake", "site": "https://www.news.example/about"}
    assert "Tea &amp; cake" in client.post(reverse("change_newsletter"), form, follow=True).text
    newsletter = Newsletter.objects.get()
    assert newsletter.domains == ["news.example"]
    receive(address_of(newsletter), a_mail(PIXEL, List_Unsubscribe="<https://news.example/leave>"), now=timezone.now())
    receive(address_of(newsletter), a_mail(Subject="Buy <b>", From="eve@other.example"), now=timezone.now())
    assert "News" in client.get(reverse("river")).text
    article = client.get(reverse("posting", args=[Posting.objects.get().pk])).text
    assert 'href="https://news.example/leave"' in article
    page = client.get(reverse("newsletters")).text
    assert address_of(newsletter) in page
    assert 'href="https://news.example/leave"' in page
    assert "Buy &lt;b&gt;" in page
    confirm = {"do": "confirm", "number": HeldLetter.objects.get().pk}
    client.post(reverse("change_newsletter"), confirm)
    assert Posting.objects.count() == 2
    client.post(reverse("change_newsletter"), {"do": "remove", "number": newsletter.pk})
    assert not Posting.objects.exists()


def test_the_page_of_newsletters_does_not_load_the_mails_that_wait(client, django_assert_max_num_queries):
    newsletter = a_newsletter(site="")
    receive(address_of(newsletter), a_mail(), now=NOON)
    client.force_login(newsletter.user)
    with django_assert_max_num_queries(20) as queries:
        assert "Waiting:" in client.get(reverse("newsletters")).text
    assert not any('"content"' in query["sql"] for query in queries)


def test_the_pages_of_a_newsletter_as_a_feed_can_be_opened(client):
    newsletter = a_newsletter()
    receive(address_of(newsletter), a_mail(), now=NOON)
    client.force_login(newsletter.user)
    for name in ("river_source", "source", "edit_follow"):
        assert client.get(reverse(name, args=[newsletter.pk])).status_code == 200, name
    assert client.get(reverse("feed_health")).status_code == 200
