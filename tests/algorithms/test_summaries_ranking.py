"""The thesis' formulas as printed, our own order of sentences, and summaries of a length."""

import json
import lzma
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from apps.summaries.algorithms.asides import is_aside
from apps.summaries.algorithms.characteristic import spelt
from apps.summaries.algorithms.composing import by_count, by_ratio
from apps.summaries.algorithms.outlines import DEFAULT, STEPS, outline
from apps.summaries.algorithms.ranking import Weights, contents, openings, ranked
from apps.summaries.algorithms.start_table import start_table
from apps.summaries.algorithms.texts import Sentence, Text, read
from apps.summaries.algorithms.thesis import characteristic_words
from apps.summaries.algorithms.vectors import Frequencies, pack, unpack
from lab.evaluations.summaries.evaluation import count
from lab.evaluations.summaries.thesis import sentence_weight, thesis_scores
from lab.management.commands import make_start_table
from lab.management.commands.make_start_table import to_json

TERMS = st.sampled_from(["storm", "harbour", "bridge", "ferry", "po", "mayor", "reopened"])
SENTENCES = st.lists(st.tuples(st.lists(TERMS, max_size=5), st.integers(1, 80)), max_size=12)
HOLDING = st.dictionaries(TERMS, st.integers(0, 12))


def a_text(parts: list[tuple[list[str], int]], title: frozenset[str] = frozenset()) -> Text:
    return Text(
        tuple(Sentence(0, 1, float(words), tuple(terms), int(words) % 9, int(words) % 2 > 0) for terms, words in parts),
        title,
    )


def slow_contents(text: Text, frequencies: Frequencies) -> list[float]:
    """What the head of the module says, word by word."""
    documents, holding = frequencies.documents, frequencies.holding
    times = Counter(term for sentence in text.sentences for term in sentence.terms)
    share = {term: min(holding.get(term, 0), documents) / documents if documents else 0.0 for term in times}
    rarity = {term: math.log((documents + 1) / (min(holding.get(term, 0), documents) + 0.5)) for term in times}
    characteristic, recurring, rows = [], [], []
    for sentence in text.sentences:
        root = math.sqrt(sentence.words)
        weights = [times[term] * (1 - share[term]) * math.sqrt(len(term) - 1) for term in sentence.terms]
        characteristic.append(sum(weights) / root)
        recurring.append(sum(times[term] - 1 for term in set(sentence.terms)) / root)
        row = {term: often * rarity[term] for term, often in Counter(sentence.terms).items()}
        length = math.sqrt(sum(value**2 for value in row.values()))
        rows.append({term: value / length for term, value in row.items()})
    central = [
        max(0.0, sum(one[term] * other.get(term, 0.0) for other in rows for term in one) - 1) if one else 0.0
        for one in rows
    ]
    titles = [
        len({term for term in text.title_terms if term in sentence.terms}) / max(1, len(text.title_terms))
        for sentence in text.sentences
    ]
    parts = [(0.2, characteristic), (0.4, recurring), (0.6, central)]
    return [
        sum(weight * values[number] / (max(values) if max(values) > 1e-12 else 1.0) for weight, values in parts)
        + 0.4 * titles[number]
        + 0.1 * min(text.sentences[number].names, 6) / 6
        + 0.05 * text.sentences[number].has_number
        for number in range(len(text.sentences))
    ]


def slow_order(text: Text, frequencies: Frequencies) -> list[int]:
    worth = slow_contents(text, frequencies)
    everything = sum(sentence.words for sentence in text.sentences)
    order: list[int] = []
    while len(order) < len(worth):
        covered = sum(text.sentences[number].words for number in order)

        def score(number: int, covered: float = covered) -> float:
            lead = 1 + 0.6 * min(text.sentences[0].words / 25 - 1, 1)
            place = 1.5 * lead * math.exp(-number / 4) + (0.4 if number == 0 else 0.0)
            length = -0.3 * min(text.sentences[number].words, 60) / 60
            return worth[number] + (place + length) * math.exp(-5.3 * covered / everything)

        order.append(max((number for number in range(len(worth)) if number not in order), key=score))
    return order


@given(SENTENCES, st.frozensets(TERMS, max_size=3), st.integers(0, 10), HOLDING)
def test_contents_equal_the_formula(parts, title, documents, holding):
    text = a_text(parts, title)
    frequencies = Frequencies(documents, holding)
    # Centralities are differences of nearly equal numbers: what is nothing but rounding is scaled up to 1.
    if max(slow_central(text, frequencies), default=1.0) > 1e-9:
        np.testing.assert_allclose(contents(text, frequencies), slow_contents(text, frequencies), atol=1e-6)


def slow_central(text: Text, frequencies: Frequencies) -> list[float]:
    shared = Counter(term for sentence in text.sentences for term in set(sentence.terms))
    return [float(any(shared[term] > 1 for term in sentence.terms)) for sentence in text.sentences]


@given(SENTENCES, HOLDING)
def test_sentences_are_taken_one_after_the_other_while_places_fade(parts, holding):
    # Different lengths, so that no two sentences are worth the same except for rounding.
    text = a_text([(terms, words + 0.01 * number) for number, (terms, words) in enumerate(parts)])
    frequencies = Frequencies(12, holding)
    if max(slow_central(text, frequencies), default=1.0) > 0:
        found, expected = ranked(text, frequencies), slow_order(text, frequencies)
        assert sorted(found) == list(range(len(parts)))
        if found != expected:  # then two were worth the same
            worth = slow_contents(text, frequencies)
            place = next(place for place in range(len(found)) if found[place] != expected[place])
            assert worth[found[place]] == pytest.approx(worth[expected[place]], abs=1.0)


def test_one_line_is_the_beginning_and_more_is_what_else_there_is():
    beginning = "The harbour bridge was closed on Monday."
    rest = "Cars queued. Drivers swore! Rain fell... Two buses turned. Shops opened late. Nobody minded. Lunch came."
    gist = "The harbour bridge was closed since the storm broke a pillar of the bridge, said the harbour master."
    order = ranked(read(f"{beginning} {rest} {gist} Evening came.", "en"), Frequencies())
    assert order[:2] == [0, 8]


def test_a_long_first_sentence_is_a_lead_and_a_short_one_only_opens_the_text():
    others = [(["mayor"], 20), (["ferry"], 20), (["reopened"], 20)]
    lead, opening = (openings(a_text([(["storm"], words), *others])) for words in (30, 5))
    assert np.all(lead[1:] > opening[1:])
    assert lead[1] - lead[3] > 2 * (opening[1] - opening[3])


def test_names_and_numbers_draw_a_sentence_forward():
    text = read("It rained. Cars queued. The mayor met Angela Merkel in Rome. They waited. It cost 90 euros.", "en")
    assert [(sentence.names, sentence.has_number) for sentence in text.sentences[1:3]] == [(0, False), (3, False)]
    assert text.sentences[4].has_number


def test_the_titles_words_draw_a_sentence_forward():
    parts = [(["storm"], 9), (["mayor"], 9), (["ferry"], 9), (["bridge"], 9)]
    with_title, without = a_text(parts, frozenset({"bridge"})), a_text(parts)
    assert ranked(with_title, Frequencies()).index(3) < ranked(without, Frequencies()).index(3)


def test_an_empty_text_has_no_sentences_to_rank():
    assert ranked(read("", "en"), Frequencies()) == []
    assert ranked(read("... !!! 12", "en"), Frequencies()) == []
    assert outline("", "", "", Frequencies()).summaries == {}


def test_weights_of_nothing_leave_the_order_of_the_text():
    text = a_text([(["storm"], 5), (["storm", "mayor"], 9), ([], 2)])
    nothing = Weights(words=0, recurrence=0, centrality=0, title=0, names=0, number=0, length=0)
    assert ranked(text, Frequencies(), nothing) == [0, 1, 2]


@given(st.permutations(range(6)), st.lists(st.integers(1, 40), min_size=6, max_size=6), st.floats(0.01, 1))
def test_a_ratio_is_reached_by_the_last_sentence_taken_and_by_none_before(order, lengths, ratio):
    taken = by_ratio(order, lengths, ratio)
    assert taken == sorted(taken)
    total = sum(lengths[number] for number in taken)
    assert total >= ratio * sum(lengths) * (1 - 1e-6)
    last = max(taken, key=order.index)
    assert set(taken) == set(order[: len(taken)])
    assert len(taken) == 1 or total - lengths[last] < ratio * sum(lengths)


@given(st.permutations(range(7)), st.lists(st.integers(1, 60), min_size=7, max_size=7))
def test_a_default_summary_has_three_sentences_and_up_to_five_while_it_is_short(order, lengths):
    taken = by_count(order, lengths)
    assert taken == sorted(order[: len(taken)])
    words = sum(lengths[number] for number in taken)
    assert len(taken) == 5 or (words >= 60 and len(taken) in (3, 4))
    last = lengths[order[len(taken) - 1]]
    assert len(taken) == 3 or words - last < 60


REPORT = ("The bridge was closed.", "Ferries replace it.", "Divers look for a pillar.", "It opens on Friday.")


@pytest.mark.parametrize(
    "aside",
    [
        "Photograph: Jane Doe/Reuters",
        "A pillar of the bridge in May 2023 (Photo by Jane Doe)",
        "The bridge on Monday. Jane Doe/Getty Images",
        "Image caption, The bridge on Monday",
        "Read more: Storm hits Rome",
        "Sign up to our newsletter.",
        "By Jane Doe, Political Editor",
        "What we know",  # a heading
        "Copyright 2023 The Gazette. All rights reserved.",
        "Jane Doe contributed to this report.",
    ],
)
def test_a_summary_never_has_captions_credits_headings_and_calls(aside: str):
    text = "\n".join([*REPORT[:2], aside, *REPORT[2:]])
    found = read(text, "en").sentences
    assert tuple(text[sentence.start : sentence.end] for sentence in found) == REPORT


@pytest.mark.parametrize("aside", ["图为总理在柏林。", "（新华社记者 李明摄）", "责任编辑：王芳", "扫码关注我们。"])
def test_a_chinese_summary_never_has_them_either(aside: str):
    report = ("总理访问柏林。", "天气很好。", "总理会见德国总理。")
    text = "\n".join([aside, *report])
    assert tuple(text[each.start : each.end] for each in read(text, "zh").sentences) == report


@pytest.mark.parametrize(
    "sentence",
    [
        "Photographs of the storm show it.",
        "Sources said so.",
        "Related costs rose.",
        "The report was released.",
        "By the time he came, it rained.",
        "广告收入增长。",
    ],
)
def test_a_sentence_that_only_begins_like_a_caption_stays(sentence: str):
    assert not is_aside(sentence)


def test_a_headline_that_opens_a_chinese_report_stays_unless_it_is_the_title():
    text = "总理访问柏林\n总理说很好。\n天气很好。\n总理会见德国总理。"
    assert len(read(text, "zh").sentences) == 4
    assert len(read(text, "zh", "总理访问柏林").sentences) == 3


def test_boilerplate_of_a_source_is_in_no_summary():
    text = " ".join([REPORT[0], "We are listed on  the stock exchange.", *REPORT[1:]])
    own = " ".join(REPORT)
    assert "exchange" not in {term for each in read(text, "en", own=own).sentences for term in each.terms}
    assert "exchang" in {term for each in read(text, "en").sentences for term in each.terms}


def test_a_text_of_nothing_but_asides_keeps_them():
    assert len(read("Photograph: Jane Doe. Read more: Storm hits Rome", "en").sentences) == 2


def test_a_ratio_of_nothing_is_refused():
    with pytest.raises(ValueError, match="above 0 and at most 1, not 0"):
        by_ratio([0], [1], 0)
    assert by_ratio([], [], 0.5) == []


ARTICLE = " ".join(
    f"{subject} {verb} the {thing} on {day} after the storm, officials of the harbour said later."
    for subject, verb, thing, day in zip(
        ["Workers", "Engineers", "Sailors", "Neighbours", "Children", "Firefighters", "Divers"],
        ["closed", "inspected", "left", "watched", "painted", "flooded", "searched"],
        ["bridge", "pillar", "ferry", "fence", "wall", "cellar", "basin"],
        ["Monday", "Tuesday", "Sunday", "Friday", "Monday", "Thursday", "Monday"],
        strict=True,
    )
)


def test_a_longer_summary_holds_every_shorter_one():
    found = outline("Bridge closed", ARTICLE, "en", Frequencies())
    assert tuple(found.summaries) == (DEFAULT, *STEPS)
    assert len(found.summaries[DEFAULT]) == 4
    for shorter, longer in pairwise(STEPS):
        assert set(found.summaries[shorter]) <= set(found.summaries[longer])
    assert all(ARTICLE[start:end].endswith("later.") for start, end in found.summaries[50])


def test_chinese_sentences_are_ranked_by_pairs_of_characters():
    text = read("新华社北京3月4日电（记者李明）总理访问柏林。天气很好。总理在柏林会见德国总理。", "zh", "总理访问柏林")
    assert [sentence.terms[:2] for sentence in text.sentences] == [("总理", "理访"), ("天气", "气很"), ("总理", "理在")]
    assert ranked(text, Frequencies()) == [0, 2, 1]


# --- the thesis, literally


def slow_weight(words: list[str], word: str, numdoc: int, totalnumdoc: int, shortest: float, influence: float) -> float:
    beyond = len(word) - shortest
    share = numdoc / totalnumdoc if totalnumdoc else 0.0
    return words.count(word) * (1 - share) * beyond**influence if beyond > 0 else 0.0


@given(
    st.lists(TERMS, max_size=12),
    st.dictionaries(TERMS, st.integers(0, 10)),
    st.sampled_from([0, 10, 25]),
    st.sampled_from([0.0, 1.0, 4.5]),
    st.sampled_from([0.0, 0.5, 2.0]),
)
def test_characteristic_words_weigh_what_the_thesis_prints(words, holding, documents, shortest, influence):
    found = characteristic_words(words, Frequencies(documents, holding), shortest=shortest, influence=influence)
    expected = {
        word: slow_weight(words, word, min(holding.get(word, 0), documents), documents, shortest, influence)
        for word in words
    }
    assert found == pytest.approx(expected)
    assert list(found.values()) == sorted(found.values(), reverse=True)


WEIGHTS = {"ship": 6.0, "sank": 4.0}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The ship sank", 10 / 3),  # three words, one part, no numeral: s2 is 1
        ("The ship, it sank", 10 / (4 * 2)),
        ("The ship sank in 1912", 10 / 5),
        ("The ship: 3 decks, 9 boats", 6 / (6 * 3 * 2)),
        ("The ship and the ship", 12 / 5),  # repeats count
        ("Nothing of it", 0.0),
        ("—!", 0.0),  # no words: s0 is 0
    ],
)
def test_a_sentence_weighs_what_the_thesis_prints_with_guards_for_counts_of_nothing(sentence: str, expected: float):
    assert sentence_weight(sentence, "en", WEIGHTS) == pytest.approx(expected)
    assert sentence_weight(sentence, "en", WEIGHTS, divisor=2) == pytest.approx(expected / 2)


def test_a_chinese_sentence_is_weighed_by_its_words():
    weights = {"总理": 3.0, "柏林": 2.0}
    assert sentence_weight("总理访问柏林，柏林欢迎", "zh", weights) == pytest.approx(7 / (5 * 2))


def test_in_a_collection_of_one_document_every_word_weighs_nothing_as_printed():
    frequencies = count([["ship", "sank"]])
    assert thesis_scores(["The ship sank.", "A ship."], "en", frequencies) == [0.0, 0.0]
    assert all(score > 0 for score in thesis_scores(["The ship sank.", "A ship."], "en", Frequencies()))


# --- frequencies


@given(st.lists(st.lists(TERMS, max_size=6), max_size=8), st.lists(st.lists(TERMS, max_size=6), max_size=8))
def test_frequencies_of_two_collections_are_those_of_both(first, second):
    together, added = count([*first, *second]), count(first) + count(second)
    assert (together.documents, dict(together.holding)) == (added.documents, dict(added.holding))
    for term in ("storm", "unheard"):
        number = sum(term in document for document in [*first, *second])
        assert together.shares([term]) == pytest.approx(number / max(1, together.documents))
        [rarity] = together.rarities([term])
        assert 0 < rarity < math.inf


@given(st.dictionaries(TERMS, st.integers(0, 9)), st.integers(1, 5))
def test_packed_frequencies_keep_the_commonest_terms(holding, most):
    kept = unpack(pack(Frequencies(9, holding), most), 9)
    common = sorted((number for number in holding.values() if number > 1), reverse=True)[:most]
    assert sorted(kept.holding.values(), reverse=True) == common
    assert all(holding[term] == number for term, number in kept.holding.items())


@pytest.mark.parametrize(("language", "common", "rare"), [("en", "year", "volcano"), ("pl", "polsk", "wulkan")])
def test_the_start_table_knows_which_words_are_common(language: str, common: str, rare: str):
    of_common, of_rare = start_table(language).shares([common, rare])
    assert of_common > 0.05 > of_rare


def test_of_languages_that_the_start_table_does_not_know_nothing_is_common():
    assert start_table("xx").documents == 0


def test_a_start_table_counts_in_thousandths_and_leaves_rare_terms_and_small_languages_out():
    counted = {"en": Frequencies(4_000, {"said": 400, "rare": 4}), "fo": Frequencies(50, {"og": 40})}
    assert to_json(counted) == '{\n"en": {\n"100": "said"\n}\n}\n'


def test_a_start_table_is_made_of_a_file_of_postings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(make_start_table, "MIN_COUNTED", 1)
    lines = [
        {"title": "The ferry waits for the storm", "desc": "Nobody knew when it would leave the harbour."},
        {"title": "Left out", "desc": "Only every second posting is read of this file."},
        {"title": "The ferry has sailed", "desc": "It was late because of the weather, said its captain."},
    ]
    with lzma.open(tmp_path / "items.jsonl.xz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    call_command("make_start_table", postings=tmp_path / "items.jsonl.xz", every=2, to=tmp_path / "table.json")
    table = json.loads((tmp_path / "table.json").read_text())
    assert table["en"]["1000"] == "ferri"
    assert "harbour" in table["en"]["500"].split()
    assert "file" not in table["en"]["500"].split()


# --- words to search by


def test_characteristic_words_are_spelt_as_the_text_spells_them_most():
    text = "Zürich elects. The Zürich elections, elections of Zürich's council, were free. Elections!"
    frequencies = Frequencies(100, {"free": 90, "council": 50})
    assert spelt(text, "en", frequencies, 2) == ["elections", "Zürich"]


def test_no_characteristic_word_is_a_stop_word_a_letter_or_a_number():
    assert spelt("The 2024 x of the 42nd and a b", "en", Frequencies(), 9) == []
