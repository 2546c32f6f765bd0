"""Words and phrases as postings count for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trending.algorithms.filters import unwanted_of
from apps.trending.algorithms.terms import MAX_PHRASE_WORDS, MAX_TERMS, fold_of, number_of, terms_of, whole


def spelled(title: str, text: str = "", language: str = "en") -> set[str]:
    return {term.spelling for term in terms_of(title, text, language)}


def test_phrases_have_up_to_four_words_and_neither_begin_nor_end_in_a_stop_word():
    found = spelled("The mayor of the old harbour town resigns")
    assert "mayor of the old harbour" not in found
    assert {"mayor", "harbour", "old harbour town"} <= found
    assert not any("resigns" in term for term in found)
    assert not any(term.lower().startswith(("the ", "of ")) or term.lower().endswith((" the", " of")) for term in found)


def test_phrases_do_not_go_across_punctuation():
    assert spelled("Storm: ferries ashore, bridge damage") == {
        "Storm", "ferries", "ashore", "ferries ashore", "bridge", "damage", "bridge damage",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Covid-19", "AT&T", "F-35", "MH370", "U.S", "EU"])
def test_hyphens_ampersands_and_abbreviations_are_one_word(name):
    assert name in spelled(f"Nobody knows {name} here")


def test_numbers_and_boilerplate_of_headlines_are_no_terms():
    assert spelled("Watch live: 10 photos, today, 2024") == set()


def test_a_possessive_and_a_plural_are_the_same_term():
    assert {term.key for term in terms_of("Korea's presidents", "", "en")} == {
        term.key for term in terms_of("Korea president", "", "en")
    }


def test_of_a_text_only_names_count():
    text = "A spokesman said that the Bank of England met Angela Merkel. Nothing else happened at the NATO summit."
    names = spelled("Storm", text)
    assert {"Bank of England", "Angela Merkel", "NATO"} <= names
    assert not names & {"spokesman", "summit", "Nothing", "A"}


def test_a_text_in_title_case_has_no_names():
    assert spelled("Storm", "All Words Of This Text Have Capitals Whatever They Are") == {"Storm"}


def test_a_posting_without_title_counts_for_its_text():
    assert "harbour bridge" in spelled("", "harbour bridge is shut")


@pytest.mark.parametrize(
    ("title", "language", "words"),
    [
        ("国务院总理李强访问柏林", "zh", {"国务院总理李强", "柏林", "李强"}),
        ("新首相が東京で会見", "ja", {"新首相", "東京", "会見"}),
        ("대통령이 베를린을 방문", "ko", {"대통령", "베를린"}),
        ("L’élection de Macron", "fr", {"élection", "Macron"}),
        ("Президент Украины в Киеве", "ru", {"Президент Украины", "Киеве"}),
    ],
)
def test_every_script_has_words(title, language, words):
    assert words <= spelled(title, language=language)


@given(st.text(max_size=400), st.text(max_size=600), st.sampled_from(["en", "zh", "ja", "fr", "tr", ""]))
def test_any_text_gives_terms_that_stand_in_it(title, text, language):
    found = terms_of(title, text, language)
    assert len(found) <= MAX_TERMS
    for term in found:
        assert term.spelling in title or term.spelling in text
        assert len(term.key.split(" ")) <= MAX_PHRASE_WORDS
        assert -(2**63) <= term.number < 2**63
        assert term.number % 8 == min(term.joints, 7)


WORDS = ["harbour", "bridge", "storm", "of", "the", "old", "mill", "ferry"]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
def test_terms_are_the_runs_of_words_that_the_plain_way_finds(words):
    stops = {"of", "the"}
    runs = [words[begin:end] for begin in range(len(words)) for end in range(begin + 1, min(begin + 4, len(words)) + 1)]
    expected = [
        " ".join(run)
        for run in runs
        if run[0] not in stops and run[-1] not in stops and set(run) - stops != {"old"}  # which says nothing alone
    ]
    assert [term.spelling for term in terms_of(" ".join(words), "", "en")] == expected


@given(st.permutations(["acme", "shares", "rise", "after", "report"]), st.integers(0, 99))
def test_titles_of_the_same_words_fold_whatever_their_order_and_figures(words, figure):
    assert fold_of(f"{' '.join(words)} {figure}%", "en") == fold_of("Acme shares rise after report", "en")
    assert fold_of("Acme shares fall after report", "en") != fold_of("Acme shares rise after report", "en")


def test_a_shown_term_is_the_same_when_it_is_typed():
    for term in terms_of("Covid-19 cases rise at AT&T as EU leaders meet in New York", "", "en"):
        typed = whole(term.spelling, "en")
        assert typed is not None
        assert typed.number == term.number == number_of(term.key, term.joints)


def test_an_expression_that_cannot_be_read_takes_nothing_out():
    assert not unwanted_of("", "(", "en")(terms_of("storm", "", "en")[0])


@pytest.mark.parametrize(
    ("title", "language", "expected"),
    [
        ("Storm kills at least 9 in Texas on Thursday", "en", {"Storm", "Texas"}),
        ("Police Arrested Man After Shooting at Mall", "en", {"Police", "Mall"}),
        ("Senate rejects new plan", "en", {"Senate"}),
        ("Bundesrat stimmt am Donnerstag zu", "de", {"Bundesrat"}),
        ("总理周一宣布访问柏林", "zh", {"总理", "访问", "访问柏林", "柏林"}),
    ],
)
def test_fragments_are_no_terms(title: str, language: str, expected: set[str]):
    found = spelled(title, language=language)
    assert found & expected
    assert found <= expected


def test_a_verb_is_a_name_where_it_is_capitalised_in_running_text():
    assert "Face the Nation" not in spelled("Mayor to face the nation")
    assert "United Airlines" in spelled("Storm delays United Airlines")
    assert "Wins" in spelled("", "The new station that is called Wins was sold to a bank.")
    assert "wins" not in spelled("Storm wins the race of the year")
