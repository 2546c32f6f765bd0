"""What people do on the pages, and what it leaves behind."""

import re
from datetime import timedelta
from io import BytesIO

import pytest
from django.urls import reverse
from django.utils import timezone
from django.views.defaults import server_error

from apps.accounts.models import User
from apps.following import actions
from apps.following import queries as following
from apps.following.models import Folder, Follow, Mark, Tag, Tagging
from apps.reading.pages.river import LENGTH
from apps.retrieval.models import Schedule
from apps.sources.models import Source
from tests.builders import NOON, a_folder, a_follow, a_posting, a_schedule, a_source, a_user, some_postings

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(client):
    user = a_user()
    client.force_login(user)
    return user


@pytest.fixture
def staff(client):
    user = a_user(is_staff=True)
    client.force_login(user)
    return user


def test_opening_a_posting_reads_it(client, user):
    posting = a_posting(a_follow(user).source)
    page = client.get(reverse("posting", args=[posting.pk])).text
    assert Mark.objects.get(user=user).read
    assert "Mark as unread" in page


@pytest.mark.parametrize("header", [{"Sec-Purpose": "prefetch;prerender"}, {"Purpose": "prefetch"}])
def test_a_prefetch_marks_nothing_as_read(client, user, header):
    posting = a_posting(a_follow(user).source)
    client.get(reverse("posting", args=[posting.pk]), headers=header)
    assert not Mark.objects.exists()


def test_htmx_gets_the_buttons_and_the_new_counts(client, user):
    follow = a_follow(user)
    posting = some_postings(2, follow.source)[0]
    address = reverse("mark", args=[posting.pk])
    answer = client.post(address, {"read": "yes"}, headers={"HX-Request": "true"}).text
    assert 'value="no"' in answer
    assert f"[data-count='source-{follow.source_id}']\">1<" in answer
    assert "<html" not in answer


def test_a_mark_must_say_what(client, user):
    posting = a_posting(a_follow(user).source)
    assert client.post(reverse("mark", args=[posting.pk]), {"read": "perhaps"}).status_code == 400


def test_mark_all_takes_what_its_page_says(client, user):
    follow = a_follow(user)
    _shown, later = (a_posting(follow.source, retrieved_at=NOON + timedelta(minutes=minute)) for minute in (0, 9))
    form = {"scope": f"source-{follow.source_id}", "shown_at": (NOON + timedelta(minutes=5)).isoformat()}
    assert client.post(reverse("mark_all"), form).status_code == 302
    unread = following.unread(following.postings_in(user, following.Scope("all")), user)
    assert list(unread) == [later]
    assert following.unread_counts(user) == {later.source_id: 1}


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"scope": "all-0"},
        {"scope": "all-0", "shown_at": "yesterday"},
        {"scope": "all-0", "shown_at": "2024-05-01T12:00:00"},
        {"scope": "planet-1", "shown_at": NOON.isoformat()},
        {"scope": "source-x", "shown_at": NOON.isoformat()},
        {"scope": "source-²", "shown_at": NOON.isoformat()},
    ],
)
def test_mark_all_refuses_half_a_form(client, user, form):
    assert client.post(reverse("mark_all"), form).status_code == 400


def test_the_address_wins_over_the_preference(client, user):
    user.unread_only = True
    user.save(update_fields=["unread_only"])
    follow = a_follow(user)
    posting = a_posting(follow.source, title="Already read")
    Mark.objects.create(user=user, posting=posting, read=True, changed_at=NOON)
    assert "Already read" not in client.get("/river/").text
    assert "Already read" in client.get("/river/?show=all").text


def test_older_postings_are_appended_by_htmx_and_a_page_without_it(client, user):
    follow = a_follow(user)
    some_postings(LENGTH + 5, follow.source)
    whole = client.get("/river/").text
    more = whole.split('data-more href="')[1].split('"')[0]
    assert "<html" in client.get(f"/river/{more}").text
    rows = client.get(f"/river/{more}", headers={"HX-Request": "true"}).text
    assert "<html" not in rows
    assert rows.count("<article") == 5


@pytest.mark.parametrize("start", ["nonsense", "1", "99999999999999999999.1"])
def test_an_invalid_cursor_of_a_list_gets_404(client, user, start):
    assert client.get("/river/", {"start": start}).status_code == 404


def test_following_schedules_a_source_and_unfollowing_ends_that(client, user):
    source = a_source(listed=True)
    client.post(reverse("follow", args=[source.pk]))
    assert Schedule.objects.filter(source=source, due_at__isnull=False).exists()
    client.post(reverse("unfollow", args=[source.pk]))
    assert not Schedule.objects.filter(source=source, due_at__isnull=False).exists()


def test_a_known_address_is_followed_in_the_chosen_folders(client, user):
    source, folder = a_source(), a_folder(user)
    answer = client.post(reverse("add"), {"address": source.url, "folders": [folder.pk]})
    assert answer.url == reverse("river_source", args=[source.pk])
    assert list(Follow.objects.get().folders.all()) == [folder]


def test_an_invalid_address_shows_an_error(client, user):
    page = client.post(reverse("add"), {"address": "ftp://example.org/"}).text
    assert "http" in page.split('role="alert"')[1].split("</div>")[0]


def test_a_follow_is_renamed_and_filed(client, user):
    follow, folder = a_follow(user), a_folder(user)
    client.post(reverse("edit_follow", args=[follow.source_id]), {"title": "Mine", "folders": [folder.pk]})
    follow.refresh_from_db()
    assert follow.title == "Mine"
    assert list(follow.folders.all()) == [folder]
    assert "Mine" in client.get("/river/").text


def test_folders_are_made_renamed_and_deleted(client, user):
    client.post(reverse("folders"), {"name": "News"})
    folder = Folder.objects.get()
    assert 'role="alert"' in client.post(reverse("folders"), {"name": "x" * 101}).text
    client.post(reverse("edit_folder", args=[folder.pk]), {"name": "World"})
    assert Folder.objects.get().name == "World"
    client.post(reverse("delete_folder", args=[folder.pk]))
    assert not Folder.objects.exists()


def test_a_folder_is_moved_under_any_that_does_not_lie_in_it(client, user):
    outer, other = a_folder(user, "Outer"), a_folder(user, "Other")
    inner = a_folder(user, "Inner", parent=outer)
    theirs = a_folder()
    address = reverse("edit_folder", args=[outer.pk])
    assert set(re.findall(r'<option value="(\d+)"', client.get(address).text)) == {str(other.pk)}
    for place in (outer, inner, theirs):
        assert 'role="alert"' in client.post(address, {"name": "Outer", "parent": place.pk}).text
    client.post(address, {"name": "Outer", "parent": other.pk})
    outer.refresh_from_db()
    assert outer.parent == other


def test_folders_of_one_name_are_shown_with_their_paths(client, user):
    a_folder(user, "Local", parent=a_folder(user, "News"))
    assert "News / Local" in client.get(reverse("edit_follow", args=[a_follow(user).source_id])).text


def test_the_catalogue_ends_no_follow_by_one_press(client, user):
    a_follow(user, followed := a_source(listed=True))
    offered = a_source(listed=True)
    page = client.get("/catalogue/").text
    assert reverse("edit_follow", args=[followed.pk]) in page
    assert f'action="{reverse("follow", args=[offered.pk])}"' in page
    assert "/end/" not in page
    assert "/end/" in client.get(reverse("edit_follow", args=[followed.pk])).text


def test_visitors_sign_up_and_return_to_the_feed_they_want_to_follow(client):
    source = a_source(listed=True)
    page = client.get(reverse("river_source", args=[source.pk])).text
    assert f"{reverse('account_signup')}?next=%2Friver%2Fsource%2F{source.pk}%2F" in page


def test_the_catalogue_shows_the_recent_number_of_articles(client):
    source = a_source(listed=True)
    for days in (1, 6, 8):
        a_posting(source, published_at=timezone.now() - timedelta(days=days))
    assert "2 articles in 7 days" in client.get("/catalogue/").text


def test_preferences_are_kept(client, user):
    client.post(reverse("preferences"), {"unread_only": "on", "order": "oldest", "images": "direct"})
    user.refresh_from_db()
    assert (user.unread_only, user.order) == (True, "oldest")


def test_times_are_those_of_the_persons_own_zone(client, user):
    posting = a_posting(a_follow(user).source, claimed_at=NOON - timedelta(hours=1))
    address = reverse("posting", args=[posting.pk])
    assert "11:00:00 UTC" in client.get(address).text
    client.post(reverse("preferences"), {"order": "newest", "images": "proxied", "time_zone": "Asia/Kolkata"})
    assert "16:30:00 IST" in client.get(address).text


def test_a_time_zone_that_does_not_exist_is_refused(client, user):
    answer = client.post(
        reverse("preferences"), {"order": "newest", "images": "proxied", "time_zone": "Europe/Atlantis"}
    )
    assert "Atlantis" in answer.text
    user.refresh_from_db()
    assert user.time_zone == ""


def upload(client, content: bytes):
    file = BytesIO(content)
    file.name = "list.opml"
    return client.post(reverse("opml"), {"file": file}).text


def test_a_list_is_imported_and_exported(client, user):
    page = upload(
        client,
        b'<opml version="2.0"><body><outline text="News">\n<outline text="A" xmlUrl="https://a.example/feed"/>\n'
        b'<outline text="B" xmlUrl="ftp://b.example/"/></outline></body></opml>',
    )
    assert "<strong>1</strong> newly followed" in page
    assert "<td>3</td>" in page
    assert Schedule.objects.filter(source__url="https://a.example/feed").exists()
    exported = client.get(reverse("opml_export"))
    assert b'xmlUrl="https://a.example/feed"' in exported.content
    assert "attachment" in exported["Content-Disposition"]


def test_a_broken_list_says_where_and_follows_nothing(client, user):
    assert "Line 1" in upload(client, b"this is no list")
    assert not Follow.objects.exists()


def test_the_catalogue_is_searched_and_filtered(client):
    for title, category in (("Le Monde", "World"), ("Ars", "Technology")):
        a_source(title=title, category=category, listed=True)
    a_source(title="Private")
    assert "Private" not in client.get("/catalogue/").text
    for query in ("words=monde", "category=World"):
        page = client.get(f"/catalogue/?{query}").text
        assert "Le Monde" in page
        assert "Ars" not in page


def test_staff_pauses_and_resumes_a_source(client, staff):
    source = a_source(always_retrieved=True)
    address = reverse("set_source_state", args=[source.pk])
    client.post(address, {"state": "paused"})
    source.refresh_from_db()
    assert source.state == Source.State.PAUSED
    client.post(address, {"state": "active"})
    assert Schedule.objects.filter(source=source, due_at__isnull=False).exists()


def test_retrieving_now_makes_a_source_due_and_says_so(client, staff):
    later = timezone.now() + timedelta(hours=1)
    schedule = a_schedule(a_source(title="The Wire"), due_at=later)
    page = client.post(reverse("check_source", args=[schedule.pk]), follow=True).text
    assert "The Wire will be checked shortly." in page
    schedule.refresh_from_db()
    assert schedule.due_at < later


def test_retrieving_now_waits_for_politeness_and_says_until_when(client, staff):
    now = timezone.now()
    schedule = a_schedule(a_source(title="The Wire"), requested_at=now, due_at=now + timedelta(days=1))
    page = client.post(reverse("check_source", args=[schedule.pk]), follow=True).text
    assert "The Wire will not be checked before" in page
    schedule.refresh_from_db()
    assert now < schedule.due_at < now + timedelta(days=1)


def test_checking_an_unscheduled_source_shows_a_warning(client, staff):
    source = a_source(title="The Wire")
    assert "it has no followers yet" in client.post(reverse("check_source", args=[source.pk]), follow=True).text


def test_only_staff_retrieves_now(client, user):
    source = a_follow(user).source
    assert client.post(reverse("check_source", args=[source.pk])).status_code == 403


SOURCE = {"title": "New", "url": "https://new.example/feed", "weight": "2.5", "listed": "on"}


def test_staff_adds_and_edits_a_source(client, staff):
    client.post(reverse("add_source"), SOURCE)
    source = Source.objects.get()
    assert (source.title, source.weight, source.listed) == ("New", 2.5, True)
    client.post(reverse("edit_source", args=[source.pk]), SOURCE | {"title": "Newer", "min_gap": "60"})
    source.refresh_from_db()
    assert (source.title, source.min_gap) == ("Newer", 60)


def test_two_sources_cannot_have_one_address(client, staff):
    a_source(url=SOURCE["url"], listed=True)
    other = a_source(listed=True)
    page = client.post(reverse("edit_source", args=[other.pk]), SOURCE).text
    assert "Another feed already has the address" in page


@pytest.mark.parametrize("weight", ["-1", "1001", "nan", "much"])
def test_a_weight_out_of_range_shows_an_error(client, staff, weight):
    assert 'role="alert"' in client.post(reverse("add_source"), SOURCE | {"weight": weight}).text
    assert not Source.objects.exists()


def test_deleting_a_source_needs_confirmation(client, staff):
    source = a_source()
    address = reverse("delete_source", args=[source.pk])
    assert "cannot be undone" in client.get(address).text
    assert Source.objects.exists()
    client.post(address)
    assert not Source.objects.exists()


def test_staff_finds_the_failing_sources(client, staff):
    a_schedule(a_source(title="Broken"), consecutive_failures=4, failing_since=NOON)
    a_schedule(a_source(title="Sound"))
    page = client.get("/sources/?failing=on&sort=next").text
    assert "Broken" in page
    assert "Sound" not in page


def test_the_list_of_sources_overlooks_a_filter_that_makes_no_sense(client, staff):
    assert client.get("/sources/?state=odd&sort=colour&page=x").status_code == 200


def test_a_broken_page_looks_like_the_portal_and_needs_nothing_of_it(rf, django_assert_num_queries):
    with django_assert_num_queries(0):
        page = server_error(rf.get("/")).content.decode()
    assert "/static/css/base.css" in page
    assert "Something went wrong" in page


def test_a_tag_is_put_on_listed_and_taken_off(client, user):
    posting = a_posting(a_follow(user).source, title="Tagged one")
    page = client.post(reverse("tag", args=[posting.pk]), {"tag": " to  read "}, follow=True).text
    tag = Tag.objects.get()
    assert (tag.user, tag.name) == (user, "to read")
    address = reverse("river_tag", args=[tag.pk])
    assert address in page
    assert "Tagged one" in client.get(address).text
    client.post(reverse("tag", args=[posting.pk]), {"tag": "to read", "do": "remove"})
    assert "No articles with this tag" in client.get(address).text


def test_tags_of_others_get_404(client, user):
    posting = a_posting()
    tag = Tag.objects.create(user=a_user(), name="theirs")
    Tagging.objects.create(tag=tag, posting=posting, tagged_at=NOON)
    assert client.get(reverse("river_tag", args=[tag.pk])).status_code == 404
    assert "theirs" not in client.get(reverse("posting", args=[posting.pk])).text


def test_a_tag_without_a_name_is_refused(client, user):
    posting = a_posting(a_follow(user).source)
    assert "A tag needs a name." in client.post(reverse("tag", args=[posting.pk]), {"tag": " "}, follow=True).text


def test_a_list_that_a_browser_has_is_not_sent_again(client, user):
    follow = a_follow(user)
    [posting] = some_postings(1, follow.source)
    address = reverse("river")
    client.get(address)  # which sets cookies
    tag = client.get(address)["ETag"]
    for change in (
        lambda: actions.marks.mark_read(user, [posting.pk], read=True, now=NOON),
        lambda: some_postings(1, follow.source),
        lambda: Follow.objects.update(title="Mine"),
        lambda: a_folder(user),
        lambda: User.objects.filter(pk=user.pk).update(theme="dark"),
        lambda: client.cookies.load({"feeds_shown": "unread"}),
    ):
        unchanged = client.get(address, headers={"If-None-Match": tag})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert unchanged["Content-Security-Policy"] == client.get(address)["Content-Security-Policy"]
        change()
        changed = client.get(address, headers={"If-None-Match": tag})
        assert changed.status_code == 200
        tag = changed["ETag"]
    client.post(reverse("mark_all"), {"scope": "all-0", "shown_at": timezone.now().isoformat()})
    after = client.get(address)
    assert "marked as read" in after.text
    assert "ETag" not in after
