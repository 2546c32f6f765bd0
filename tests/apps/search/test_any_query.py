"""No query is an error of the server."""

import logging
import os
import random

import pytest
from django.db import connection, reset_queries
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.search.actions.reindexing import consume
from apps.search.actions.segment_building import maintain
from apps.search.algorithms.language import FIELDS, STATES
from tests.apps.search.searching import published
from tests.builders import NOON, a_follow, a_mark, a_source, a_user

pytestmark = pytest.mark.django_db

# More random queries find rarer server errors: `WIREBEAT_RANDOM_QUERIES=50000`.
RANDOM_QUERIES = int(os.environ.get("WIREBEAT_RANDOM_QUERIES", "120"))
ORDERS = ("relevance", "fresh", "newest")
NAUGHTY = [
    "", " ", "\x00", "\ufeff", "\u202etest\u202c", "\ud800", "undefined", "NULL", "None", "true", "0", "-0", "1e309",
    "NaN", "-" * 50, "(" * 30, ")" * 30, '"' * 7, "'", "''", "\\", "\\'", "%", "%s", "%(x)s", "{}", "${7*7}",
    "{{7*7}}", "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'; DROP TABLE users; --", "1 OR 1=1",
    "../../etc/passwd", "C:\\CON", "AND", "OR", "NOT", "NOT NOT", "| |", "a | | b", "- -", "-(", "a -", "is:", "is:x",
    "source:", "source:,", 'source:""', "source:" + "9" * 40, "lang:zz", "before:2026-02-30", "after:9999w",
    "after:99999w", "before:0000", "after:2999-12-31", "after:today before:today", "田中さんにあげて下さい",
    "사회과학원 어학연구소", "表ポあA鷗ŒéＢ逍Üßªąñ丂㐀𠀀", "Ⱥ", "﷽", "Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮", "👩‍👩‍👧‍👦", "🇺🇸🇷🇺", "١٢٣",
    "ｔｈｅ ｑｕｉｃｋ",
    "מְאֹד טוֹב", "إلى العربية", "\u200b\u200c\u200d", "\t\n\r\v\f", "İ", "ſ", "ﬁ", "ǆ", "a" * 1_000, "a" * 1_001,
    "é" * 999, "北" * 1_000, "the " * 100, "a " * 101, "search_term", "author:_ category:_", "_the", "author:author:a",
    "intitle:the intitle:\"\u0301\"", "lang:en,de,fr,zh,ru,ja,ko,ar", "x" * 41, "\U0010ffff", "author:\U0010ffff",
]  # fmt: skip
PIECES = [
    "paris", "summit", "the", "of", "中国", "大学", "élan", "e-mail", "12:30", "OR", "AND", "NOT", "|", "-", "(",
    ")", '"', "“",
    *(f"{field}:" for field in FIELDS), *(f"is:{state}" for state in STATES), "before:2026", "after:1d", "lang:en",
    'source:"the wire"', "author:ann", "category:wor", "intitle:paris", ",", ":", "\x00", "\ud83d", "🙂", "%", "'",
]  # fmt: skip
words = st.sampled_from(PIECES + NAUGHTY) | st.text(max_size=6)
random_queries = (
    st.lists(st.tuples(words, st.sampled_from([" ", " ", ""])), max_size=14).map(
        lambda pairs: "".join(part for pair in pairs for part in pair)
    )
    | st.text(max_size=60)
    | st.sampled_from(NAUGHTY)
)
addresses = st.fixed_dictionaries(
    {"q": random_queries},
    optional={
        "order": st.sampled_from([*ORDERS, "", "oldest"]),
        "words": st.sampled_from(["mine", ""]),
        "without": words,
        "like": st.integers(-5, 60) | words,
        "unlike": st.integers(-5, 60) | words,
        "start": words | st.sampled_from(["r60.1709208000000000.20", "1709208000000000.7", "r0.0.0"]),
    },
)


@pytest.fixture
def some_news():
    chance, user = random.Random(3), a_user()
    for name in ("The Wire", "Daily Post"):
        a_follow(user, a_source(title=name, category="World", listed=True), title="My wire")
    sources = [follow.source for follow in user.follows.all()]
    for number in range(60):
        posting = published(
            " ".join(chance.choices(["Paris", "the", "summit", "of", "中国", "élan", "e-mail"], k=4)),
            chance.choice(sources),
            text=" ".join(chance.choices(["delegations", "emissions", "大学", "the", "storm"], k=12)),
            author=chance.choice(["", "Ann Lee"]),
            categories=chance.sample(["World News", "Climate"], chance.randint(0, 2)),
            days=number / 5,
        )
        if number % 9 == 0:
            a_mark(user, posting, read=True, starred_at=NOON)
    consume(limit=40)
    maintain(at_least=20)
    consume()
    return user


@pytest.mark.parametrize("count", [RANDOM_QUERIES // 2, pytest.param(RANDOM_QUERIES, marks=pytest.mark.trial)])
@pytest.mark.timeout(300 + RANDOM_QUERIES / 25)
def test_no_query_is_an_error_of_the_server(client, some_news, caplog, count):
    """Each is an answer or a complaint, for people and strangers, at a bounded number of statements."""
    client.raise_request_exception = False
    caplog.set_level(logging.ERROR)  # not the warnings of each page that is not found
    dearest = 0

    @settings(
        max_examples=count // 2,
        suppress_health_check=list(HealthCheck),
        database=None,
        derandomize="WIREBEAT_RANDOM_QUERIES" not in os.environ,
    )
    @given(addresses, st.booleans())
    def request(parameters, is_fragment):
        nonlocal dearest
        parameters = {name: str(value).encode("utf-8", "replace") for name, value in parameters.items()}
        headers = {"HX-Request": "true", "HX-Target": "found"} if is_fragment else {}
        reset_queries()  # a connection remembers only some thousands
        with CaptureQueriesContext(connection) as captured:
            response = client.get(reverse("search"), parameters, headers=headers)
        assert response.status_code in (200, 404), parameters
        dearest = max(dearest, len(captured))

    request()
    client.force_login(some_news)
    request()
    assert dearest <= 60
