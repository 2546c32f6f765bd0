"""Stories in Postgres: the tables do not depend on batch sizes, crashes and repetitions."""

import random
from datetime import timedelta
from hashlib import blake2b

import pytest
from django.db import connection
from django.db.models import F

from apps.postings.actions.merging import move_postings
from apps.postings.models import Posting
from apps.stories import actions
from apps.stories.actions import consuming, writing
from apps.stories.algorithms.clusters import Clusters
from apps.stories.models import Authority, Centroid, Head, Member, OutboxRow, Redirect, Story, WordCount
from apps.stories.queries import grouping as remembering
from tests.builders import NOON, a_mark, a_posting, a_source, a_source_that_repeats, a_user

pytestmark = pytest.mark.django_db

EVENTS = (
    "storm floods lisbon streets rain river",
    "budget vote parliament minister finance deficit",
    "derby goal striker coach stadium penalty",
    "virus vaccine hospital doctors outbreak nurses",
)


@pytest.fixture(autouse=True)
def nothing_remembered():
    """Each test begins like a process that was just started."""
    consuming._memory = None


def text_hash(title: str) -> bytes:
    return blake2b(title.encode(), digest_size=16).digest()


def report(title: str, hours: float = 0.0, source=None, text: str = "", **values) -> Posting:
    return a_posting(
        source,
        title=title,
        text=text,
        text_hash=text_hash(title),
        language="en",
        published_at=NOON + timedelta(hours=hours),
        **values,
    )


def some_reports(seed: int, count: int = 60) -> None:
    chance = random.Random(seed)
    sources = [a_source() for _ in range(5)]
    titles: list[str] = []
    for _ in range(count):
        words = chance.choice(EVENTS).split()
        title = " ".join(chance.choices(words, k=6)) + f" {chance.choice(['today', 'again', 'report', 'crisis'])}"
        title = chance.choice(titles) if titles and chance.random() < 0.15 else title
        titles.append(title)
        report(title, chance.uniform(0, 400), chance.choice(sources))


def pull_all(limit: int = actions.consuming.CONSUMED_AT_ONCE) -> None:
    while actions.consuming.consume(limit):
        pass


TABLES = (Story, Member, Redirect, Centroid)


def tables() -> list[list[tuple]]:
    rows = [
        sorted(
            tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)
            for row in table.objects.values_list()
        )
        for table in TABLES
    ]
    head = Head.objects.values_list("next_story", "clock", "merged_at", "touched").first()
    return [*rows, [head], sorted(words_counted().items())]


def words_counted() -> dict:
    """Postings with each term, of all rows of a block together."""
    counted: dict = {}
    for block in remembering.remembered().rarity.blocks.items():
        counted[block[0]] = (sorted(block[1].documents.items()), sorted(block[1].counts.items()))
    return counted


def forget_everything() -> None:
    consuming._memory = None
    for table in (*TABLES, Head, WordCount, OutboxRow):
        table.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO stories_outboxrow (posting_id, published_at) SELECT id, published_at FROM postings_posting"
        )


def stories_by_title() -> dict[str, set[int]]:
    titles = dict(Posting.objects.values_list("pk", "title"))
    found: dict[str, set[int]] = {}
    for posting_id, story_id in Member.objects.values_list("posting_id", "story_id"):
        found.setdefault(titles[posting_id], set()).add(story_id)
    return found


# --- what is put where ------------------------------------------------------------------------------------------------
def test_reports_of_one_event_are_one_story_and_a_copy_is_folded():
    first = report("Storm floods the streets of Lisbon on Friday night", 0)
    report("Parliament rejects the budget of the finance minister", 1)
    other = report("Streets of Lisbon flooded after heavy storm", 2)
    copy = report("Storm floods the streets of Lisbon on Friday night", 3)
    pull_all()
    story = Story.objects.get(sources=3)
    assert set(Member.objects.filter(story_id=story.pk).values_list("posting_id", flat=True)) == {
        first.pk,
        other.pk,
        copy.pk,
    }
    assert (story.reports, story.copies, story.language) == (2, 1, "en")
    assert (story.first_at, story.latest_at) == (first.published_at, copy.published_at)
    assert story.lead_id == first.pk
    assert Member.objects.get(pk=copy.pk).copy_of == first.pk
    assert Story.objects.count() == 2
    assert not OutboxRow.objects.exists()


def test_postings_that_share_only_what_their_source_repeats_are_no_story():
    """Without boilerplate removed, all of them would be one story."""
    footer = "Article address and comments of the reading forum, with points of members and comments counted."
    source, titles = a_source_that_repeats(footer), ("Storm over Lisbon harbour", "Bank raises its rates", "Derby won")
    for hours, title in enumerate(titles):
        report(title, hours, source, text=footer)
    pull_all()
    assert Story.objects.count() == len(titles)
    assert Story.objects.filter(reports=1).count() == len(titles)


def test_a_picture_and_authority_decide_which_report_stands_for_a_story():
    report("Storm floods the streets of Lisbon on Friday night", 0)
    better = report("Streets of Lisbon flooded after heavy storm", 2, image_url="https://source.example/1.jpg")
    Authority.objects.create(
        source=better.source,
        value=0.9,
        importance=1,
        earliness=1,
        originality=1,
        independence=1,
        stars=1,
        reports=9,
        computed_at=NOON,
    )
    pull_all()
    assert Story.objects.get().lead_id == better.pk


def test_postings_older_than_a_week_begin_no_story():
    report("Storm floods the streets of Lisbon on Friday night", 200)
    pull_all()
    report("Derby ends with a late goal by the striker", 10)
    pull_all()
    assert Story.objects.count() == 1


# --- again, and killed ------------------------------------------------------------------------------------------------
def test_a_second_pull_of_the_same_postings_changes_nothing():
    some_reports(1)
    pull_all()
    before = tables()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO stories_outboxrow (posting_id, published_at) SELECT id, published_at FROM postings_posting"
        )
    pull_all(7)
    assert tables() == before


@pytest.mark.parametrize("seed", range(3))
def test_neither_the_size_of_batches_nor_kills_and_restarts_change_the_tables(seed, monkeypatch):
    some_reports(seed, 90)
    pull_all()
    serial = tables()
    assert Redirect.objects.exists() or Story.objects.filter(reports__gt=3).exists()
    forget_everything()
    chance = random.Random(seed)
    write = writing.Batch.write

    def dying(batch: writing.Batch) -> None:
        write(batch)
        if chance.random() < 0.3:
            raise KeyboardInterrupt

    monkeypatch.setattr(writing.Batch, "write", dying)
    while OutboxRow.objects.exists():
        try:
            actions.consuming.consume(chance.randint(1, 20))
        except KeyboardInterrupt:
            assert consuming._memory is None
        if chance.random() < 0.3:
            consuming._memory = None  # another process takes over
    assert tables() == serial


def test_reports_that_another_process_stored_are_read_before_a_story_is_chosen():
    report("Storm floods the streets of Lisbon on Friday night", 0)
    pull_all()
    mine = consuming._memory
    consuming._memory = None
    report("Streets of Lisbon flooded after heavy storm", 1)
    pull_all()
    consuming._memory = mine  # of the process that knows nothing of the second report
    report("Heavy storm in Lisbon: flooded streets are cleared", 2)
    pull_all()
    assert Story.objects.get().reports == 3
    assert Centroid.objects.get().size == 3


def test_the_state_after_each_batch_equals_the_reloaded_one():
    some_reports(5)
    chance = random.Random(5)
    while OutboxRow.objects.exists():
        actions.consuming.consume(11)
        for posting in Posting.objects.order_by("?")[: chance.randint(0, 1)]:
            title = f"{posting.title} {chance.choice(['amended', 'corrected'])}"
            Posting.objects.filter(pk=posting.pk).update(title=title, text_hash=text_hash(title))
        if chance.random() < 0.3:
            Posting.objects.filter(pk__in=list(Posting.objects.order_by("?").values_list("pk", flat=True)[:1])).delete()
        check_memory()


def check_memory() -> None:
    grouping, reloaded = consuming._memory.grouping, remembering.remembered()
    assert set(grouping.clusters) == set(reloaded.clusters)
    for id in reloaded.clusters:
        one, other = grouping.clusters.get(id), reloaded.clusters.get(id)
        assert (one.size, one.latest, one.centre) == (other.size, other.latest, other.centre)
        assert (one.vector.terms == other.vector.terms).all()
        assert (one.vector.weights == other.vector.weights).all()
    assert len(grouping.duplicates) == len(reloaded.duplicates)
    keys = Member.objects.exclude(fingerprint=b"").values_list("posting_id", flat=True)
    assert [grouping.home(key) for key in keys] == [reloaded.home(key) for key in keys]
    assert grouping.rarity.blocks == reloaded.rarity.blocks
    assert (grouping.next_story, grouping.clock, grouping.merged_at, grouping.touched) == (
        reloaded.next_story,
        reloaded.clock,
        reloaded.merged_at,
        reloaded.touched,
    )


# --- edits and deletions ----------------------------------------------------------------------------------------------
def test_a_report_that_fits_another_story_better_moves_there_with_its_copies(monkeypatch):
    first = report("Storm floods the streets of Lisbon on Friday night", 0)
    wrong = report("Parliament rejects the budget of the finance minister", 1)
    copy = report("Parliament rejects the budget of the finance minister", 2)
    with monkeypatch.context() as lenient:
        lenient.setattr(Clusters.__init__, "__defaults__", (0.0, 0.0))
        lenient.setattr(Clusters, "_selective", lambda clusters, terms: terms[:0])
        lenient.setattr(Clusters, "nearest", lambda clusters, *_: next(((id, 1.0) for id in clusters), None))
        pull_all()
    assert Story.objects.get().reports == 2
    Head.objects.update(merged_at=0.0)
    consuming._memory = None
    later = report("Finance minister loses vote on budget in parliament", 3)
    pull_all()
    assert Story.objects.get(lead_id=first.pk).reports == 1
    moved = set(Member.objects.exclude(posting_id=first.pk).values_list("story_id", flat=True))
    assert len(moved) == 1
    assert Story.objects.get(pk=moved.pop()).language == "en"
    assert Member.objects.filter(posting_id__in=[wrong.pk, copy.pk, later.pk]).count() == 3


def test_an_edit_may_move_a_posting_into_another_story():
    report("Storm floods the streets of Lisbon on Friday night", 0)
    report("Parliament rejects the budget of the finance minister", 1)
    moved = report("Streets of Lisbon flooded after heavy storm", 2)
    pull_all()
    assert Story.objects.get(pk=1).reports == 2
    title = "Budget of the finance minister is rejected by parliament"
    Posting.objects.filter(pk=moved.pk).update(title=title, text_hash=text_hash(title))
    pull_all()
    assert [(story.pk, story.reports) for story in Story.objects.order_by("pk")] == [(1, 1), (2, 2)]
    assert Member.objects.get(pk=moved.pk).story_id == 2
    assert WordCount.objects.count() == 1  # its words are counted once


def test_a_deleted_posting_leaves_its_story_and_the_last_one_ends_it():
    first = report("Storm floods the streets of Lisbon on Friday night", 0)
    second = report("Streets of Lisbon flooded after heavy storm", 2)
    pull_all()
    first.delete()
    pull_all()
    assert Story.objects.get().lead_id == second.pk
    assert Story.objects.get().sources == 1
    second.delete()
    pull_all()
    assert [table.objects.count() for table in TABLES] == [0, 0, 0, 0]


def test_when_an_original_is_deleted_its_oldest_copy_takes_its_place():
    title = "Storm floods the streets of Lisbon on Friday night"
    original, copy, later = (report(title, hours) for hours in (0, 1, 2))
    pull_all()
    centroid = Centroid.objects.values("size", "terms").get()
    original.delete()
    pull_all()
    assert dict(Member.objects.values_list("posting_id", "copy_of")) == {copy.pk: None, later.pk: copy.pk}
    assert Centroid.objects.values("size", "terms").get() == centroid
    third = report(title, 3)
    pull_all()
    assert Member.objects.get(pk=third.pk).copy_of == copy.pk


def test_postings_of_a_source_that_was_merged_are_the_other_ones():
    one, other = report("Storm floods the streets of Lisbon", 0), report("Streets of Lisbon flooded after storm", 2)
    pull_all()
    assert Story.objects.get().sources == 2
    move_postings(one.source_id, other.source_id, same=[])
    pull_all()
    assert Story.objects.get().sources == 1


# --- bounds -----------------------------------------------------------------------------------------------------------
def test_of_stories_that_have_ended_the_fingerprints_are_forgotten_and_single_reports_altogether():
    some_reports(2, 40)
    report("Something else entirely happened elsewhere afterwards", 1_000)
    pull_all()
    assert Centroid.objects.count() == 1
    assert Member.objects.exclude(fingerprint=b"").count() == 1
    assert not Story.objects.filter(reports=1, copies=0, latest_at__lt=NOON + timedelta(hours=800)).exists()
    assert not Member.objects.exclude(story_id__in=Story.objects.values("pk")).exists()


def test_maintenance_adds_counts_up_without_changing_rarity():
    some_reports(3, 40)
    pull_all(3)
    rows, before = WordCount.objects.count(), tables()
    assert actions.maintaining.maintain(now=NOON)
    assert WordCount.objects.count() < rows
    assert tables() == before
    assert len(set(WordCount.objects.values_list("block", flat=True))) == WordCount.objects.count()


def test_redirects_lead_to_stories_that_exist():
    for seed in range(3):
        some_reports(seed, 60)
    pull_all(13)
    assert not Redirect.objects.exclude(story_id__in=Story.objects.values("pk")).exists()
    assert not Redirect.objects.filter(former_id=F("story_id")).exists()
    assert not Story.objects.filter(pk__in=Redirect.objects.values("pk")).exists()


# --- sources ----------------------------------------------------------------------------------------------------------
def test_sources_that_are_first_and_starred_have_more_authority():
    early, late, alone = a_source(), a_source(), a_source()
    for number, words in enumerate(EVENTS):
        report(f"{words} first report", number * 10, early)
        report(f"{words} second account follows", number * 10 + 2, late)
    report("Nothing that anybody else would ever write about", 5, alone)
    pull_all()
    a_mark(a_user(), Posting.objects.filter(source=early).first(), starred_at=NOON + timedelta(hours=1))
    assert actions.maintaining.weigh_sources(now=NOON + timedelta(days=2)) == 3
    found = {row.source_id: row for row in Authority.objects.all()}
    assert found[early.pk].value > found[late.pk].value
    assert found[alone.pk].value == 0.5
    assert found[early.pk].earliness == 1.0
    before = list(Authority.objects.order_by("pk").values_list("source_id", "value"))
    actions.maintaining.weigh_sources(now=NOON + timedelta(days=2))
    assert list(Authority.objects.order_by("pk").values_list("source_id", "value")) == before
