"""What is new in a document, by the slowest way to find out."""

from collections.abc import Callable, Collection, Sequence
from functools import partial

from apps.postings.algorithms.identity import EntryKeys, KnownPosting, keys
from apps.sources.formats.feed import ParsedEntry

Listed = tuple[ParsedEntry, EntryKeys]
Rule = Callable[[EntryKeys, KnownPosting], bool]


def slowly_new(entries: Sequence[ParsedEntry], known: Sequence[KnownPosting]) -> list[set[tuple[ParsedEntry, bytes]]]:
    """What may be new by the rules, tried one after the other, with every entry against every posting.

    Several answers are right where unchanged entries can be matched to different postings.
    """
    listed = [(each, key) for each, key in zip(entries, keys(entries), strict=True) if key.identities]
    different: list[Listed] = []
    for position, (each, key) in enumerate(listed):
        if not any(is_listed_again(other, other_key, each, key) for other, other_key in listed[:position]):
            different.append((each, key))
    taken = {posting.identity for posting in known}

    def shared(identity: bytes) -> bool:
        return sum(identity in key.identities for _, key in different) > 1

    def free(key: EntryKeys) -> list[bytes]:
        return [identity for identity in key.identities if not shared(identity) and identity not in taken]

    unchanged = matched_unchanged(sorted(different, key=lambda item: not free(item[1])), known)
    return [
        {
            (each, free(key)[-1])
            for each, key in unmatched_by_rules(different, rules(shared), matched, known, used)
            if free(key)
        }
        for matched, used in unchanged
    ]


def matched_unchanged(
    different: Sequence[Listed], known: Sequence[KnownPosting]
) -> set[tuple[frozenset[int], frozenset[int]]]:
    """Every way to match unchanged entries, the first ones at any price: keys of entries and ids of postings."""
    ways: set[tuple[frozenset[int], frozenset[int]]] = {(frozenset(), frozenset())}
    for _, key in different:
        may_be = [
            posting.id
            for posting in known
            if key.content_hash == posting.content_hash
            and (posting.identity in key.candidates or key.link_key == posting.link_key != b"")
        ]
        extended = {
            (matched | {id(key)}, used | {posting})
            for matched, used in ways
            for posting in may_be
            if posting not in used
        }
        ways = extended or ways
    return ways


def rules(shared: Callable[[bytes], bool]) -> list[Rule]:
    def at_its_link(key: EntryKeys, posting: KnownPosting) -> bool:
        return key.link_key != b"" and key.link_key == posting.link_key

    def has_identity(level: int, key: EntryKeys, posting: KnownPosting) -> bool:
        return (
            len(key.identities) > level
            and key.identities[level] == posting.identity
            and (not shared(posting.identity) or at_its_link(key, posting))
        )

    return [
        *(partial(has_identity, level) for level in range(3)),
        at_its_link,
        lambda key, posting: key.text_key == posting.identity,
    ]


def unmatched_by_rules(
    different: Sequence[Listed],
    rules: Sequence[Rule],
    matched: Collection[int],
    known: Sequence[KnownPosting],
    used: Collection[int],
) -> list[Listed]:
    unmatched = [item for item in different if id(item[1]) not in matched]
    free = [posting for posting in known if posting.id not in used]
    for rule in rules:
        for item in list(unmatched):
            for posting in list(free):
                if rule(item[1], posting):
                    unmatched.remove(item)
                    free.remove(posting)
                    break
    return unmatched


def is_listed_again(first: ParsedEntry, first_key: EntryKeys, later: ParsedEntry, later_key: EntryKeys) -> bool:
    same_page_words_and_date = (
        first_key.link_key == later_key.link_key != b""
        and first_key.text_key == later_key.text_key
        and first.published == later.published
    )
    return first_key.identities[0] == later_key.identities[0] or same_page_words_and_date
