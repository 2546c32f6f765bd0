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
