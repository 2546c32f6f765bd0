"""The outline of a story from its reports."""

from hypothesis import given
from hypothesis import strategies as st

from apps.stories.algorithms.outline import ADDED, NAMES, outline_of

TEXTS = st.text("abc ABC 12.%", max_size=30)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6))
def test_any_reports_have_an_outline(reports):
    outline = outline_of(reports, "en")
    assert 0 <= outline.neutral < len(reports)
    assert len(outline.added) == len(reports)
    assert all(len(names) <= ADDED for names in outline.added)
    assert len(outline.names) <= NAMES
    for number, names in enumerate(outline.added):
        before = " ".join(f"{title} {text}" for title, text in reports[:number]).casefold()
        assert not [name for name in names if name.casefold() in before]


def test_the_report_closest_to_all_others_is_the_headline():
    titles = ("Shock, mud and tears", "Storm floods Lisbon streets", "Lisbon streets flooded by a storm, 12 hurt")
    assert outline_of([(title, "") for title in titles], "en").neutral == 1


def test_names_are_words_with_capitals_but_neither_days_nor_a_dateline():
    reports = [
        ("Storm in Lisbon", "LISBON, Nov 23 (Reuters) - Mayor Carlos Moedas spoke on Monday."),
        ("Lisbon's émigrés", "Carlos Moedas met Ana."),
    ]
    assert outline_of(reports, "en").added == (("Storm", "Lisbon", "Mayor Carlos Moedas"), ("Ana",))
    assert outline_of([("Мэр города Лиссабона", "")], "ru").added == (("Мэр", "Лиссабона"),)
    assert outline_of([("סערה הציפה", "עיר 12")], "he").added == (("12",),)


def test_of_chinese_reports_numbers_and_foreign_names_are_shown():
    reports = [("青海地震已致9人遇难", "消防员赶赴灾区。"), ("消防员救出34名群众，Apple公司捐款", "9人遇难")]
    assert outline_of(reports, "zh").added == (("9",), ("34", "Apple"))


def test_a_word_that_another_report_has_without_its_capital_is_no_name():
    reports = [("Drivers flee a fire in Porto", "Most were unhurt."), ("Porto: drivers return", "Drivers came home.")]
    outline = outline_of(reports, "en")
    assert outline.added == (("Porto",), ())
    assert outline.names == ("Porto",)
    russian = [("Водители бегут", "Пожар в Порту."), ("Пожар в Порту", "Пожар, и водители.")]
    assert outline_of(russian, "ru").added == (("Пожар", "Порту"), ())


def test_a_number_is_shown_with_what_it_counts():
    reports = [
        ("Fire in Porto", ""),
        ("Porto fire: 11 hurt, 2 of them badly", "It cost $3.5 million, 40% of a budget."),
    ]
    assert outline_of(reports, "en").added[1] == ("11 hurt", "2", "3.5 million", "40%")


def test_a_name_stays_one_beside_an_equal_word_and_an_address():
    reports = [
        ("Apple sues Samsung", "In California Apple sued, and Samsung answered. More at www.apple.com/samsung."),
        ("Samsung and Apple in court", "An apple on the bench."),
    ]
    assert {"Apple", "Samsung"} <= set(outline_of(reports, "en").names)


def test_a_number_takes_neither_a_name_nor_an_earlier_number_with_it():
    reports = [
        ("11 people hurt in Porto", ""),
        ("In 2024 Lisbon flooded", "At 10 Downing Street. Now 11 hurt, at 5 p.m."),
    ]
    assert outline_of(reports, "en").added[1] == ("2024", "Lisbon", "10", "Downing Street", "5")
    assert outline_of([("2024 floods", "12\u00a0hurt")], "en").added == (("2024", "12 hurt"),)
