"""Sentences of many languages, the datelines before them, and what is left out of reports."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.summaries.algorithms.datelines import dateline_end
from apps.summaries.algorithms.outlines import outline
from apps.summaries.algorithms.sentences import MAX_TEXT_LENGTH, sentences
from apps.summaries.algorithms.texts import read
from apps.summaries.algorithms.vectors import Frequencies
from tests.trials import quick_every

# A stroke stands where a sentence ends.
TEXTS = [
    ("en", "Mr. Smith paid $3.5 m.| He laughed!| Why?| Nobody knows..."),
    ("en", '"I am tired," he said.| "Go home!" she cried.| They left (in a hurry).| Good.'),
    ("en", "The U.S. Senate met at 8 p.m. on Friday.| In the U.S. The House did not."),
    ("en", "J. K. Rowling came with Dr. A. Jones Jr. of Acme Inc. and left."),
    ("en", "See No. 5 of vol. 2.| No.| It cost 3.50 on Jan. 4.| Visit example.com today."),
    ("en", "1. First do this.| 2. Then do that."),
    ("en", "A headline without a stop\n\nThe first paragraph.| It goes on"),
    ("en", "A line that\ncarries on.| And ends"),
    ("de", "Am 3. Oktober kam Dr. Meyer z.B. nach Bonn.| Dort blieb er.| „Gut so!“| Er ging."),
    ("fr", "M. Macron est venu avec Mme. Royal.| « Et moi ? »| Oui…| Non."),
    ("es", "¿Qué pasa?| ¡Nada!| El Sr. Pérez vive en EE. UU. desde 1990."),
    ("it", "Il dott. Rossi è qui.| Il sig. Bianchi ecc. no."),
    ("ru", "В 1990 г. он родился.| Т. е. давно.| «Да!»| Он жил на ул. Ленина."),
    ("ar", "هذا خبر.| وهذا سؤال؟| نعم."),
    ("hi", "यह वाक्य है।| यह दूसरा है।"),
    ("zh", "他说：“我们赢了！”|总理很高兴。|真的吗？！|是的……一定。|没有句号"),
    ("ja", "「はい。」と彼は言った。|次の文だ。|終わり！"),
    ("ko", "그는 왔다.| 그녀는 갔다!| 정말?"),
    ("th", "ประโยคแรกของข่าว\nประโยคที่สอง"),
    ("zh", "苹果公司(Apple Inc.)周一宣布。|It said so. 他们同意。"),
]


@pytest.mark.parametrize(("language", "marked"), TEXTS)
def test_sentences_end_where_a_reader_would_end_them(language: str, marked: str):
    text = marked.replace("|", "")
    expected = [piece.strip() for line in marked.split("\n") for piece in line.split("|")]
    if "carries on" in marked:
        expected = [piece.strip() for piece in marked.split("|")]
    if "It said so." in marked:
        expected = [*expected[:-1], "It said so.", "他们同意。"]
    if "In the U.S." in marked:
        expected = [*expected[:-1], "In the U.S.", "The House did not."]
    assert [text[start:end] for start, end in sentences(text, language)] == [piece for piece in expected if piece]


@given(
    st.lists(
        st.sampled_from(["Dr", "ends", "The", "3", "J", ".", "!", "。", "”", "“", " ", "\n", "\n\n", "他", "u", "…"]),
        max_size=40,
    ),
    st.sampled_from(["en", "de", "zh", ""]),
)
def test_sentences_follow_each_other_and_no_letter_is_lost(pieces: list[str], language: str):
    text = "".join(pieces)
    places = sentences(text, language)
    flat = [place for pair in places for place in pair]
    assert flat == sorted(flat)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in places)
    joined = "".join(text[start:end] for start, end in places)
    assert [letter for letter in joined if letter.isalpha()] == [letter for letter in text if letter.isalpha()]


@given(st.lists(st.lists(st.sampled_from(["ships", "sank", "of", "storms"]), min_size=1), min_size=1, max_size=8))
def test_plain_sentences_are_taken_apart_as_they_were_put_together(words: list[list[str]]):
    written = [f"{' '.join(each).capitalize()} indeed." for each in words]
    text = " ".join(written)
    assert [text[start:end] for start, end in sentences(text, "en")] == written


@pytest.mark.parametrize(
    "piece",
    quick_every(3, [".", "a. ", '"', "\n", "\n-", " ", "A.", ". “", "。", "Mr. ", "x" * 50, "1. ", "(CNN", "字", "A-"]),
)
def test_any_text_is_split_within_seconds(piece: str):
    """Not even one that no rule of sentences is made for; what takes its square takes minutes of it."""
    text = piece * (MAX_TEXT_LENGTH // len(piece)) + "x"
    start = time.process_time()
    sentences(text, "en")
    dateline_end(text)
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("dateline", "rest"),
    [
        ("(CNN)", "It rained."),
        ("Karachi, Pakistan (CNN) -- ", "It rained."),
        ("WASHINGTON, Jan 5 (Reuters) - ", "It rained."),
        ("Berlin (dpa) - ", "Es regnete."),
        ("LONDON, England -- ", "It rained."),
        ("МОСКВА, 5 янв — РИА Новости. ", "Шёл дождь."),
        ("  新华社布鲁塞尔3月18日电（记者帅蓉 张晓茹）", "下雨了。"),
        ("新华社阿布贾2月16日新媒体专电（记者杨旸）", "下雨了。"),
        ("【ワシントン＝共同】", "雨が降った。"),
        ("", "The Labour Party (LAB) said it rained."),
        ("", "IBM said -- again -- that it rained."),
        ("", "It rained in Berlin (dpa said so)."),
        ("", "新华社的记者说下雨了。"),
    ],
)
def test_a_dateline_is_no_part_of_the_first_sentence(dateline: str, rest: str):
    assert dateline_end(dateline + rest) == len(dateline)


REPORT = ("The bridge was closed.", "Ferries replace it.", "Divers look for a pillar.", "It opens on Friday.")


def test_a_sentence_that_returns_counts_once():
    assert read(" ".join([*REPORT, REPORT[1]]), "en") == read(" ".join(REPORT), "en")


def test_credits_and_long_strings_are_no_keywords():
    text = " ".join(["Photograph: Jane Doe/Reuters.", *REPORT, f"Then {'x' * 60} fell."])
    assert {"Jane", "Doe", "x" * 60}.isdisjoint(outline("", text, "en", Frequencies()).words)
