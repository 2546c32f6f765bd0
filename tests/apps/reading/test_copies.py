"""One article from three feeds: one row, one result, one mark, in whatever order it arrives."""

import re
from datetime import timedelta
from html import unescape
from itertools import permutations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.following import actions, queries
from apps.postings.actions import Document, PageOfPosting, fill, note_recent_copies, store
from apps.postings.algorithms.extraction.articles import Article
from apps.postings.models import Posting
from apps.search.actions.reindexing import consume
from apps.sources.formats.feed import ParsedEntry
from apps.stories.actions.learning import hide
from apps.stories.queries.for_you import own_order
from apps.web.pages.rows import row, rows
from apps.web.pages.sidebar import sidebar
from tests.builders import a_folder, a_follow, a_posting, a_source, a_user
from tests.trials import quick_every

pytestmark = pytest.mark.django_db

NOW = timezone.now()
REPORT = (
    "The river left its banks on Friday night after three days of rain, and two hundred cellars in the old town had"
    " to be pumped out by firemen. The mayor asked people to stay at home until the water has gone down. Trains to"
    " Porto do not run before Sunday, said the railway, and schools remain closed on Monday. Nobody was hurt."
)
NAMES = ("Agency", "Courier", "Times")


class Reader:
    """Someone who follows three feeds."""

    def __init__(self, commit) -> None:
        self.commit = commit
        self.user = a_user()
        self.feeds = {name: a_source(title=name, listed=True, url=f"https://{name}.example/feed") for name in NAMES}
        for feed in self.feeds.values():
            a_follow(self.user, feed)
        self.client = Client()
        self.client.force_login(self.user)

    def receives(self, name: str, text: str = REPORT, minutes: int = 0) -> Posting:
        feed = self.feeds[name]
        at = NOW - timedelta(hours=2) + timedelta(minutes=minutes)
        entry = ParsedEntry(
            guid=f"{name} {minutes}",
            link=f"https://{name}.example/{minutes}",
            title=f"Flood in the {name}",
            content=f"<p>{text}</p>",
            published=at,
        )
        with self.commit(execute=True):
            store([Document(feed.pk, [entry], "", "", "en", at)])
        consume()
        return Posting.objects.filter(source=feed).latest("pk")

    def opens(self, address: str, **values: str) -> str:
        answer = self.client.get(address, values)
        assert answer.status_code == 200
        return answer.text

    def unread(self) -> dict[str, int]:
        counted = dict(sidebar(self.user).counts())
        return {"All": counted["all"]} | {name: counted[f"source-{feed.pk}"] for name, feed in self.feeds.items()}


@pytest.fixture
def reader(django_capture_on_commit_callbacks):
    return Reader(django_capture_on_commit_callbacks)


def row_ids(page: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="posting-(\d+)"', page)]


LISTS = [
    (reverse("river"), {}),
    (reverse("river"), {"show": "unread"}),
    (reverse("river"), {"show": "all", "order": "oldest"}),
    (reverse("river"), {"show": "all", "q": "cellars"}),
    (reverse("search"), {"q": "cellars"}),
    (reverse("search"), {"q": "cellars", "order": "newest"}),
    (reverse("search"), {"q": "cellars is:unread"}),
    (reverse("for_you"), {}),
]


@pytest.mark.parametrize("order", quick_every(3, permutations(NAMES)), ids="-".join)
def test_every_order_of_arrival_makes_one_row_and_one_mark(reader, order):
    first, second = reader.receives(order[0]), reader.receives(order[1], minutes=10)
    third = reader.receives(order[2], minutes=-10)
    for address, values in LISTS:
        page = reader.opens(address, **values)
        [shown] = row_ids(page)
        if address == reverse("river") or values.get("order") == "newest":
            assert shown == first.pk
        assert "+2 feeds" in page
    assert reader.unread() == {"All": 1, "Agency": 1, "Courier": 1, "Times": 1}
    article = reader.opens(reverse("posting", args=[second.pk]))
    assert "Also in:" in article
    assert reader.unread() == {"All": 0, "Agency": 0, "Courier": 0, "Times": 0}
    assert not any(each.unread for each in rows(reader.user, [first.pk, second.pk, third.pk]))
    assert row_ids(reader.opens(reverse("river"), show="unread")) == []
    assert row_ids(reader.opens(reverse("search"), q="cellars is:unread")) == []


def test_a_copy_that_arrives_later_is_already_read_and_changes_no_page(reader):
    first = reader.receives("Times")
    actions.marks.mark_read(reader.user, [first.pk], read=True, now=NOW)
    reader.receives("Courier", minutes=10)
    assert reader.unread()["All"] == 0
    actions.marks.mark_read(reader.user, [first.pk], read=False, now=NOW)
    assert reader.unread() == {"All": 1, "Agency": 0, "Courier": 1, "Times": 1}
    assert row_ids(reader.opens(reverse("river"))) == [first.pk]


def test_marking_by_scroll_or_list_applies_everywhere_and_undo_restores_it(reader):
    copies = [reader.receives(name) for name in NAMES]
    reader.client.post(reverse("seen"), {"posting": [copies[0].pk]})
    assert reader.unread()["All"] == 0
    actions.marks.mark_read(reader.user, [copies[0].pk], read=False, now=NOW)
    form = {"scope": f"source-{reader.feeds['Courier'].pk}", "shown_at": NOW.isoformat()}
    answer = reader.client.post(reverse("mark_all"), form, follow=True)
    assert "1 article marked as read." in answer.text
    assert reader.unread()["All"] == 0
    undo = re.search(r'name="undo" value="(\d+)"', answer.text).group(1)
    assert "1 article marked as unread." in reader.client.post(reverse("undo"), {"undo": undo}, follow=True).text
    assert reader.unread() == {"All": 1, "Agency": 1, "Courier": 1, "Times": 1}


def test_up_to_here_marks_what_the_page_shows_above(reader):
    first, copy = reader.receives("Agency", minutes=-30), reader.receives("Courier", minutes=30)
    between = reader.receives("Times", text="Something else happened in quite another place, say officials there.")
    form = {"scope": "all-0", "shown_at": timezone.now().isoformat(), "order": "newest"}
    reader.client.post(reverse("mark_up_to", args=[between.pk]), form)
    unread = queries.unread(Posting.objects.all(), reader.user)
    assert {each.pk for each in unread} == {first.pk, copy.pk}  # their row is the first one's, below


def test_a_folder_shows_the_first_copy_of_its_own_feeds_and_counts_it_once(reader):
    inner = a_folder(reader.user)
    for name in ("Courier", "Times"):
        for_folder = reader.user.follows.get(source=reader.feeds[name])
        for_folder.folders.set([inner])
    reader.receives("Agency")
    own = reader.receives("Times")
    reader.receives("Courier")
    assert row_ids(reader.opens(reverse("river_folder", args=[inner.pk]))) == [own.pk]
    counted = dict(sidebar(reader.user).counts())
    assert (counted["all"], counted[f"folder-{inner.pk}"]) == (1, 1)
    reader.user.follows.filter(source=reader.feeds["Times"]).update(muted=True)
    assert dict(sidebar(reader.user).counts())[f"folder-{inner.pk}"] == 1
    assert row(reader.user, own.pk).also == (
        (reader.feeds["Agency"].pk, "Agency"),
        (reader.feeds["Courier"].pk, "Courier"),
    )


def test_each_feed_lists_its_own_copy(reader):
    copies = {name: reader.receives(name) for name in NAMES}
    for name, feed in reader.feeds.items():
        assert row_ids(reader.opens(reverse("river_source", args=[feed.pk]))) == [copies[name].pk]
        answer = Client().get(reverse("river_source", args=[feed.pk]))
        assert row_ids(answer.text) == [copies[name].pk]
    again = reader.receives("Agency", minutes=5)
    assert again.pk not in row_ids(reader.opens(reverse("river_source", args=[reader.feeds["Agency"].pk])))


def test_only_feeds_that_the_reader_may_read_are_named(reader):
    first = reader.receives("Agency")
    reader.receives("Courier")
    reader.feeds["Secret"] = a_source(title="Secret", listed=False)
    reader.receives("Secret")
    reader.feeds["Public"] = a_source(title="Public", listed=True)
    reader.receives("Public")
    assert [each.title for each in row(reader.user, first.pk).also] == ["Courier"]
    [of_visitor] = rows(AnonymousUser(), [first.pk])
    assert [each.title for each in of_visitor.also] == ["Courier", "Public"]
    actions.follows.unfollow(reader.user, reader.feeds["Courier"].pk)
    assert row(reader.user, first.pk).also == ()
    assert "Also in:" not in reader.opens(reverse("posting", args=[first.pk]))


def test_a_row_has_the_star_of_any_copy_until_it_is_taken_off(reader):
    first, second = reader.receives("Agency"), reader.receives("Courier")
    actions.marks.star(reader.user, second.pk, starred=True, now=NOW)
    assert row(reader.user, first.pk).starred
    assert row_ids(reader.opens(reverse("river_starred"))) == [second.pk]
    actions.marks.star(reader.user, first.pk, starred=True, now=NOW)
    assert row_ids(reader.opens(reverse("river_starred"))) == [first.pk]
    reader.client.post(reverse("mark", args=[first.pk]), {"starred": "no"})
    assert not queries.stars_of(reader.user).exists()


def test_a_tag_lists_an_article_once(reader):
    ids = [reader.receives(name).pk for name in NAMES]
    actions.marks.tag(reader.user, ids[1:], "floods", NOW)
    tag = queries.tags_of(reader.user).get()
    assert row_ids(reader.opens(reverse("river_tag", args=[tag.pk]))) == [ids[1]]


def test_a_reader_may_see_every_copy(reader):
    ids = [reader.receives(name, minutes=number).pk for number, name in enumerate(NAMES)]
    preferences = {"every_copy": "on", "order": "newest", "images": "proxied"}
    assert reader.client.post(reverse("preferences"), preferences).status_code == 302
    reader.user.refresh_from_db()
    for address, values in LISTS:
        assert sorted(row_ids(reader.opens(address, **values))) == ids
    assert reader.unread() == {"All": 3, "Agency": 1, "Courier": 1, "Times": 1}
    actions.marks.star(reader.user, ids[1], starred=True, now=NOW)
    assert [each.starred for each in rows(reader.user, ids)] == [False, True, False]
    actions.marks.mark_read(reader.user, [ids[0]], read=True, now=NOW)
    assert reader.unread()["All"] == 0


def test_pages_of_results_neither_repeat_nor_miss_an_article(reader, monkeypatch):
    monkeypatch.setattr("apps.search.queries.searching.LENGTH", 2)
    monkeypatch.setattr("apps.search.queries.searching.MAX_COUNTED", 3)
    source, other = reader.feeds["Agency"], reader.feeds["Courier"]
    articles = []
    for number in range(5):
        first = a_posting(source, title="cellar", text="", published_at=NOW - timedelta(hours=number))
        copy = a_posting(other, title="cellar", text="", published_at=NOW - timedelta(hours=5 - number))
        Posting.objects.filter(pk__in=[first.pk, copy.pk]).update(first_copy=first.pk)
        articles.append(first.pk)
    consume()
    for order in ("newest", "relevance"):
        found: list[int] = []
        address, values = reverse("search"), {"q": "cellar", "order": order}
        while address and len(found) <= len(articles):
            page = reader.opens(address, **values)
            found += [Posting.objects.get(pk=id).first_copy for id in row_ids(page)]
            more = re.search(r'data-more href="([^"]+)"', page)
            address, values = (reverse("search") + unescape(more.group(1)) if more else ""), {}
        assert sorted(found) == sorted(articles)


def test_hiding_an_article_from_ones_own_order_hides_its_copies(reader):
    first = reader.receives("Agency")
    reader.receives("Courier")
    assert [each.posting_id for each in own_order(reader.user, NOW)] == [first.pk]
    hide(reader.user, first.pk, hidden=True, now=NOW)
    assert own_order(reader.user, NOW) == []


def test_copies_unfold_when_the_page_text_differs(reader):
    first, second = reader.receives("Agency"), reader.receives("Courier")
    third = reader.receives("Times")
    longer = "Officials had expected the flood for years. " * 40
    page = Article(html=f"<p>{longer}</p>", text=longer, confidence=1.0, extractor="keen_tags")
    with reader.commit(execute=True):
        assert fill(first.pk, PageOfPosting("https://agency.example/other", page, b"", NOW))
    first.refresh_from_db()
    assert first.first_copy is None
    copies = Posting.objects.filter(pk__in=[second.pk, third.pk])
    assert set(copies.values_list("first_copy", flat=True)) == {second.pk}
    assert reader.unread()["All"] == 2


def test_copies_that_were_missed_are_found_later(reader):
    postings = [a_posting(feed, fold_key=7, published_at=NOW) for feed in reader.feeds.values()]
    a_posting(reader.feeds["Agency"], fold_key=7, published_at=NOW - timedelta(hours=49))
    assert note_recent_copies(NOW) == 3
    assert set(Posting.objects.values_list("first_copy", flat=True)) == {postings[0].pk, None}
    assert note_recent_copies(NOW) == 0


def test_articles_in_the_same_words_every_day_are_not_one(reader):
    daily = [reader.receives("Agency", minutes=day * 24 * 60 - 6 * 24 * 60) for day in range(5)]
    shown = row_ids(reader.opens(reverse("river_source", args=[reader.feeds["Agency"].pk]), show="all"))
    assert shown == [daily[3].pk, daily[0].pk]


def test_leaving_a_feed_keeps_read_what_was_read_there(reader):
    copies = [reader.receives(name) for name in NAMES[:2]]
    for number in range(25):
        a_posting(reader.feeds["Agency"], published_at=NOW + timedelta(minutes=number))
    everything = queries.Scope("source", reader.feeds["Agency"].pk)
    actions.marking.mark_all_read(reader.user, everything, shown_at=NOW + timedelta(days=1), now=NOW)
    assert reader.unread()["Courier"] == 0
    actions.follows.unfollow(reader.user, reader.feeds["Agency"].pk)
    assert dict(sidebar(reader.user).counts())["all"] == 0
    assert not row(reader.user, copies[1].pk).unread
