"""Why a source is asked is told in the reader's language, whatever numbers stand in it."""

import pytest
from django.utils import translation

from apps.reading.reasons import SHAPES, reason_said, shape_of
from apps.retrieval import instants
from apps.retrieval.algorithms.politeness import Answer, Limits, Memory, judge
from tests.builders import NOON

ANSWERS = {
    "fine": Answer(200, {"etag": "x"}, is_feed=True),
    "kept": Answer(200, {"etag": "x", "cache-control": "max-age=7200"}, is_feed=True),
    "dated": Answer(200, {"etag": "x", "expires": "Wed, 01 May 2024 15:00:00 GMT"}, is_feed=True),
    "unvalidated": Answer(200, {}, is_feed=True),
    "throttled": Answer(429, {}),
    "told to wait": Answer(429, {"retry-after": "86000"}),
    "broken": Answer(500, {}),
    "busy": Answer(0, {}, retry_after=30.0),
    "gone": Answer(410, {}),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("memory", [Memory(), Memory(slowdown=2.5, consecutive_failures=3)], ids=["new", "known"])
def test_what_politeness_says_is_of_a_known_shape(answer, memory):
    reason = judge(answer, memory, Limits(), now=NOON).reason
    shape, _ = shape_of(reason)
    assert shape in SHAPES
    with translation.override("zh-hans"):
        assert not reason_said(reason).isascii()


def test_what_the_plan_says_is_of_a_known_shape():
    said = [instants._reason(5.0, expected, 1.0, longest) for expected in (0.01, 3.2) for longest in (5.0, 24.0)]
    for reason in [*said, instants.POLITENESS, instants.SAFETY, instants.BY_TIMETABLE]:
        assert shape_of(reason)[0] in SHAPES


def test_numbers_stay_what_they_are():
    with translation.override("zh-hans"):
        assert "12,345.6" in reason_said("it asked to wait 12,345.6 s (Retry-After)")


def test_what_nobody_translated_stays_as_it_is():
    with translation.override("zh-hans"):
        assert reason_said("since {it} was 7 o'clock") == "since {it} was 7 o'clock"
        assert reason_said("") == ""
