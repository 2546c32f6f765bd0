"""The population of a load test: few sources publish much and have many followers, most few.

Everything is drawn with a seed. Most users mark lists read every day or two, many read posting by posting, some have
read nothing for months, some everything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from django.core.management import call_command
from django.db import connection
from numpy.typing import NDArray

from apps.accounts.models import User
from apps.retrieval.models import Schedule
from apps.sources.models import Source
from lab.harness import LabCommand

IntArray = NDArray[np.int64]

YEAR = 365.0  # days that the postings span
STORED_AT_ONCE = 20_000
HOARDED = 300  # sources
MAX_FOLLOWED = 1_000  # sources, by one of fifty
KINDS = ("keen", "reader", "idle", "done")
SHARES = (0.45, 0.30, 0.15, 0.10)
# Days since a user of each kind last marked everything read: least, most.
MARKED_ALL = {"keen": (0.2, 2.0), "reader": (2.0, 14.0), "idle": (30.0, 270.0), "done": (0.0, 0.0)}
TEXTS, LONGEST_TEXT = 200, 4_000  # generated for each step; characters
LEXICON, LONGEST_WORD = 20_000, 10  # words; characters
# What virtual users search for.
SOUGHT = ("storm", "river", "vote", "goal", "vaccine", "market", "strike", "museum", "election", "train")


@dataclass(frozen=True, slots=True)
class Population:
    """The virtual users of a load test."""

    user_ids: IntArray
    kinds: NDArray[np.str_]  # of each user
    follows: IntArray  # the number of sources that each follows
    collector: int  # the user with a hundred thousand unread postings, or a tenth of all
    hoarder: int  # the user who has read nothing of three hundred sources


def fill(
    command: LabCommand, sources: int, postings: int, people: int, *, seed: int, longest: int = LONGEST_TEXT
) -> Population:
    """Everything of a load test and the search index; shows how far it is on the command's console."""
    now = datetime.now(UTC)
    ids = add_sources(sources, now)
    with command.progress() as progress:
        bar = progress.add_task("postings", total=postings)
        for stored in add_postings(ids, postings, now, seed=seed, longest=longest):
            progress.advance(bar, stored)
    add_copies()
    vacuum()
    with command.console.status(f"{people:,} accounts"):
        added = add_users(ids, people, now, seed=seed)
    archive()
    with command.console.status("search index"):
        call_command("reindex", verbosity=0)
    vacuum()
    return added


def vacuum() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")


# --- sources and postings ---------------------------------------------------------------------------------------------
def add_sources(count: int, now: datetime) -> IntArray:
    """Sources, three of four listed, with schedules; the first publish most."""
    made = Source.objects.bulk_create(
        [
            Source(
                url=f"https://source{number}.example/feed",
                title=f"Source {number}",
                language=("en", "en", "de", "fr")[number % 4],
                category=("News", "Science", "Sport", "Culture")[number % 4],
                listed=number % 4 > 0,
            )
            for number in range(count)
        ],
        batch_size=1_000,
    )
    due_at = now + timedelta(hours=1)
    Schedule.objects.bulk_create(
        [Schedule(source=source, partition=0, due_at=due_at, requested_at=now) for source in made], batch_size=1_000
    )
    return np.array([source.pk for source in made], np.int64)


def add_postings(
    sources: IntArray, count: int, now: datetime, *, seed: int, longest: int = LONGEST_TEXT
) -> Iterator[int]:
    """Store postings in the order in which they were retrieved; yields how many of them were stored, step by step."""
    chance = np.random.default_rng(seed)
    ranks = np.arange(1, sources.size + 1) ** -0.8
    by = sources[chance.choice(sources.size, count, p=ranks / ranks.sum())]
    ages = np.sort(chance.uniform(0.0, YEAR, count))[::-1]  # days since retrieval
    # Most are retrieved within the hour; one of a hundred comes days later than its date says.
    delays = np.where(chance.random(count) < 0.01, chance.uniform(1, 9, count), chance.exponential(0.02, count))
    lengths = np.clip(chance.lognormal(6.0, 0.7, count), min(80, longest), longest).astype(np.int64)  # characters
    lexicon = _lexicon(chance)
    with connection.cursor() as cursor:
        # No worker runs here that would consume the outboxes of search, trends, summaries and stories.
        cursor.execute("ALTER TABLE postings_posting DISABLE TRIGGER USER")
        for first in range(0, count, STORED_AT_ONCE):
            part = slice(first, first + STORED_AT_ONCE)
            columns = [by[part], ages[part], delays[part], lengths[part]]
            cursor.execute(
                _ADD_POSTINGS, [_texts(lexicon, chance), first, now, *(column.tolist() for column in columns)]
            )
            yield min(STORED_AT_ONCE, count - first)
        cursor.execute("ALTER TABLE postings_posting ENABLE TRIGGER USER")


def add_copies() -> None:
    """Make 12 % of the postings copies: three in a row of every 25, mostly of three sources."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE postings_posting SET first_copy = id - id %% %(every)s WHERE id %% %(every)s < %(copies)s",
            {"every": 25, "copies": 3},
        )


def archive() -> None:
    """Pause all sources: none is checked although people follow it, and no check of other feeds waits for theirs."""
    Source.objects.update(state=Source.State.PAUSED)
    Schedule.objects.update(due_at=None)
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE retrieval_sourcechange")  # one for each follow


def _lexicon(chance: np.random.Generator) -> NDArray[np.str_]:
    """Made-up words, the most frequent first; `SOUGHT` are in one to ten postings of a hundred."""
    letters = np.array(list("etaoinshrdlucmfwyp"))
    spelled = "".join(chance.choice(letters, LEXICON * LONGEST_WORD))
    lengths = chance.integers(2, LONGEST_WORD + 1, LEXICON).tolist()
    words = [spelled[number * LONGEST_WORD :][:length] for number, length in enumerate(lengths)]
    words[100 : 100 * (len(SOUGHT) + 1) : 100] = SOUGHT
    return np.array(words)


def _texts(lexicon: NDArray[np.str_], chance: np.random.Generator) -> list[str]:
    shares = 1 / np.arange(3, lexicon.size + 3)  # Zipf's law
    drawn = chance.choice(lexicon, (TEXTS, LONGEST_TEXT // 6), p=shares / shares.sum())
    return [" ".join(words) for words in drawn.tolist()]


_ADD_POSTINGS = """
INSERT INTO postings_posting (source_id, identity, link_key, content_hash, text_hash, guid, url, title, author, html,
    text, language, categories, image_url, comments_url, enclosures, published_at, claimed_at, retrieved_at)
SELECT source_id, decode(md5(number::text), 'hex'), '', decode(md5(number::text), 'hex'),
    decode(md5(number::text), 'hex'), number::text, 'https://news.example/' || number, initcap(left(said, 70)), '',
    '<p>' || said || '</p>', said, 'en', '{}', '', '', '[]', published_at, published_at, retrieved_at
FROM (
    SELECT source_id, number, left(texts[1 + number * 7919 %% cardinality(texts)], length) AS said,
        now - age * interval '1 day' - delay * interval '1 day' AS published_at,
        now - age * interval '1 day' AS retrieved_at
    FROM (
        SELECT source_id, age, delay, length, %s::text[] AS texts, %s + ordinality AS number, %s::timestamptz AS now
        FROM unnest(%s::bigint[], %s::float8[], %s::float8[], %s::int[]) WITH ORDINALITY
            posting (source_id, age, delay, length, ordinality)
    ) drawn
) posting ORDER BY number
"""


# --- users ------------------------------------------------------------------------------------------------------------
def add_users(sources: IntArray, count: int, now: datetime, *, seed: int) -> Population:
    """Users, their folders, follows, marks, stars and tags."""
    chance = np.random.default_rng(seed + 1)
    User.objects.bulk_create(
        [User(username=f"reader{number}", email=f"reader{number}@people.example") for number in range(count)],
        batch_size=1_000,
    )
    user_ids = np.array(User.objects.order_by("pk").values_list("pk", flat=True)[:count], np.int64)
    kinds = chance.choice(KINDS, count, p=SHARES)
    follows = np.clip(chance.lognormal(3.7, 1.0, count), 3, MAX_FOLLOWED).astype(np.int64)
    follows[::50] = MAX_FOLLOWED
    follows = np.minimum(follows, sources.size // 2)
    _add_follows(sources, user_ids, kinds, follows, now, chance)
    readers = user_ids[kinds == "reader"].tolist()
    with connection.cursor() as cursor:
        for statement in (_ADD_FOLDERS, _FILE, _READ, _STAR, _KEEP_UNREAD, _ADD_TAGS, _TAG, _ADD_STORIES, _ADD_MEMBERS):
            cursor.execute(statement, {"readers": readers, "people": user_ids.tolist()})
    return Population(user_ids, kinds, follows, _add_collector(now), _add_hoarder(sources, now))


def _add_follows(
    sources: IntArray,
    user_ids: IntArray,
    kinds: NDArray[np.str_],
    follows: IntArray,
    now: datetime,
    chance: np.random.Generator,
) -> None:
    # Sources that publish much have more followers, but not in proportion.
    liked = np.arange(1, sources.size + 1) ** -0.3 * (1 + chance.pareto(1.2, sources.size))
    first, last = _span()
    for user_id, kind, amount in zip(user_ids.tolist(), kinds.tolist(), follows.tolist(), strict=True):
        days = chance.uniform(*MARKED_ALL[kind])  # ago
        chosen = sources[np.argpartition(chance.exponential(1.0, sources.size) / liked, amount - 1)[:amount]]
        begin = now - timedelta(days=days + chance.uniform(30, 200))
        through = last if kind == "done" else first + int((last - first) * (1 - days / YEAR))
        with connection.cursor() as cursor:
            cursor.execute(_ADD_FOLLOWS, [user_id, begin, through, begin, chosen.tolist()])


def _span() -> tuple[int, int]:
    """The first and the last number of a posting; in between they grow with the time of retrieval."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(id), max(id) FROM postings_posting")
        first, last = cursor.fetchone()
    return int(first), int(last)


_ADD_FOLLOWS = """
INSERT INTO following_follow (user_id, source_id, title, unread_from, read_through, followed_at)
SELECT %s, source_id, '', %s, %s, %s FROM unnest(%s::bigint[]) chosen (source_id)
"""
# Ten folders each, of which three lie in others.
_ADD_FOLDERS = """
WITH outer_folders AS (
    INSERT INTO following_folder (user_id, parent_id, name)
    SELECT user_id, NULL, 'Folder ' || n FROM unnest(%(people)s::bigint[]) user_id, generate_series(1, 7) n
    RETURNING id, user_id, name
)
INSERT INTO following_folder (user_id, parent_id, name)
SELECT user_id, id, 'Inner' FROM outer_folders WHERE name IN ('Folder 1', 'Folder 2', 'Folder 3')
"""
_FILE = """
WITH ranked AS (SELECT id, user_id, row_number() OVER (PARTITION BY user_id ORDER BY id) AS rank FROM following_folder)
INSERT INTO following_follow_folders (follow_id, folder_id)
SELECT follow.id, ranked.id FROM following_follow follow
JOIN ranked ON ranked.user_id = follow.user_id AND ranked.rank = follow.source_id %% 12 + 1
"""
_READ = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT user_id, posting.id, true, now() FROM following_follow follow
JOIN postings_posting posting ON posting.source_id = follow.source_id AND posting.id > read_through
    AND published_at >= unread_from
WHERE user_id = ANY(%(readers)s) AND (posting.id + user_id * 31) %% 10 < 7
"""
_STAR = """
INSERT INTO following_mark (user_id, posting_id, starred_at, changed_at)
SELECT user_id, posting.id, published_at, now() FROM following_follow follow CROSS JOIN LATERAL (
    SELECT id, published_at FROM postings_posting WHERE source_id = follow.source_id
    ORDER BY published_at DESC, id DESC OFFSET follow.id %% 9 LIMIT 1
) posting WHERE follow.id %% 4 = 0
ON CONFLICT (user_id, posting_id) DO UPDATE SET starred_at = excluded.starred_at
"""
_KEEP_UNREAD = """
INSERT INTO following_mark (user_id, posting_id, read, changed_at)
SELECT user_id, posting.id, false, now() FROM following_follow follow CROSS JOIN LATERAL (
    SELECT id FROM postings_posting WHERE source_id = follow.source_id AND id <= read_through ORDER BY id DESC LIMIT 1
) posting WHERE follow.id %% 20 = 0
ON CONFLICT (user_id, posting_id) DO UPDATE SET read = false
"""
_ADD_TAGS = """
INSERT INTO following_tag (user_id, name)
SELECT user_id, name FROM unnest(%(people)s::bigint[]) user_id, unnest(ARRAY['Later', 'Work', 'Recipes']) name
"""
_TAG = """
INSERT INTO following_tagging (tag_id, posting_id, tagged_at)
SELECT tag.id, posting_id, now() FROM following_mark mark JOIN following_tag tag ON tag.user_id = mark.user_id
WHERE starred_at IS NOT NULL AND (posting_id + tag.id) %% 5 = 0
"""
# Every tenth posting forms a story with the two before it.
_ADD_STORIES = """
INSERT INTO stories_story (id, lead_id, language, reports, copies, sources, first_at, latest_at)
SELECT id, id, 'en', 3, 0, 3, published_at, published_at FROM postings_posting WHERE id %% 10 = 0
"""
_ADD_MEMBERS = """
INSERT INTO stories_member (posting_id, story_id, source_id, published_at, text_hash, fingerprint, terms, weights)
SELECT posting.id, story.id, source_id, published_at, text_hash, '', '\\x00000000', '\\x0000803f'
FROM stories_story story CROSS JOIN generate_series(0, 2) before  -- one term of weight 1 makes them related
JOIN postings_posting posting ON posting.id = story.id - before  -- a range would be a loop over all pairs
"""


# --- a user with many unread postings ---------------------------------------------------------------------------------
def _add_collector(now: datetime) -> int:
    """Add a user who follows the busiest sources until a tenth of all postings is unread."""
    collector = User.objects.create(username="collector", email="collector@people.example")
    with connection.cursor() as cursor:
        cursor.execute(_COLLECT, {"user": collector.pk, "begin": now - timedelta(days=2 * YEAR)})
    return collector.pk


def _add_hoarder(sources: IntArray, now: datetime) -> int:
    """Add a user who has read nothing of the sources after the thirty busiest, in folders of thirty."""
    hoarder = User.objects.create(username="hoarder", email="hoarder@people.example")
    begin = now - timedelta(days=2 * YEAR)
    with connection.cursor() as cursor:
        cursor.execute(_ADD_FOLLOWS, [hoarder.pk, begin, 0, begin, sources[30 : 30 + HOARDED].tolist()])
        cursor.execute(_FILE_HOARD, [hoarder.pk])
    return hoarder.pk


_FILE_HOARD = """
WITH made AS (
    INSERT INTO following_folder (user_id, parent_id, name)
    SELECT id, NULL, 'Folder ' || n FROM (SELECT %s::bigint AS id) person, generate_series(1, 10) n
    RETURNING id, user_id, name
)
INSERT INTO following_follow_folders (follow_id, folder_id)
SELECT follow.id, made.id FROM following_follow follow JOIN made USING (user_id)
WHERE made.name = 'Folder ' || 1 + follow.id %% 10
"""
_COLLECT = """
INSERT INTO following_follow (user_id, source_id, title, unread_from, read_through, followed_at)
SELECT %(user)s, source_id, '', %(begin)s, 0, %(begin)s FROM (
    SELECT source_id, sum(amount) OVER (ORDER BY source_id) - amount AS before, sum(amount) OVER () / 10 AS wanted
    FROM (SELECT source_id, count(*) AS amount FROM postings_posting GROUP BY source_id) counted
) summed WHERE before < wanted
"""
