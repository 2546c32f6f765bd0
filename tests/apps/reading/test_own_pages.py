"""Pages of what a person read, noted, tagged and shares, and what can be done there."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.following import actions
from apps.following import queries as following
from apps.following.actions.marking import Marked
from apps.following.models import Mark, Note, Playback, Reading, Share, Tag, Tagging
from apps.web.pages.rows import proxied_recording
from tests.builders import NOON, a_follow, a_posting, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
PAGES = ["history", "notes", "tags", "shares"]


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


@pytest.mark.parametrize("name", PAGES)
def test_they_require_sign_in(client, name):
    assert client.get(reverse(name)).url.startswith(reverse("account_login"))


@pytest.mark.parametrize("name", PAGES)
def test_they_say_so_where_nothing_is_there(client, user, name):
    assert 'class="empty"' in client.get(reverse(name)).text


@pytest.mark.parametrize("name", PAGES)
def test_their_queries_do_not_grow_with_rows(client, user, name):
    source = a_follow(user).source
    costs = []
    for _ in range(2):
        for posting in some_postings(9, source):
            actions.marks.write_note(user, posting.pk, "Words", now=NOON)
            actions.marks.remember_read(user, [posting.pk], now=NOON)
            actions.marks.save_position(user, posting.pk, "https://a.example/1.mp3", 9.0, now=NOON)
            actions.marks.tag(user, [posting.pk], f"tag {posting.pk}", NOON)
            actions.marks.share(user, posting.pk, now=NOON)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse(name)).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_tags_of_rows_cost_no_query_of_their_own(client, user):
    source = a_follow(user).source
    costs = []
    for _ in range(2):
        for posting in some_postings(5, source):
            actions.marks.tag(user, [posting.pk], f"tag {posting.pk % 3}", NOON)
        with CaptureQueriesContext(connection) as queries:
            page = client.get("/river/").text
        costs.append(len(queries))
    assert costs[0] == costs[1]
    assert page.count('class="row-tag"') == 10


# --- history ----------------------------------------------------------------------------------------------------------
def test_history_has_what_was_opened_or_marked_read_one_by_one(client, user):
    source = a_follow(user).source
    opened, marked, left = some_postings(3, source)
    client.get(reverse("posting", args=[opened.pk]))
    client.post(reverse("mark", args=[marked.pk]), {"read": "yes"})
    client.post(reverse("mark", args=[left.pk]), {"starred": "yes"})
    client.post(reverse("mark_all"), {"scope": "all-0", "shown_at": timezone.now().isoformat()})
    page = client.get(reverse("history")).text
    assert re.findall(r'id="posting-(\d+)"', page) == [str(marked.pk), str(opened.pk)]


def test_a_long_history_goes_on(client, user):
    postings = some_postings(45, a_follow(user).source)
    for minute, posting in enumerate(postings):
        actions.marks.remember_read(user, [posting.pk], now=NOON + timedelta(minutes=minute))
    more = client.get(reverse("history")).text.split('data-more href="')[1].split('"')[0]
    rest = client.get(reverse("history") + more, headers=HTMX).text
    assert re.findall(r'id="posting-(\d+)"', rest) == [str(posting.pk) for posting in reversed(postings[:5])]
    assert client.get(reverse("history") + "?start=nonsense").status_code == 404


def test_a_cleared_history_leaves_postings_read(client, user):
    posting = a_posting(a_follow(user).source)
    client.get(reverse("posting", args=[posting.pk]))
    client.post(reverse("clear_history"))
    assert not Reading.objects.exists()
    assert Mark.objects.get().read


def test_history_leaves_out_what_may_no_longer_be_opened(client, user):
    follow = a_follow(user)
    posting = a_posting(follow.source)
    client.get(reverse("posting", args=[posting.pk]))
    actions.follows.unfollow(user, follow.source_id)
    assert "data-posting" not in client.get(reverse("history")).text


# --- notes ------------------------------------------------------------------------------------------------------------
def test_a_note_is_written_on_the_page_of_its_posting(client, user):
    posting = a_posting(a_follow(user).source, title="The ship")
    address = reverse("note", args=[posting.pk])
    client.post(address, {"text": "Ask <Ann> about it"})
    assert "Ask &lt;Ann&gt; about it" in client.get(reverse("posting", args=[posting.pk])).text
    notes = client.get(reverse("notes"), {"q": "ann"}).text
    assert "The ship" in notes
    assert "Ask &lt;Ann&gt; about it" in notes
    client.post(address, {"do": "delete"})
    assert not Note.objects.exists()


def test_a_note_that_is_too_long_is_refused_in_words(client, user):
    posting = a_posting(a_follow(user).source)
    page = client.post(reverse("note", args=[posting.pk]), {"text": "x" * 10_001}, follow=True).text
    assert "at most 10,000 characters" in page
    assert not Note.objects.exists()


def test_foreign_notes_cannot_be_read_or_changed(client, user):
    posting = a_posting()
    actions.marks.write_note(a_user(), posting.pk, "A secret", now=NOON)
    client.post(reverse("note", args=[posting.pk]), {"do": "delete"})
    assert Note.objects.get().text == "A secret"
    assert "A secret" not in client.get(reverse("posting", args=[posting.pk])).text
    assert "A secret" not in client.get(reverse("notes")).text


def test_a_note_outlives_the_right_to_open_its_posting(client, user):
    follow = a_follow(user)
    posting = a_posting(follow.source, title="Not for everybody")
    actions.marks.write_note(user, posting.pk, "My own words", now=NOON)
    actions.follows.unfollow(user, follow.source_id)
    page = client.get(reverse("notes")).text
    assert "My own words" in page
    assert "Not for everybody" not in page


# --- tags -------------------------------------------------------------------------------------------------------------
def test_tags_are_renamed_put_together_and_deleted(client, user):
    one, two = (posting.pk for posting in some_postings(2, a_follow(user).source))
    for posting_id, name in ((one, "a"), (two, "b")):
        actions.marks.tag(user, [posting_id], name, NOON)
    a, b = (Tag.objects.get(name=name).pk for name in "ab")
    client.post(reverse("change_tag", args=[a]), {"do": "rename", "name": "alpha"})
    assert "alpha" in client.get(reverse("tags")).text
    text = client.post(reverse("change_tag", args=[a]), {"name": "b"}, follow=True).text
    assert "“b” already exists" in text
    assert (
        "Choose another of your tags"
        in client.post(reverse("change_tag", args=[a]), {"do": "merge", "into": "none"}, follow=True).text
    )
    client.post(reverse("change_tag", args=[a]), {"do": "merge", "into": "b"})
    assert {row.posting_id for row in Tagging.objects.filter(tag=b)} == {one, two}
    client.post(reverse("change_tag", args=[b]), {"do": "delete"})
    assert not Tag.objects.exists()


def test_foreign_tags_get_404(client, user):
    other, posting = a_user(), a_posting()
    actions.marks.tag(other, [posting.pk], "theirs", NOON)
    assert client.post(reverse("change_tag", args=[Tag.objects.get().pk]), {"do": "delete"}).status_code == 404
    assert Tag.objects.exists()


def test_a_tag_is_put_on_a_posting_of_a_list_and_leads_back_to_it(client, user):
    posting = a_posting(a_follow(user).source)
    answer = client.post(reverse("tag", args=[posting.pk]), {"tag": "news", "next": "/river/?show=all"})
    assert answer.url == "/river/?show=all"
    assert '<span class="row-tag" dir="auto">news</span>' in client.get("/river/").text


def test_the_menu_of_a_row_shows_what_came_of_it(client, user):
    posting = a_posting(a_follow(user).source)
    place = {"scope": "all-0", "order": "newest", "shown_at": NOON.isoformat(), "next": "/river/"}
    menu = client.get(reverse("menu", args=[posting.pk]), place, headers=HTMX).text
    assert "<html" not in menu
    assert "Mark as read up to here" in menu
    tagged = client.post(reverse("tag", args=[posting.pk]), place | {"tag": "news"}, headers=HTMX).text
    assert f'id="row-tags-{posting.pk}" hx-swap-oob="true"' in tagged
    assert NOON.isoformat() in tagged
    refused = client.post(reverse("tag", args=[posting.pk]), place | {"tag": " "}, headers=HTMX).text
    assert "A tag needs a name." in refused
    assert "<html" in client.get(reverse("menu", args=[posting.pk]), place).text


def test_a_posting_that_one_may_not_open_has_no_menu(client, user):
    posting = a_posting(a_source())
    for name in ("menu", "place"):
        assert client.get(reverse(name, args=[posting.pk])).status_code == 404
    for name in ("tag", "note", "share", "mark_up_to", "place"):
        form = {"tag": "x", "text": "x", "scope": "all-0", "shown_at": NOON.isoformat(), "number": "0", "seconds": "1"}
        assert client.post(reverse(name, args=[posting.pk]), form).status_code == 404


# --- marks ------------------------------------------------------------------------------------------------------------
def ages(user):
    """Unread postings of a person, in days since they were published."""
    left = following.unread(following.postings_in(user, following.Scope("all")), user)
    return {(timezone.now() - posting.published_at).days for posting in left}


@pytest.mark.parametrize(("days", "left"), [("1", {0}), ("7", {0, 2}), ("30", {0, 2, 10}), ("", set())])
def test_articles_older_than_some_days_are_marked_read(client, user, days, left):
    source, now = a_follow(user).source, timezone.now()
    for age in (0, 2, 10, 40):
        a_posting(source, published_at=now - timedelta(days=age, minutes=5))
    form = {"scope": "all-0", "shown_at": now.isoformat(), "older_than": days}
    page = client.post(reverse("mark_all"), form, follow=True).text
    assert ages(user) == left
    count = 4 - len(left)
    assert f"{count} article{'' if count == 1 else 's'} marked as read." in page


@pytest.mark.parametrize(
    "form",
    [
        *({"older_than": days} for days in ("x", "-1")),
        {"scope": "tag"},
        *({"shown_at": at} for at in ("yesterday", "0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00")),
    ],
)
def test_half_a_form_marks_nothing(client, user, form):
    given = {"scope": "all-0", "shown_at": NOON.isoformat()} | form
    assert client.post(reverse("mark_all"), given).status_code == 400
    assert client.post(reverse("undo"), {"undo": "yesterday"}).status_code == 400


def test_a_form_of_a_time_zone_that_no_place_has_marks_a_list(client, user):
    form = {"scope": "all-0", "shown_at": "2026-01-01T00:00+23:59"}
    assert client.post(reverse("mark_all"), form).status_code == 302


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_a_list_is_marked_read_up_to_here_and_that_is_undone(client, user, order):
    shown = some_postings(4, a_follow(user).source)
    if order == "oldest":
        shown.reverse()
    actions.marks.mark_read(user, [shown[0].pk], read=True, now=NOON)
    form = {"scope": "all-0", "shown_at": timezone.now().isoformat(), "order": order, "next": "/river/?show=all"}
    page = client.post(reverse("mark_up_to", args=[shown[2].pk]), form, follow=True).text
    assert "2 articles marked as read." in page

    def unread():
        rows = following.with_state(following.postings_in(user, following.Scope("all")), user)
        return {posting.pk for posting in rows if posting.unread}

    assert unread() == {shown[3].pk}
    undo = re.search(r'action="/river/undo/".*?name="undo" value="([^"]*)"', page)[1]
    assert "2 articles marked as unread." in client.post(reverse("undo"), {"undo": undo}, follow=True).text
    assert unread() == {posting.pk for posting in shown[1:]}
    assert "nothing left to undo" in client.post(reverse("undo"), {"undo": undo}, follow=True).text


def test_marking_a_whole_list_offers_to_undo_just_that(client, user, monkeypatch):
    calls = []
    monkeypatch.setattr(actions.marking, "mark_all_read", lambda *_args, **_named: Marked(3, 17))
    monkeypatch.setattr(
        actions.marking, "undo_mark_all", lambda user, undo_id, *, now: calls.append((user, undo_id)) or 3
    )
    page = client.post(
        reverse("mark_all"), {"scope": "all-0", "shown_at": NOON.isoformat(), "next": "/river/"}, follow=True
    ).text
    assert 'name="undo" value="17"' in page
    assert "3 articles marked as unread." in client.post(reverse("undo"), {"undo": "17"}, follow=True).text
    assert calls == [(user, 17)]


def test_postings_that_were_scrolled_past_are_marked_read_together(client, user):
    first, second, third = some_postings(3, a_follow(user).source)
    hidden = a_posting(a_source())
    numbers = {"posting": [first.pk, second.pk, hidden.pk], "next": "/river/"}
    answer = client.post(reverse("seen"), numbers).text
    assert set(Mark.objects.filter(read=True).values_list("posting", flat=True)) == {first.pk, second.pk}
    assert set(Reading.objects.values_list("posting", flat=True)) == {first.pk, second.pk}
    assert answer.count('hx-swap-oob="true"') == 2
    assert "[data-count='all']\">1<" in answer
    assert f"/river/#posting-{first.pk}" in answer
    assert str(third.pk) not in re.findall(r'id="tools-(\d+)"', answer)


@pytest.mark.parametrize("numbers", [["x"], [""], ["1"] * 201])
def test_only_numbers_of_postings_are_marked_by_scrolling(client, user, numbers):
    assert client.post(reverse("seen"), {"posting": numbers}).status_code == 400


# --- recordings -------------------------------------------------------------------------------------------------------
SHOW = {"url": "https://a.example/show.mp3", "media_type": "audio/mpeg", "length": 9, "duration": "", "title": "Show"}
FILM = {"url": "https://a.example/film.mp4", "media_type": "video/mp4", "length": 9, "duration": "", "title": "Film"}
PAPER = {"url": "https://a.example/paper.pdf", "media_type": "application/pdf", "length": 9, "title": ""}


def test_playback_resumes_at_the_stored_position(client, user):
    posting = a_posting(a_follow(user).source, enclosures=[PAPER, SHOW, FILM])
    address = reverse("place", args=[posting.pk])
    assert client.post(address, {"number": "2", "seconds": "754.2"}).status_code == 204
    assert client.get(address).json() == {"number": 2, "seconds": 754.2}
    page = client.get(reverse("posting", args=[posting.pk])).text
    assert f'src="{proxied_recording(FILM["url"])}#t=754"' in page
    assert f'src="{proxied_recording(SHOW["url"])}"' in page
    assert "You stopped at 12:34." in page
    assert posting.title in client.get(reverse("history")).text.split("Not finished")[1]
    client.post(address, {"number": "2", "seconds": "0"})
    assert not Playback.objects.exists()


def test_a_place_is_that_of_the_first_recording_where_addresses_change(client, user):
    posting = a_posting(a_follow(user).source, enclosures=[PAPER, SHOW])
    actions.marks.save_position(user, posting.pk, "https://a.example/show.mp3?token=1", 60.0, now=NOON)
    assert f"{proxied_recording(SHOW['url'])}#t=60" in client.get(reverse("posting", args=[posting.pk])).text


@pytest.mark.parametrize(
    ("number", "seconds"), [("0", "1"), ("7", "1"), ("1", "-1"), ("1", "nan"), ("1", "inf"), ("", ""), ("9" * 30, "1")]
)
def test_a_place_must_be_one_in_a_recording(client, user, number, seconds):
    posting = a_posting(a_follow(user).source, enclosures=[PAPER, SHOW])
    address = reverse("place", args=[posting.pk])
    assert client.post(address, {"number": number, "seconds": seconds}).status_code == 400
    assert not Playback.objects.exists()


# --- shared postings --------------------------------------------------------------------------------------------------
def shared_address(client, posting):
    client.post(reverse("share", args=[posting.pk]))
    return reverse("shared", args=[Share.objects.get(posting=posting).secret])


def test_a_shared_posting_is_public_at_its_address(client, user):
    source = a_follow(user, a_source(url="https://feeds.example/my-secret-token", title="The Wire")).source
    posting = a_posting(source, title="The ship", text="Ships sailed. " * 100, html="<p>The whole text.</p>")
    address = shared_address(client, posting)
    client.logout()
    answer = client.get(address)
    assert all(words in answer.text for words in ("The ship", "The Wire", "Ships sailed.", posting.url))
    assert "The whole text." not in answer.text
    assert "my-secret-token" not in answer.text
    assert user.username not in answer.text
    assert "noindex" in answer["X-Robots-Tag"]
    assert '<meta name="robots" content="noindex' in answer.text
    assert answer["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer["Cache-Control"]


def test_a_shared_posting_is_taken_back(client, user):
    posting = a_posting(a_follow(user).source)
    address = shared_address(client, posting)
    assert address in client.get(reverse("shares")).text
    client.post(reverse("share", args=[posting.pk]), {"do": "end"})
    assert client.get(address).status_code == 404
    assert client.get(reverse("shared", args=["nonsense"])).status_code == 404


def test_foreign_shares_are_invisible_and_cannot_be_ended(client, user):
    other, posting = a_user(), a_posting()
    secret = actions.marks.share(other, posting.pk, now=NOON).secret
    assert secret not in client.get(reverse("shares")).text
    assert secret not in client.get(reverse("posting", args=[posting.pk])).text
    client.post(reverse("share", args=[posting.pk]), {"do": "end"})
    assert Share.objects.exists()
