"""The index in Postgres against a dictionary, while postings come, change and go, and generations are made of them."""

import random
from datetime import timedelta
from hashlib import blake2b

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.jobs.actions import working
from apps.jobs.models import Job
from apps.postings.models import Posting
from apps.search import actions
from apps.search.actions import segment_building
from apps.search.actions.reindexing import consume
from apps.search.actions.segment_building import maintain
from apps.search.algorithms.index import levels
from apps.search.algorithms.index.caching import Cache
from apps.search.algorithms.index.conditions import All, DocumentSet, Not, Stands
from apps.search.algorithms.models import bm25
from apps.search.algorithms.models.index import Row as TermRow
from apps.search.algorithms.models.ranking import best
from apps.search.models import Document, Generation, OutboxRow, Row
from apps.search.queries import blocks, snapshot, spans, stored
from apps.search.queries.stored import joined_row
from lab.chaos.index.checking import Check, check
from lab.worlds.index import empty, posting_ids
from tests.apps.search.index_twin import Twin
from tests.builders import NOON, a_posting, a_source
from tests.trials import quick_every

pytestmark = pytest.mark.django_db

WORDS = ("the", "of", "budget", "vote", "parliament", "storm", "flood", "minister", "中国", "大学", "election", "élan")


def some_words(chance: random.Random, most: int = 12) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, most)))


def hash_of(title: str, text: str) -> bytes:
    return blake2b(f"{title}\0{text}".encode(), digest_size=16).digest()


def publish(chance: random.Random, source) -> Posting:
    title, text = some_words(chance, 4), some_words(chance)
    return a_posting(
        source,
        title=title,
        text=text,
        text_hash=hash_of(title, text),
        language="en",
        author=chance.choice(["", "Ann Lee", "Bo Sen"]),
        published_at=NOON - timedelta(minutes=chance.randint(0, 10_000)),
    )


def edit(chance: random.Random, posting: Posting) -> None:
    posting.text = some_words(chance)
    posting.text_hash = hash_of(posting.title, posting.text)
    posting.save()


def two_of(twin: Twin, chance: random.Random) -> list[int]:
    return chance.sample(list(twin.readings), min(2, len(twin.readings)))


@pytest.fixture
def small_levels(monkeypatch):
    """Generations of 2, 8 and 32 documents, blocks of several and spans of 4, so that few postings make many."""
    for name, size in (("SMALLEST", 2), ("MIDDLE", 8), ("LARGEST", 32)):
        monkeypatch.setattr(levels, name, size)
    for name, size in (("MAX_GENERATION", 8), ("MAX_JOINED", 32)):
        monkeypatch.setattr(blocks, name, size)
    monkeypatch.setattr(spans, "MIN_POSTINGS", 4)


@pytest.mark.parametrize("seed", quick_every(3, range(6)))
def test_index_agrees_with_a_dictionary_after_random_operations(seed, small_levels, monkeypatch):
    monkeypatch.setattr(stored, "READ_AT_ONCE", 12 if seed % 3 else 1_000)  # where most indexes are large
    chance, twin, source = random.Random(seed), Twin(), a_source(language="en")
    generations = 0
    for step in range(25):
        kind = chance.choice(["add", "add", "add", "edit", "edit", "delete", "delete", "maintain", "maintain", "anew"])
        match "empty" if step == 9 else kind:
            case "add":
                for _ in range(chance.randint(1, 9)):
                    publish(chance, source)
            case "edit":
                for posting in Posting.objects.filter(pk__in=two_of(twin, chance)):
                    edit(chance, posting)
            case "delete":
                Posting.objects.filter(pk__in=two_of(twin, chance)).delete()
            case "maintain":
                maintain(at_least=chance.randint(1, 8))
            case "anew":
                pull_all()
                twin.pull()
                job_id = actions.reindexing.begin(requested_by="a test")
                working.advance(job_id)
                working.work_on_one("a worker", job_id)  # some are indexed again and some are not
            case "empty":
                empty()
                twin.readings = {}
        if chance.random() < 0.7:
            pull_all(limit=chance.randint(1, 20))
            assert not OutboxRow.objects.exists()
            twin.pull()
        agree(twin, chance)
        generations = max(generations, Generation.objects.count())
    assert generations


def pull_all(limit: int = 100) -> None:
    while consume(limit=limit):
        pass


def agree(twin: Twin, chance: random.Random) -> None:
    terms = sorted({term for id in twin.readings for term in twin.held_by(id)})
    with snapshot() as index:
        assert index.documents == len(twin.readings)
        assert index.average_length == pytest.approx(twin.average_length)
        numbers = index.numbers(terms)
        assert index.document_frequencies(numbers).tolist() == [twin.document_frequency(term) for term in terms]
        documents = index.documents_of(list(twin.readings))
        assert documents.size == len(twin.readings)
        assert sorted(posting_ids(documents)) == sorted(twin.readings)
        few, many = stored.attributes_of(documents), index.attributes(documents)
        assert [each.tolist() for each in few] == [each.tolist() for each in many]
        found = index.vectors(documents)
        ids = posting_ids(documents)
        names = index.names(found.terms)
        for place, id in enumerate(ids):
            part = slice(found.bounds[place], found.bounds[place + 1])
            assert dict(zip(names[part], found.frequencies[part].tolist(), strict=True)) == dict(twin.terms_of(id))
        weights = {term: chance.random() for term in chance.sample(["budget", "vote", "storm", "中", "大学", "nil"], 3)}
        ranked = best(index.blocks(index.numbers(list(weights))), np.array(list(weights.values())), 1_000)
        expected = twin.scores(weights, average_lengths_of_segments())
        scores = dict(zip(posting_ids(ranked.documents), ranked.scores, strict=True))
        assert scores == pytest.approx(expected, rel=0.01, abs=0.02)  # an impact is kept in a byte
        check_lists(twin, index, chance)


def average_lengths_of_segments() -> dict[int, float]:
    """By posting of a generation, the average length of its impacts."""
    return {
        posting_id: generation.average_length
        for generation in Generation.objects.all()
        for posting_id, dead in zip(
            np.frombuffer(generation.posting_ids, "<i8").tolist(),
            np.unpackbits(np.frombuffer(generation.dead, np.uint8), count=generation.size).tolist(),
            strict=True,
        )
        if not dead
    }


def check_lists(twin: Twin, index, chance: random.Random) -> None:
    word, other = chance.sample(["budget", "vote", "storm", "flood"], 2)
    phrase = chance.choice([("_the", "budget"), ("vote", "storm"), ("中", "国")])
    holds = All((DocumentSet((int(index.numbers([word])[0]),)), Not(DocumentSet((int(index.numbers([other])[0]),)))))
    signed = [-number if item[0] == "_" else number for item, number in zip(phrase, index.numbers(phrase), strict=True)]
    with_both = [id for id in twin.readings if word in twin.held_by(id) and other not in twin.held_by(id)]
    count = chance.choice([3, 100])
    assert [found.posting_id for found in index.restricted(holds).newest(count)] == twin.newest(with_both)[:count]
    with_phrase = [
        id
        for id, reading in twin.readings.items()
        if any(tuple(reading.sequence[at : at + 2]) == phrase for at in range(len(reading.sequence)))
    ]
    stands = Stands(tuple(int(number) for number in signed))
    assert [found.posting_id for found in index.restricted(stands).newest(count)] == twin.newest(with_phrase)[:count]
    without = [id for id in twin.readings if id not in with_phrase]
    assert [found.posting_id for found in index.restricted(Not(stands)).newest(count)] == twin.newest(without)[:count]


def test_a_posting_is_found_once_it_was_pulled_and_its_edit_takes_its_place():
    posting = a_posting(title="A flood in Rome", text="", text_hash=b"1" * 16, language="en")
    consume()
    assert found("flood") == [posting.pk]
    Posting.objects.filter(pk=posting.pk).update(title="A storm in Rome", text_hash=b"2" * 16)
    assert found("flood") == [posting.pk]
    consume()
    assert (found("flood"), found("storm")) == ([], [posting.pk])
    posting.delete()
    consume()
    assert found("storm") == []


def found(word: str) -> list[int]:
    with snapshot() as index:
        ranked = best(index.blocks(index.numbers([word])), np.ones(1), 10)
        return posting_ids(ranked.documents)


def test_a_change_without_other_words_is_not_read_again():
    posting = a_posting(text_hash=b"1" * 16)
    consume()
    Posting.objects.filter(pk=posting.pk).update(image_url="https://other.example/")
    assert not OutboxRow.objects.exists()
    OutboxRow.objects.create(posting_id=posting.pk)
    before = Document.objects.get().number
    assert consume() == 1
    assert Document.objects.get().number == before


def test_postings_of_a_deleted_source_are_found_no_more():
    source = a_source()
    for number in range(3):
        a_posting(source, title="flood", text_hash=bytes([number]) * 16, language="en")
    consume()
    maintain(at_least=1)
    source.delete()
    consume()
    assert found("flood") == []
    maintain(at_least=1)
    assert not Generation.objects.exists()
    assert not Row.objects.exists()


def faults() -> list[str]:
    found = Check()
    for _ in check(found):
        pass
    return found.faults


@pytest.mark.parametrize("seed", quick_every(3, range(3)))
def test_check_finds_no_fault_after_random_operations(seed, small_levels):
    chance, source = random.Random(seed), a_source()
    for _ in range(4):
        for _ in range(12):
            publish(chance, source)
        consume()
        maintain(at_least=3)
        for posting in chance.sample(list(Posting.objects.all()), 5):
            edit(chance, posting)
        Posting.objects.filter(
            pk__in=[posting.pk for posting in chance.sample(list(Posting.objects.all()), 2)]
        ).delete()
        consume()
    assert faults() == []
    job_id = actions.reindexing.begin(requested_by="a test")
    working.advance(job_id)
    working.work_on_one("a worker", job_id)
    maintain(at_least=3)
    assert faults() == []
    call_command("reindex")
    assert Job.objects.get().pk == job_id  # what was begun was finished
    assert faults() == []
    call_command("reindex", "--empty")
    assert faults() == []
    assert Document.objects.count() == Posting.objects.count()
    call_command("check_index")


DAMAGES = {
    "postings of a term are lost": "UPDATE search_row SET postings = '' WHERE length(postings) > 3",
    "a row is lost": "DELETE FROM search_row WHERE ctid = (SELECT max(ctid) FROM search_row)",
    "a term is counted wrong": "UPDATE search_term SET document_frequency = 77 WHERE term = 'vote'",
    "a sealed document is lost": "DELETE FROM search_document WHERE number = 0",
    "a document of the tail is lost": "DELETE FROM search_document WHERE number = 11",
    "a generation is lost": "DELETE FROM search_generation",
    "a note is lost": "DELETE FROM search_outboxrow",
    "a time is wrong": "UPDATE search_document SET published_at = now() WHERE number = 1",
    "numbers are given again": "UPDATE search_head SET next_document = 3",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_check_sees_that(damage):
    chance, source = random.Random(1), a_source()
    for _ in range(10):
        publish(chance, source)
    consume()
    maintain(at_least=1)
    for _ in range(3):
        publish(chance, source)
    consume()
    publish(chance, source)
    assert faults() == []
    with connection.cursor() as cursor:
        cursor.execute(DAMAGES[damage])
    assert faults() != []
    with pytest.raises(CommandError, match="reindex --empty"):
        call_command("check_index")


def test_postings_that_the_outbox_missed_are_found_by_a_full_comparison():
    posting = a_posting(title="flood", text_hash=b"1" * 16, language="en")
    OutboxRow.objects.all().delete()
    assert actions.reindexing.note_missed() == 1
    consume()
    assert found("flood") == [posting.pk]
    assert actions.reindexing.note_missed() == 0


def test_generation_with_many_dead_documents_is_rebuilt(small_levels):
    chance, source = random.Random(2), a_source()
    postings = [publish(chance, source) for _ in range(8)]
    consume()
    maintain(at_least=8)
    before = Generation.objects.get()
    for posting in postings[:5]:
        posting.delete()
    consume()
    maintain(at_least=8)
    after = Generation.objects.get()
    assert (before.pk != after.pk, after.dead_count, after.dropped) == (True, 5, 5)
    assert maintain(at_least=8) == 0
    assert faults() == []


def publish_in_parts(chance: random.Random, source, *, parts: int, size: int) -> None:
    """Publish and index postings, and build segments after each part."""
    for _ in range(parts):
        for _ in range(size):
            publish(chance, source)
        consume()
        maintain(at_least=size)


@pytest.mark.parametrize("name", ["attributes", "origins"])
def test_columns_of_an_index_that_is_larger_than_their_cache_are_read_once(name, small_levels, monkeypatch):
    chance, source = random.Random(5), a_source()
    publish_in_parts(chance, source, parts=24, size=8)
    unpack, read = getattr(stored, f"_{name}_in"), list[int]()
    monkeypatch.setattr(stored, f"_{name}", Cache(2_200, stored._weight))  # bytes; of a few generations
    monkeypatch.setattr(stored, "READ_AT_ONCE", 64)
    monkeypatch.setattr(stored, f"_{name}_in", lambda row: read.append(row.id) or unpack(row))
    with snapshot() as index:
        for block in index.blocks(index.numbers(["news"])):
            _ = block.attributes if name == "attributes" else block.source_ids()
    assert Generation.objects.count() > 3
    assert sorted(read) == sorted(Generation.objects.values_list("pk", flat=True))


def test_blocks_of_any_size_in_one_snapshot_have_their_own_sources(small_levels, monkeypatch):
    monkeypatch.setattr(levels, "LARGEST", 8)
    chance, sources = random.Random(5), [a_source() for _ in range(3)]
    for number in range(12):
        publish_in_parts(chance, sources[number % 3], parts=1, size=8)
    Posting.objects.earliest("pk").delete()
    consume()
    with snapshot() as index:
        large, small = list(index.blocks(index.numbers(["news"]))), list(index.blocks())
        assert len(large) < len(small)
        for block in [*large, *small]:
            assert block.source_ids().tolist() == block.attributes.source_ids.tolist()
            assert block.alive() is None or block.alive().size == block.size


def test_of_merged_generations_nothing_stays_in_memory(small_levels):
    chance, source = random.Random(5), a_source()
    publish_in_parts(chance, source, parts=6, size=2)
    read_all()
    publish(chance, source)
    Posting.objects.earliest("pk").delete()
    consume()
    maintain(at_least=1)
    read_all()
    present = dict(Generation.objects.values_list("pk", "dead_count"))
    assert {id for ids, _ in stored._rows._values for id in ids} <= set(present)
    assert set(stored._attributes._values) == set(stored._origins._values) == set(present.items())


def read_all() -> None:
    with snapshot() as index:
        for block in index.blocks(index.numbers(WORDS)):
            block.rows()
            _ = block.attributes
            block.source_ids()


def test_generations_with_impacts_of_another_version_are_reported_and_rebuilt(monkeypatch):
    chance, source = random.Random(3), a_source()
    with monkeypatch.context() as before:
        before.setattr(bm25, "K1", 2.0)
        before.setattr(segment_building, "IMPACT_VERSION", "BM25 k1=2.0 b=0.6")
        for _ in range(8):
            publish(chance, source)
        consume()
        maintain(at_least=1)
    [generation] = Generation.objects.all()
    assert f"Generations {generation.pk} have impacts of BM25 k1=2.0 b=0.6" in faults()[0]
    maintain()
    assert faults() == []
    assert Generation.objects.get().impact_version == bm25.IMPACT_VERSION


@pytest.mark.parametrize("first", [[], [1]])
def test_offsets_of_joined_generations_may_exceed_16_bits(first):
    before, behind = (
        TermRow(np.array(offsets, np.uint16), np.ones(len(offsets), np.uint8)) for offsets in (first, [65_535])
    )
    joined = joined_row([(np.uint32(0), before if first else None), (np.uint32(131_072), behind)])
    assert joined.documents.tolist() == [*first, 196_607]
