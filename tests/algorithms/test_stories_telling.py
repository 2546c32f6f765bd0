"""How a story is told by its reports."""

from hypothesis import given
from hypothesis import strategies as st

from apps.stories.algorithms.telling import ADDED, NAMES, telling

TEXTS = st.text("abc ABC 12.%", max_size=30)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6))
def test_any_reports_are_told(reports):
    told = telling(reports, "en")
    assert 0 <= told.neutral < len(reports)
    assert len(told.added) == len(reports)
    assert all(len(names) <= ADDED for names in told.added)
    assert len(told.names) <= NAMES
    for number, names in enumerate(told.added):
        before = " ".join(f"{title} {text}" for title, text in reports[:number]).casefold()
        assert not [name for name in names if name.casefold() in before]


def test_the_report_closest_to_all_others_is_the_headline():
    titles = ("Shock, mud and tears", "Storm floods Lisbon streets", "Lisbon streets flooded by a storm, 12 hurt")
    assert telling([(title, "") for title in titles], "en").neutral == 1
