"""Why a feed is checked and what went wrong is shown in the reader's language, whatever values stand in it."""

import ast
from pathlib import Path

import pytest
from django.utils import translation

from apps.retrieval.algorithms.politeness import Limits, Memory, ResponseFacts, judge
from apps.retrieval.planner import due_times
from apps.web.pages.reasons import PROBLEMS, REASONS, shape_of, translate_reason
from tests.builders import NOON

ROOT = Path(__file__).parents[3]
# Whose argument at this place, if it is text, is a message that pages show.
RAISED = {
    "BadAddress": 0,
    "BadExpression": 0,
    "Crashed": 0,
    "Failure": 1,
    "NoDocument": 0,
    "NotAFeed": 0,
    "NotASection": 0,
    "NotMergeable": 0,
    "RefusedAddress": 0,
    "Stopped": 0,
    "TooLarge": 0,
    "TooMany": 0,
    "TooSlow": 0,
    "Undecodable": 0,
    "Unusable": 1,
}
ANSWERS = {
    "fine": ResponseFacts(200, {"etag": "x"}, is_feed=True),
    "kept": ResponseFacts(200, {"etag": "x", "cache-control": "max-age=7200"}, is_feed=True),
    "dated": ResponseFacts(200, {"etag": "x", "expires": "Wed, 01 May 2024 15:00:00 GMT"}, is_feed=True),
    "large": ResponseFacts(200, {}, is_feed=True, size=9_000_000),
    "repeated": ResponseFacts(200, {}, is_feed=True, repeated=True),
    "throttled": ResponseFacts(429, {}),
    "told to wait": ResponseFacts(429, {"retry-after": "86000"}),
    "broken": ResponseFacts(500, {}),
    "busy": ResponseFacts(0, {}, retry_after=30.0),
    "gone": ResponseFacts(410, {}),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("memory", [Memory(), Memory(slowdown=2.5, consecutive_failures=3)], ids=["new", "known"])
def test_politeness_reasons_are_translated(answer, memory):
    reason = judge(answer, memory, Limits(), now=NOON).reason
    assert shape_of(reason)[0] in REASONS
    with translation.override("zh-hans"):
        assert not translate_reason(reason).isascii()


def test_planning_reasons_are_translated():
    reasons = [due_times._reason(5.0, expected, 1.0, longest) for expected in (0.01, 3.2) for longest in (5.0, 24.0)]
    for reason in [*reasons, due_times.POLITENESS, due_times.SAFETY, due_times.BY_TIMETABLE]:
        assert shape_of(reason)[0] in REASONS


def messages_raised() -> list[str]:
    """Messages of retrieval and of reading documents, with 7 for each value."""
    found = []
    for folder in ("retrieval", "sources", "stories/actions", "reading"):
        for path in (ROOT / "apps" / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = getattr(node, "func", None)
                name = getattr(name, "id", None) or getattr(name, "attr", None)
                if isinstance(node, ast.Call) and name in RAISED and len(node.args) > RAISED[name]:
                    found += text_of(node.args[RAISED[name]])
    return found


def text_of(node: ast.expr) -> list[str]:
    if isinstance(node, ast.JoinedStr):
        return ["".join(each.value if isinstance(each, ast.Constant) else "7" for each in node.values)]
    return [node.value] if isinstance(node, ast.Constant) else []


def test_messages_of_failed_checks_are_translated():
    messages = messages_raised()
    assert len(messages) > 60
    assert not [message for message in messages if not shape_of(message)[0]]


@pytest.mark.parametrize("shape", [*REASONS, *PROBLEMS])
def test_each_shape_is_found_by_its_own_sentence(shape):
    assert shape_of(shape.format(*range(7, 13)))[0] == shape


def test_numbers_in_reasons_are_unchanged():
    with translation.override("zh-hans"):
        assert "12,345.6" in translate_reason("the site asked to wait 12,345.6 s (Retry-After)")


def test_a_problem_inside_a_problem_is_translated():
    with translation.override("zh-hans"):
        reasons = translate_reason("This is a web page, not a feed. It names no feed.")
    assert reasons == "这是网页，不是订阅源。它没有列出订阅源。"


def test_a_sentence_without_a_shape_stays_as_it_is():
    with translation.override("zh-hans"):
        assert translate_reason("since {it} was 7 o'clock") == "since {it} was 7 o'clock"
        assert translate_reason("") == ""


def test_problems_have_few_values_as_each_further_one_multiplies_the_ways_to_match_a_long_text():
    assert max(shape.count("{") for shape in PROBLEMS) <= 4
