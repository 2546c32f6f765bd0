from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.postings.algorithms.identity import Decision, EntryKeys, KnownPosting, decide, keys
from apps.sources.formats.feed import Enclosure, ParsedEntry
from tests.algorithms.identity_twin import slowly_new

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ARTICLE = "https://example.org/articles/"


class Archive:
    """What the database does: find postings by the keys of a document, store decisions."""

    def __init__(self) -> None:
        self.postings: dict[int, KnownPosting] = {}
        self.titles: dict[int, str] = {}

    def receive(self, *entries: ParsedEntry, feed_link: str = "") -> Decision:
        document = keys(entries, feed_link=feed_link)
        decision = decide(document, self.known(document))
        for new in decision.new:
            assert new.identity not in {posting.identity for posting in self.postings.values()}
            number = len(self.postings) + 1
            self.postings[number] = KnownPosting(number, new.identity, new.link_key, new.content_hash)
            self.titles[number] = new.entry.title
        for changed in decision.changed:
            identity = self.postings[changed.id].identity
            self.postings[changed.id] = KnownPosting(changed.id, identity, changed.link_key, changed.content_hash)
            self.titles[changed.id] = changed.entry.title
        return decision

    def known(self, keys: Iterable[EntryKeys]) -> list[KnownPosting]:
        identities = {candidate for key in keys for candidate in key.candidates}
        links = {key.link_key for key in keys if key.link_key}
        return [each for each in self.postings.values() if each.identity in identities or each.link_key in links]

    def sees(self, *entries: ParsedEntry, feed_link: str = "") -> tuple[list[str], list[str], int]:
        """The titles of new and changed entries, and how many were the same."""
        decision = self.receive(*entries, feed_link=feed_link)
        return (
            [new.entry.title for new in decision.new],
            [changed.entry.title for changed in decision.changed],
            len(entries) - len(decision.new) - len(decision.changed),
        )


def entry(title: str, *, guid: str = "", link: str = "", content: str = "", at: datetime | None = None) -> ParsedEntry:
    return ParsedEntry(guid=guid, link=link, title=title, content=content, published=at)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({"guid": "1"}, {"guid": "1"}, id="its guid"),
        pytest.param({"guid": "1"}, {"guid": " 1\n"}, id="its guid with white space around"),
        pytest.param({"guid": "1", "link": ARTICLE}, {"guid": "2", "link": ARTICLE}, id="its link under a new guid"),
        pytest.param({"guid": "1", "link": ARTICLE}, {"guid": "1", "link": ARTICLE + "b"}, id="its guid at a new link"),
        pytest.param({"link": ARTICLE}, {"guid": "1", "link": ARTICLE}, id="its link when guids come"),
        pytest.param({"guid": "1", "link": ARTICLE}, {"link": ARTICLE}, id="its link when guids go"),
        pytest.param({}, {}, id="its words"),
        pytest.param({}, {"guid": "1", "link": ARTICLE}, id="its words when guid and link come"),
        pytest.param({}, {"link": ARTICLE}, id="its words when a link comes"),
    ],
)
def test_a_posting_is_known_by(before: dict[str, str], after: dict[str, str]) -> None:
    archive = Archive()
    archive.receive(entry("A", content="<p>x", **before))
    assert archive.sees(entry("A", content="<p>x", **after)) == ([], [], 1)


@pytest.mark.parametrize(
    "link",
    [
        "http://example.org/a",
        "https://www.example.org/a",
        "https://example.org/a/",
        "https://EXAMPLE.org:443/a",
        "https://example.org/a?utm_source=rss&utm_medium=feed",
        "https://example.org/a#xtor=RSS-3",
    ],
)
def test_spellings_of_a_link_mean_the_same_page(link: str) -> None:
    archive = Archive()
    archive.receive(entry("A", guid="1", link="https://example.org/a"))
    assert archive.sees(entry("A", guid="2", link=link)) == ([], [], 1)


def test_places_on_one_page_are_different_links() -> None:
    first, second = entry("1.0", link=ARTICLE + "#v1.0"), entry("1.1", link=ARTICLE + "#v1.1")
    archive = Archive()
    assert archive.sees(first, second) == (["1.0", "1.1"], [], 0)
    assert archive.sees(entry("1.0, withdrawn", link=ARTICLE + "#v1.0"), second) == ([], ["1.0, withdrawn"], 1)


def test_an_edit_under_the_same_guid_is_a_change() -> None:
    archive = Archive()
    archive.receive(entry("A", guid="1", link=ARTICLE))
    assert archive.sees(entry("A, corrected", guid="1", link=ARTICLE + "corrected")) == ([], ["A, corrected"], 0)


def test_a_changed_posting_keeps_its_link_while_the_new_one_identifies_nothing() -> None:
    archive = Archive()
    archive.receive(entry("A", guid="1", link=ARTICLE))
    archive.receive(entry("A, corrected", guid="1", link="https://example.org/"))
    assert archive.sees(entry("A, corrected", guid="2", link=ARTICLE)) == ([], [], 1)


def test_one_entry_and_then_two_with_its_guid_are_two_postings() -> None:
    first, second = entry("A", guid="x", link=ARTICLE + "a"), entry("B", guid="x", link=ARTICLE + "b")
    archive = Archive()
    assert archive.sees(first) == (["A"], [], 0)
    assert archive.sees(second, first) == (["B"], [], 1)
    assert archive.sees(second) == ([], [], 1)
    assert archive.sees(first) == ([], [], 1)


def test_an_edit_in_a_document_of_repeated_guids_is_found_by_the_link() -> None:
    first, second = entry("A", guid="x", link=ARTICLE + "a"), entry("B", guid="x", link=ARTICLE + "b")
    archive = Archive()
    archive.receive(first)
    assert archive.sees(entry("A, corrected", guid="x", link=ARTICLE + "a"), second) == (["B"], ["A, corrected"], 0)


def test_entries_that_share_guid_and_link_are_distinguished_by_title() -> None:
    first, second = entry("A", guid="x", link=ARTICLE), entry("B", guid="x", link=ARTICLE)
    archive = Archive()
    assert archive.sees(first) == (["A"], [], 0)
    assert archive.sees(first, second) == (["B"], [], 1)
    edited = entry("B", guid="x", link=ARTICLE, content="more")
    assert archive.sees(edited, first) == ([], ["B"], 1)


@pytest.mark.parametrize(
    "again",
    [
        entry("A", guid="1", link=ARTICLE),
        entry("A", guid="1", link=ARTICLE + "?utm_source=front-page"),
        entry("A", guid="2", link=ARTICLE),
        entry("A", link=ARTICLE),
    ],
)
def test_an_item_listed_twice_is_one_posting(again: ParsedEntry) -> None:
    archive = Archive()
    original = entry("A", guid="1", link=ARTICLE)
    assert archive.sees(original, again) == (["A"], [], 1)
    assert archive.sees(again, original) == ([], [], 2)


def test_a_notice_repeated_on_another_day_is_another_posting() -> None:
    archive = Archive()
    today = entry("All systems work", guid="1", link=ARTICLE, at=NOON)
    tomorrow = entry("All systems work", guid="2", link=ARTICLE, at=NOON + timedelta(days=1))
    assert archive.sees(today, tomorrow) == (["All systems work", "All systems work"], [], 0)


@pytest.mark.parametrize(
    ("link", "feed_link"),
    [
        ("https://example.org/", ""),
        ("http://www.example.org", ""),
        ("https://example.org/blog/", "https://example.org/blog"),
    ],
)
def test_a_link_to_the_home_page_identifies_nothing(link: str, feed_link: str) -> None:
    archive = Archive()
    archive.receive(entry("A", guid="1", link=link), feed_link=feed_link)
    assert archive.sees(entry("B", guid="2", link=link), feed_link=feed_link) == (["B"], [], 0)


def test_entries_without_guid_that_all_link_to_one_page_are_known_by_their_words() -> None:
    archive = Archive()
    first, second, third = (entry(title, link=ARTICLE, content=f"<p>{title}</p>") for title in "ABC")
    assert archive.sees(second, first) == (["B", "A"], [], 0)
    assert archive.sees(third, second) == (["C"], [], 1)


def test_a_pixel_numbered_at_every_retrieval_does_not_make_words_new() -> None:
    archive = Archive()
    archive.receive(entry("A", content="<p>x</p><img src=//t.example/1>"))
    assert archive.sees(entry("A", content="<p>x</p><img src=//t.example/2>")) == ([], ["A"], 0)


def test_guids_that_count_positions_do_not_hand_postings_to_their_neighbours() -> None:
    archive = Archive()
    archive.receive(entry("B", guid="1", link=ARTICLE + "b"), entry("A", guid="2", link=ARTICLE + "a"))
    moved = [entry(title, guid=str(n), link=ARTICLE + title.lower()) for n, title in enumerate("CBA", 1)]
    assert archive.sees(*moved) == (["C"], [], 2)


def test_entry_without_content_is_skipped() -> None:
    assert Archive().sees(ParsedEntry(), entry(" ", content=" \n")) == ([], [], 2)


def test_entry_with_only_an_enclosure_is_a_posting() -> None:
    spoken = [ParsedEntry(enclosures=(Enclosure(f"https://example.org/{number}.mp3"),)) for number in range(2)]
    assert len(Archive().receive(*spoken).new) == 2


def test_half_characters_and_nul_make_keys() -> None:
    assert len(Archive().receive(entry("\ud800\0", guid="\udfff", link="http://\ud800/")).new) == 1


def test_thousands_of_entries_that_share_everything_but_their_words_end_soon() -> None:
    entries = [entry("A", guid="x", link=ARTICLE, content=str(number)) for number in range(2_000)]
    entries += [entry("A", link=ARTICLE, content=str(number)) for number in range(2_000)]
    archive = Archive()
    assert len(archive.receive(*entries).new) == 2_001
    assert archive.sees(*entries) == ([], [], len(entries))


# A stream of different items, each with a stable guid or a stable link, as its publisher may spoil the other.

GUIDS = {
    "stable": lambda item, retrieval: f"item-{item}",
    "new at every retrieval": lambda item, retrieval: f"{item}-{retrieval}",
    "one for each retrieval": lambda item, retrieval: f"{retrieval}",
    "none": lambda item, retrieval: "",
}
LINKS = {
    "stable": lambda item, retrieval: f"{ARTICLE}{item}",
    "tracked": lambda item, retrieval: f"{ARTICLE}{item}?utm_content={retrieval}",
    "new at every retrieval": lambda item, retrieval: f"{ARTICLE}{item}?session={retrieval}",
    "home": lambda item, retrieval: "https://example.org/",
    "none": lambda item, retrieval: "",
}
TRUSTWORTHY = [(guid, link) for guid in GUIDS for link in LINKS if guid == "stable" or link in ("stable", "tracked")]


@st.composite
def windows(draw: st.DrawFn) -> list[range]:
    """."""
    shown = [range(0, draw(st.integers(1, 5)))]
    for _ in range(draw(st.integers(1, 8))):
        start = draw(st.integers(shown[-1].start, shown[-1].stop))
        stop = draw(st.integers(max(start + 1, shown[-1].stop), shown[-1].stop + 4))
        shown.append(range(start, stop))
    return shown


@given(windows(), st.sampled_from(TRUSTWORTHY), st.booleans(), st.booleans())
def test_every_item_with_a_stable_guid_or_link_is_stored_once(
    shown: list[range], publisher: tuple[str, str], edited: bool, listed_twice: bool
) -> None:
    archive, (guid, link) = Archive(), publisher
    for retrieval, items in enumerate(shown):
        entries = [
            entry(
                f"Item {item}",
                guid=GUIDS[guid](item, retrieval),
                link=LINKS[link](item, retrieval),
                content=f"Edition {retrieval}" if edited else "",
            )
            for item in reversed(items)
        ]
        archive.receive(*entries, *(entries if listed_twice else []))
    assert sorted(archive.titles.values()) == sorted(f"Item {item}" for item in range(shown[-1].stop))


# Any documents at all.

MAX_COUNT = st.sampled_from(["", "a", "b", "c"])
ENTRIES = st.builds(
    ParsedEntry,
    guid=MAX_COUNT,
    link=MAX_COUNT.map(lambda name: name and ARTICLE + name),
    title=MAX_COUNT,
    content=MAX_COUNT,
    published=st.sampled_from([None, NOON]),
)
DOCUMENTS = st.lists(ENTRIES, max_size=6)


# The guid of one names what the link of another does, so that one of them has to move to what else it may be.
A, B = ARTICLE + "a", ARTICLE + "b"
CROSSED = [
    [entry("", link=B, content="b")],
    [entry("", guid="a", link=A)],
    [entry("", link=A, content="b"), entry("", guid="a", link=B, content="b")],
]
CROSSED_BY_A_SHARED_GUID = [
    [entry("", link=B), entry("", guid="a", link=A)],
    [
        entry("a", link=A, content="a"),
        entry("", guid="a", content="a"),
        entry("a", guid="a", link=B, content="a"),
    ],
]


@example(CROSSED)
@example(CROSSED_BY_A_SHARED_GUID)
@given(st.lists(DOCUMENTS, max_size=5))
def test_unchanged_document_changes_nothing(documents: list[list[ParsedEntry]]) -> None:
    archive = Archive()
    for document in documents:
        archive.receive(*document)
        assert archive.sees(*document) == ([], [], len(document))


@given(st.lists(DOCUMENTS, max_size=4), DOCUMENTS)
def test_a_document_is_divided_into_new_changed_and_same(
    earlier: list[list[ParsedEntry]], latest: list[ParsedEntry]
) -> None:
    archive = Archive()
    for document in earlier:
        archive.receive(*document)
    known = archive.known(keys(latest))
    decision = decide(keys(latest), known)
    assert len(decision.new) + len(decision.changed) <= len(latest)
    assert len({changed.id for changed in decision.changed}) == len(decision.changed)
    identities = [new.identity for new in decision.new]
    assert len(set(identities)) == len(identities)
    assert {(new.entry, new.identity) for new in decision.new} in slowly_new(latest, known)
