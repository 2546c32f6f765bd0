"""From texts to terms: every language its way, and one way for all."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.words import MAX_TEXT_WORDS, STOP_MARK, analyse, language_of, sequence
from apps.postings.algorithms.words.analysis import MAX_WORD_LENGTH
from apps.postings.algorithms.words.folding import folded, lowered
from apps.postings.algorithms.words.languages import STOP_WORDS, base_code, language
from apps.postings.algorithms.words.scripts import ASCII_WORDS, PLANES_WITH_MARKS, words_and_characters
from apps.search.algorithms.models.query import Query

languages = st.sampled_from(["en", "de", "fr", "tr", "ru", "ar", "zh", "ja", "th", "hi", "", "x-none"])


@pytest.mark.parametrize(
    ("code", "text", "terms"),
    [
        ("en", "Running runs, RUN!", "run run run"),
        ("en", "The Kennedys' don't; it’s O'Neill's naïve café", "kennedi dont oneil naiv cafe"),
        ("en", "COVID-19 costs $3.5 in the U.S.", "covid 19 cost 3 5 u"),
        ("en", "ﬁne ＩＢＭ soft\u00adhyphen", "fine ibm softhyphen"),
        ("de", "Größe der Häuser; Straßen und Strassen", "gross haus strass strass"),
        ("fr", "L'élection d’été à l'État", "elect ete etat"),
        ("it", "l'arte dell'università", "arte univers"),
        ("es", "las elecciones, la elección", "eleccion eleccion"),
        ("pl", "Łódź: wyborów, wybory, wyborach", "lodz wybor wybor wybor"),
        ("cs", "volby voleb", "volb volb"),
        ("tr", "Türkiye'nin ISPARTA'da ışık İstanbul’da", "turki ispar isik istanbul"),
        ("ru", "Ёлка ёлки и президента России", "елк елк президент росс"),
        ("uk", "Київ, столиця України", "киів столиця украіни"),
        ("el", "Εκλογές στην Ελλάδα", "εκλογ στην ελλαδ"),
        ("ar", "الكِتَاب كتاب المدرسة مدرسة", "کتاب کتاب مدرس مدرس"),
        ("fa", "می\u200cخواهم كتاب‌ها کتاب", "میخواهم کتاب کتاب"),
        ("he", "שָׁלוֹם שלום", "שלום שלום"),
        ("hi", "किताबें किताब", "किताब किताब"),
        ("ta", "தமிழ் மொழி", "தமிழ் மொழி"),
        ("bn", "ভোট বাংলা", "ভোট বাংলা"),
        ("vi", "Việt Nam", "viet nam"),
        ("zh", "中国队", "中 国 队 中国 国队"),
        ("zh", "中国，队", "中 国 中国 队"),
        ("ja", "ポスト 行く", "ポ ス ト ポス スト 行 く 行く"),
        ("ja", "がっこう", "が っ こ う がっ っこ こう"),
        ("ja", "か\u3099", "が"),
        ("ko", "한국 대통령이", "한 국 한국 대 통 령 이 대통 통령 령이"),
        ("ko", "\u1112\u1161\u11ab", "한"),  # written in its parts
        ("th", "กรุงเทพ", "ก รุ ง เ ท พ กรุ รุง งเ เท ทพ"),
        ("my", "ဘာသာ", "ဘာ သာ ဘာသာ"),
        ("km", "ភាសា", "ភា សា ភាសា"),
        ("zh", "中国队 won 2:1", "中 国 队 中国 国队 won 2 1"),
        ("zh", "the elections 选举", "elect 选 举 选举"),  # Latin words go by English rules
        ("en", "Президента России", "президент росс"),  # and Cyrillic ones by Russian rules
        ("tlh", "nuqneH elections", "nuqneh elections"),
        ("", "elections", "elect"),
        ("en", "😀 _ -- !!", ""),
        ("en", "", ""),
    ],
)
def test_terms_of_a_text(code, text, terms):
    assert " ".join(analyse(text, code).terms) == terms


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("fr", "Été", "e\u0301te\u0301"),  # composed or not
        ("de", "Müller", "Muller"),
        ("de", "STRASSE", "straße"),
        ("tr", "IŞIK", "ışık"),
        ("ru", "ещё", "еще"),
        ("pl", "ŁÓDŹ", "Lodz"),
        ("ar", "مُحَمَّد", "محمد"),
        ("zh", "ＮＡＴＯ", "nato"),
        ("ja", "ｶﾞｿﾘﾝ", "ガソリン"),  # half and whole width
        ("en", "it’s Beyoncé’s cafés", "it's Beyonce's cafes"),
    ],
)
def test_spellings_that_readers_take_for_the_same(code, one, other):
    assert analyse(one, code).terms == analyse(other, code).terms


def test_traditional_and_simplified_characters_stay_apart():
    assert analyse("國", "zh").terms != analyse("国", "zh").terms


def test_stop_words_are_no_terms_and_stay_in_the_sequence():
    words = analyse("To be, or not to be: the Who", "en")
    assert words.terms == []
    assert words.sequence == ["_to", "_be", "_or", "_not", "_to", "_be", "_the", "_who"]
    assert words.content == []


def test_a_stop_word_is_not_taken_for_the_stem_of_another_word():
    assert analyse("own owned", "en").sequence == ["_own", "own"]


def test_neighbours_except_for_stop_words_are_pairs():
    assert Query.of(analyse("state of the union", "en")).pairs == {("state", "union"): 1}
    assert Query.of(analyse("中国队", "zh")).pairs == {("中", "国"): 1, ("国", "队"): 1}


def test_places_are_those_of_the_words_in_the_text():
    text = "L’élection, 中国 ✓ naïve"
    words = analyse(text, "fr")
    assert [text[start:end] for start, end in words.places] == ["L", "élection", "中", "国", "naïve"]


def test_long_texts_and_words_are_cut():
    assert len(analyse("word " * (MAX_TEXT_WORDS + 5), "en").sequence) == MAX_TEXT_WORDS
    assert analyse("x" * 500, "en").terms == ["x" * MAX_WORD_LENGTH]


# --- whatever comes ---------------------------------------------------------------------------------------------------
@given(st.text(), languages)
def test_any_text_has_terms_that_can_be_kept(text, code):
    words = analyse(text, code)
    assert len(words.places) == len(words.sequence)
    assert all(0 <= start < end <= len(text) for start, end in words.places)
    assert words.places == sorted(words.places)
    for item in (*words.terms, *words.sequence):
        assert item.strip()
        assert "\0" not in item
        assert ":" not in item  # which marks words of names
    assert not any(term.startswith(STOP_MARK) for term in words.terms)
    assert set(words.content) <= set(words.terms)


@given(st.text(), languages)
def test_to_read_a_text_twice_is_to_read_it_once(text, code):
    assert analyse(text, code) == analyse(text, code)


@given(st.text(st.characters(max_codepoint=126)))
def test_letters_of_other_scripts_beside_it_change_no_word(text):
    assert ASCII_WORDS.findall(text) == words_and_characters(elided=False).findall(text)
    alone, beside = analyse(text, "en"), analyse(f"{text} мир", "en")
    assert beside.sequence == [*alone.sequence, "мир"]


@given(st.text(), languages)
def test_a_phrase_of_a_text_is_found_in_it(text, code):
    """What stands in a text gives the same items alone as there: stop words lose no phrase."""
    words = analyse(text, code)
    if not words.places:
        return
    first, last = len(words.places) // 3, len(words.places) - len(words.places) // 4
    if first >= last:
        return
    part = text[words.places[first][0] : words.places[last - 1][1]]
    assert analyse(part, code).sequence == words.sequence[first:last]


@given(st.text(max_size=10), st.sampled_from(["tr", "en", ""]))
def test_folded_copies_stay_folded(word, code):
    once = folded(lowered(word, code))
    assert folded(once) == once


# --- languages --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "declared", "code"),
    [
        ("新しい首相が選ばれた", "", "ja"),
        ("新しい首相", "zh", "ja"),  # kana are no Chinese
        ("总理访问柏林", "en", "zh"),  # the script says more than the feed
        ("首相訪問", "ja", "ja"),
        ("총리가 왔다", "", "ko"),
        ("นายกรัฐมนตรี", "", "th"),
        ("رئيس الوزراء يزور", "", "ar"),
        ("نخست وزیر ایران گفت", "", "fa"),
        ("ראש הממשלה", "", "he"),
        ("Ο πρωθυπουργός", "", "el"),
        ("प्रधानमंत्री ने कहा", "", "hi"),
        ("Президент подписал закон", "", "ru"),
        ("Президент підписав закон про бюджет", "", "uk"),
        ("Президент подписал закон", "uk", "uk"),
        ("Der Bundestag hat gewählt", "", "de"),
        ("Prezydent podpisał ustawę o budżecie", "", "pl"),
        ("Cumhurbaşkanı yasayı imzaladı", "", "tr"),
        ("KENNEDY ADMINISTRATION PRESSURE ON NGO DINH DIEM", "", "en"),
        ("Der Tag", "en", "en"),  # the feed says more than few letters
        # Prose without the stop words of the language that the feed declares.
        ("The bank raised its rates on Thursday, and more of them would follow if prices did not fall.", "de-DE", "en"),
        ("Die Bank hat am Donnerstag die Zinsen erhöht, und weitere Schritte sollen im Herbst folgen.", "en", "de"),
        ("Die Bank hat am Donnerstag die Zinsen erhöht, und weitere Schritte sollen im Herbst folgen.", "de-AT", "de"),
        ("Predsednik je izjavio", "sr", "sr"),  # written in two scripts
        ("IBM kauft eine Firma", "zh", "de"),
        ("Apple iPhone launch event in Cupertino 发布", "zh", "en"),
        ("Le Monde", "fr-FR", "fr"),
        ("A text", "x-klingon", "und"),
        ("42", "de", "de"),
        ("42", "", ""),
        ("", "", ""),
    ],
)
def test_the_language_of_a_text(text, declared, code):
    assert language_of(text, declared) == code


@given(st.text(), st.sampled_from(["", "en", "zh-TW", "sr", "nonsense"]))
def test_any_text_has_a_language_whose_rules_are_known(text, declared):
    code = language_of(text, declared)
    assert code == "" or re.fullmatch("[a-z]{2,3}", code)
    assert base_code(code) == code


def test_every_stop_word_is_one_as_it_is_read():
    for code, words in STOP_WORDS.items():
        for word in words.split():
            items = analyse(word, code).sequence
            assert items == [STOP_MARK + folded(word)], (code, word)


def test_codes_of_feeds_are_understood():
    assert [base_code(code) for code in ("EN_us", "pt-BR", "iw", "cn", "", "zz")] == ["en", "pt", "he", "zh", "", "und"]
    assert language("de-AT").stem("häuser") == language("de").stem("häuser") != "häuser"


@given(st.text(max_size=80), languages)
def test_the_sequence_alone_is_the_one_of_the_whole_analysis(text, language_code):
    assert sequence(text, language_code) == analyse(text, language_code).sequence


def test_other_planes_of_unicode_hold_no_marks():
    marks = (code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
    assert {code >> 16 for code in marks} == set(PLANES_WITH_MARKS)
