"""Matching of a document's entries with stored postings: an item is stored once, even if guids and links change.

The guid takes precedence over the link, and the link over the words; but a value that several entries of a document
share identifies none of them. So every entry has keys from the general to the special, and a posting is stored under
the most general one that was unique when it first came:

- with a guid: the guid; guid and link; guid, link and title;
- without: the link; link and words.

Links are compared as pages (`same_page_key`), so tracking parameters, http or https, `www.` and a last slash do not
matter. A link identifies nothing when several entries of the document have it, when it is the feed's own, or when
it is the root of a host.

Entries that cannot be distinguished, and the outcome:

- documents of one entry each with the same guid for every item, or with the same link and another guid every time:
  one posting, edited again and again (as for a publisher who renews the guid at every edit);
- entries without guid whose link identifies nothing: an edit of title or first words makes a new posting;
- a guid shared by several entries of a document whose links change too: new postings;
- entries that agree in guid, link and title within one document, or, under different guids, in link, words and
  date: one posting, the first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from apps.sources.algorithms.addresses import same_page_key_and_fragment
from apps.sources.formats.feed import ParsedEntry

_MAX_REACHED = 1_000  # postings that one entry may make others move among
_MAX_IDENTITIES = 3
_KEY_LENGTH = 2_000  # characters of markup whose words count for the key
_TAG = re.compile(r"<[^>]*(?:>|$)")


class EntryKeys(NamedTuple):
    """What identifies an entry in its document; each key has 16 bytes, or none where the entry lacks the thing."""

    entry: ParsedEntry
    link_key: bytes  # empty if the link does not identify it
    text_key: bytes  # title and first words; empty for an entry without any
    content_hash: bytes  # title and markup exactly as they came: equal means nothing to do
    identities: tuple[bytes, ...]  # the special ones first; none for an entry without content

    @property
    def candidates(self) -> tuple[bytes, ...]:
        """All identities under which the posting may have been stored."""
        return tuple(dict.fromkeys((*self.identities, self.text_key)))


class KnownPosting(NamedTuple):
    id: int
    identity: bytes
    link_key: bytes
    content_hash: bytes


class NewPosting(NamedTuple):
    entry: ParsedEntry
    identity: bytes  # no other posting of the source has it
    link_key: bytes
    content_hash: bytes


class ChangedPosting(NamedTuple):
    id: int
    entry: ParsedEntry
    link_key: bytes  # the new one, or the stored one while the link identifies nothing
    content_hash: bytes


class Decision(NamedTuple):
    new: tuple[NewPosting, ...]  # in the order of the document
    changed: tuple[ChangedPosting, ...]


def keys(entries: Sequence[ParsedEntry], *, feed_link: str = "") -> tuple[EntryKeys, ...]:
    """The keys of a document's entries, to look up stored postings and to `decide` with.

    Look up the source's postings whose identity is among all `candidates` or whose link key is among the non-empty
    link keys. Time is linear in the size of the document, whose parser limits it.

    >>> one_page = ParsedEntry(title="A", link="http://example.org/x/"), ParsedEntry(link="https://example.org/x?fbclid=2")
    >>> [key.link_key for key in keys(one_page)]  # identifies neither
    [b'', b'']
    >>> keys(one_page[:1])[0].link_key == keys(one_page[1:])[0].link_key != b""
    True
    """
    home = _page(feed_link)
    pages = [_page(entry.link) for entry in entries]
    pages = ["" if page == home or not set(page) & set("/?#") else page for page in pages]  # nor the first of a site
    texts = [_text_key(entry) for entry in entries]
    items = defaultdict(set)  # the different entries on each page: one listed twice does not blur its link
    for entry, page, text in zip(entries, pages, texts, strict=True):
        items[page].add((text, entry.published))
    return tuple(
        _entry_keys(entry, page, text, is_own_page=len(items[page]) == 1)
        for entry, page, text in zip(entries, pages, texts, strict=True)
    )


def decide(document: Sequence[EntryKeys], known: Iterable[KnownPosting]) -> Decision:
    """Decide which entries of a document are new, changed or the same, given the stored postings that share a key.

    Two entries never become one stored posting, nor do two new postings get one identity. Linear in the number of
    entries and known postings.

    >>> document = keys([ParsedEntry(guid="7", link="https://example.org/a", title="A")])
    >>> [new] = decide(document, []).new
    >>> stored = KnownPosting(1, new.identity, new.link_key, new.content_hash)
    >>> decide(document, [stored])
    Decision(new=(), changed=())
    >>> renewed = ParsedEntry(guid="8", link="https://example.org/a?utm_source=rss", title="A, corrected")
    >>> [posting.id for posting in decide(keys([renewed]), [stored]).changed]
    [1]
    """
    return _Matching(document, tuple(known)).decision()


class _Matching:
    """One document against the stored postings, each of which is given to one entry at most."""

    def __init__(self, document: Sequence[EntryKeys], known: Sequence[KnownPosting]):
        self.keys = document
        self.known = known
        self.positions = list(_without_repetitions(document))
        self.sharers = Counter(key for position in self.positions for key in document[position].identities)
        self.matches: dict[int, KnownPosting] = {}  # by the entry's position
        self.given: dict[int, int] = {}  # the entry's position, by the id of its posting
        self.taken = {posting.identity for posting in known}
        self.unchanged: dict[int, list[KnownPosting]] = {}  # that an entry may be, by its position

    def decision(self) -> Decision:
        self._match()
        new = tuple(self._new_postings())
        changed = tuple(
            ChangedPosting(posting.id, key.entry, key.link_key or posting.link_key, key.content_hash)
            for position, posting in sorted(self.matches.items())
            if (key := self.keys[position]).content_hash != posting.content_hash
        )
        return Decision(new, changed)

    def _match(self) -> None:
        """Certain matches first: guids that merely count positions would else hand each posting to its neighbour."""
        by_identity = {posting.identity: posting for posting in self.known}
        by_link = defaultdict(list)
        for posting in self.known:
            by_link[posting.link_key].append(posting)
        self._match_unchanged(by_identity, by_link)
        self._match_identities(by_identity)
        for position in self.positions:
            if link_key := self.keys[position].link_key:
                for posting in by_link[link_key]:
                    self._offer(position, posting)
        for position in self.positions:
            if by_words := by_identity.get(self.keys[position].text_key):
                self._offer(position, by_words)

    def _match_unchanged(
        self, by_identity: Mapping[bytes, KnownPosting], by_link: Mapping[bytes, Sequence[KnownPosting]]
    ) -> None:
        """Match unchanged entries so that none is left over because another one holds its posting.

        Entries that would be new come first; an entry that holds a posting they need moves to another of its own.
        """
        for position in sorted(self.positions, key=lambda position: not self._free_identities(position)):
            key = self.keys[position]
            named = [by_identity.get(identity) for identity in (*key.identities, key.text_key)]
            linked = by_link.get(key.link_key, ()) if key.link_key else ()
            self.unchanged[position] = [
                posting for posting in (*named, *linked) if posting and posting.content_hash == key.content_hash
            ]
            self._make_room(position)

    def _make_room(self, start: int) -> None:
        """Match the entry along the shortest augmenting path, which ends at an unmatched posting."""
        reached: dict[int, int] = {}  # the position of the entry that may have it, by the posting's id
        waiting = [start]
        for position in waiting:
            for posting in self.unchanged[position]:
                if posting.id in reached or len(reached) >= _MAX_REACHED:
                    continue
                reached[posting.id] = position
                if posting.id not in self.given:
                    self._move(posting, reached)
                    return
                waiting.append(self.given[posting.id])

    def _move(self, posting: KnownPosting | None, reached: Mapping[int, int]) -> None:
        """Give the posting to the entry that reached it, that entry's former posting to the next, and so on."""
        while posting is not None:
            position = reached[posting.id]
            self.matches[position], self.given[posting.id], posting = posting, position, self.matches.get(position)

    def _match_identities(self, by_identity: Mapping[bytes, KnownPosting]) -> None:
        for specificity in range(_MAX_IDENTITIES):
            for position in self.positions:
                for identity in self.keys[position].identities[specificity : specificity + 1]:
                    posting = by_identity.get(identity)
                    if posting and self._may_have_changed(position, identity, posting):
                        self._offer(position, posting)

    def _may_have_changed(self, position: int, identity: bytes, posting: KnownPosting) -> bool:
        """Of several entries that share an identity, only the one at the stored link can be an edit of the posting."""
        return self.sharers[identity] == 1 or self.keys[position].link_key == posting.link_key != b""

    def _offer(self, position: int, posting: KnownPosting) -> None:
        if position not in self.matches and posting.id not in self.given:
            self.matches[position], self.given[posting.id] = posting, position

    def _new_postings(self) -> Iterator[NewPosting]:
        for position in self.positions:
            free = self._free_identities(position)
            if free and position not in self.matches:
                key = self.keys[position]
                yield NewPosting(key.entry, free[-1], key.link_key, key.content_hash)

    def _free_identities(self, position: int) -> list[bytes]:
        """The identities that no other entry of the document and no posting has."""
        identities = self.keys[position].identities
        return [identity for identity in identities if self.sharers[identity] == 1 and identity not in self.taken]


def _without_repetitions(document: Sequence[EntryKeys]) -> Iterator[int]:
    """The positions of entries that say something and are not an earlier entry listed again."""
    seen: set[object] = set()
    for position, key in enumerate(document):
        if not key.identities:
            continue
        listings: list[object] = [key.identities[0]]
        if key.link_key:
            listings.append((key.link_key, key.text_key, key.entry.published))
        if seen.isdisjoint(listings):
            yield position
        seen.update(listings)


def _entry_keys(entry: ParsedEntry, page: str, text_key: bytes, *, is_own_page: bool) -> EntryKeys:
    guid = entry.guid.strip()
    identities: tuple[bytes, ...]
    if guid:
        title = " ".join(entry.title.split()) or text_key.hex()
        guid_alone = _digest("guid", guid)
        identities = (_digest("guid+link+title", guid, page, title), _digest("guid+link", guid, page), guid_alone)
    elif page:
        identities = (_digest("link+words", page, text_key.hex()), _digest("link", page))
    else:
        identities = (text_key,) if text_key else ()
    return EntryKeys(
        entry=entry,
        link_key=_digest("page", page) if page and is_own_page else b"",
        text_key=text_key,
        content_hash=_digest("content", entry.title, entry.content, entry.summary),
        identities=identities,
    )


def _page(link: str) -> str:
    """The page that a link leads to, and the place on it: fragments such as `#xtor=RSS-1` only track."""
    page, fragment = same_page_key_and_fragment(link)
    return page if not page or "=" in fragment else page + fragment


def _text_key(entry: ParsedEntry) -> bytes:
    """Title and first words alone, since the markup may contain a number that changes at each retrieval."""
    markup = (entry.content or entry.summary)[:_KEY_LENGTH]
    words = " ".join(_TAG.sub(" ", markup).split())
    title = " ".join(entry.title.split())
    if not words:
        words = f"{markup.strip()}{' '.join(enclosure.url for enclosure in entry.enclosures)}"
    return _digest("words", title, words) if title or words else b""


def _digest(domain: str, *parts: str) -> bytes:
    """16 bytes that no other domain, and no other division into parts, can yield."""
    digest = blake2b(digest_size=16, person=domain.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()
