from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.postings.algorithms.extraction import keen
from apps.postings.algorithms.extraction.documents import read_page
from apps.postings.algorithms.extraction.kinds import classify
from apps.postings.algorithms.extraction.metadata import read_metadata
from apps.retrieval.algorithms.crawl.addresses import page_key
from apps.retrieval.algorithms.crawl.deciding import (
    REFETCH_AFTER,
    TRY_AGAIN,
    Decision,
    Seen,
    after_fetch,
    for_new_link,
)
from apps.retrieval.algorithms.crawl.links import Link, links_of
from apps.retrieval.algorithms.crawl.patterns import Patterns

NOW = datetime(2026, 5, 12, tzinfo=UTC)
URL = "https://example.org/politics/council-keeps-the-old-bridge-open-4711"


def decide(*, fetches: int = 0, failures: int = 0, url: str = URL, status: int = 200, **values) -> Decision:
    return after_fetch(Seen(url, status, **values), fetches=fetches, failures=failures, now=NOW)


def test_news_is_never_fetched_again():
    decision = decide(kind="news", probability=0.95, run_length=2_000, reasons=("its text is long", "it says when"))
    assert (decision.kind, decision.due_at, decision.fetches) == ("news", None, 1)
    assert decision.reason == "Its text is long; it says when."


@pytest.mark.parametrize(
    "values", [{"probability": 0.69, "run_length": 2_000}, {"probability": 0.95, "run_length": 249}]
)
def test_doubtful_news_pages_are_fetched_again(values):
    decision = decide(kind="news", **values)
    assert (decision.kind, decision.due_at) == ("valueless", NOW + REFETCH_AFTER[0])


def test_an_index_page_becomes_a_source_and_is_no_longer_a_page_to_be_fetched():
    decision = decide(kind="index", probability=0.9, url="https://example.org/politics/")
    assert (decision.kind, decision.becomes_source, decision.due_at) == ("index", True, None)


def test_a_further_part_of_a_list_is_visited_once():
    decision = decide(kind="index", probability=0.9, url="https://example.org/politics/page/2")
    assert (decision.kind, decision.becomes_source, decision.due_at) == ("index", False, None)


def test_a_list_of_other_things_becomes_no_source():
    decision = decide(kind="index", probability=0.9, leads_to_news=False)
    assert (decision.kind, decision.becomes_source, decision.due_at) == ("index", False, NOW + REFETCH_AFTER[0])


def test_doubtful_index_pages_are_fetched_again():
    decision = decide(kind="index", probability=0.45)
    assert (decision.kind, decision.becomes_source, decision.due_at) == ("index", False, NOW + REFETCH_AFTER[0])


def test_a_page_without_value_is_fetched_more_and_more_rarely_and_then_never():
    waits = [decide(fetches=fetches, kind="valueless", probability=0.9).due_at for fetches in range(5)]
    assert waits == [NOW + timedelta(days=7), NOW + timedelta(days=30), NOW + timedelta(days=120), None, None]


def test_a_page_out_of_reach_is_tried_ever_more_rarely_and_then_never():
    decisions = [decide(failures=failures, status=0, failure="timeout") for failures in range(4)]
    assert [decision.due_at for decision in decisions] == [*(NOW + wait for wait in TRY_AGAIN), None]
    assert [decision.kind for decision in decisions] == ["unknown", "unknown", "unknown", "valueless"]
    assert {decision.fetches for decision in decisions} == {0}


@pytest.mark.parametrize("values", [{"status": 404}, {"status": 410}, {"status": 0, "failure": "refused_address"}])
def test_a_page_that_is_gone_is_not_retried(values):
    assert (decide(**values).due_at, decide(**values).kind) == (None, "valueless")


def test_retry_after_is_respected_within_a_limit():
    assert decide(status=503, retry_after=86_400.0).due_at == NOW + timedelta(days=1)
    assert decide(status=503, retry_after=1e12).due_at == NOW + timedelta(days=30)
    assert decide(status=503, retry_after=1.0).due_at == NOW + TRY_AGAIN[0]


def test_a_page_without_a_request_is_no_failure():
    decision = decide(status=0, failure="host_busy", retry_after=20.0, failures=2, fetches=1, known_kind="valueless")
    assert decision.due_at == NOW + timedelta(seconds=20)
    assert (decision.kind, decision.failures, decision.fetches) == ("valueless", 2, 1)


def test_disallowed_pages_are_retried_on_other_days():
    decision = decide(status=0, failure="robots", reasons=("The site's robots.txt asks to keep out.",))
    assert (decision.decided_by, decision.due_at) == ("robots", NOW + timedelta(days=1))
    assert decision.reason == "The site's robots.txt asks to keep out."


def test_the_page_of_a_posting_is_news_whatever_it_looks_like():
    decision = decide(kind="index", probability=0.99, run_length=80, presumed_news=True)
    assert (decision.kind, decision.decided_by, decision.due_at) == ("news", "feed", None)
    assert "80 characters" in decision.reason


def test_noindex_is_respected():
    decision = decide(kind="news", probability=0.99, run_length=2_000, noindex=True)
    assert (decision.kind, decision.due_at) == ("valueless", None)
    assert decide(kind="index", probability=0.99, noindex=True).kind == "index"


seen = st.builds(
    Seen,
    url=st.sampled_from([URL, "https://example.org/", "https://example.org/list?page=2"]),
    status=st.sampled_from([0, 200, 200, 200, 301, 403, 404, 429, 500]),
    failure=st.sampled_from(["", "", "timeout", "robots", "too_large"]),
    retry_after=st.none() | st.floats(0, 1e9),
    kind=st.sampled_from(["", "news", "index", "valueless"]),
    probability=st.floats(0, 1),
    run_length=st.integers(0, 3_000),
    presumed_news=st.booleans(),
    noindex=st.booleans(),
)


@given(st.lists(seen, min_size=20, max_size=20))
def test_every_page_is_done_after_a_few_fetches(answers):
    """Whatever its server answers: no page is fetched more than thirteen times."""
    fetches = failures = fetched = 0
    now = NOW
    for answer in answers:
        decision = after_fetch(answer, fetches=fetches, failures=failures, now=now)
        fetched += 1
        assert decision.fetches + decision.failures > 0
        assert decision.kind in ("news", "index", "valueless", "unknown")
        if decision.due_at is None:
            assert decision.kind != "unknown"
            break
        assert now < decision.due_at <= now + timedelta(days=120)
        fetches, failures, now = decision.fetches, decision.failures, decision.due_at
    assert fetched <= 13


def step(url: str, text: str = "", *, depth: int = 1, patterns: Patterns | None = None):
    patterns = patterns or Patterns()
    return for_new_link(Link(url, text), depth, patterns=patterns, max_depth=3, today=date(2026, 5, 12))


def test_a_small_budget_goes_to_probable_news_first():
    ordered = [
        step(URL, "Council keeps the old bridge open"),
        step(URL, "Council keeps the old bridge open", depth=3),
        step("https://example.org/politics/", "Politics"),
        step("https://example.org/politics/page/2", "2"),
        step("https://example.org/imprint", "Imprint", depth=2),
    ]
    priorities = [each.priority for each in ordered]
    assert priorities == sorted(priorities, reverse=True)


@pytest.mark.parametrize(
    ("url", "depth", "words"),
    [
        ("https://example.org/report.pdf", 1, "file"),
        (URL, 4, "3 links away"),
        ("https://example.org/login", 1, "performs an action"),
        ("https://example.org/tours/trip-77", 1, "None of 20 pages"),
    ],
)
def test_links_that_are_not_worth_a_request_are_skipped_with_a_reason(url, depth, words):
    patterns = Patterns()
    for number in range(20):
        patterns.observe(f"https://example.org/tours/trip-{number}", "valueless")
    found = step(url, depth=depth, patterns=patterns)
    assert not found.fetch
    assert words in found.reason


SITE = "https://site.example"
WORDS = (
    "council", "market", "storm", "league", "river", "engine", "treaty", "museum", "harvest", "signal", "bridge",
    "school", "hospital", "vote",
)  # fmt: skip
SECTIONS = ("world", "sport")


def story(number: int) -> str:
    words = [WORDS[(number * step + step) % len(WORDS)] for step in range(1, 6)]
    return f"/{SECTIONS[number % 2]}/2026/05/{'-'.join(words)}-{10_000 + number}"


def page(path: str, stories: int) -> str:
    """A site of two sections with lists of several parts, and a calendar without end that looks like a list."""
    parts = path.strip("/").split("/")
    head, body = "", ""
    if parts[0] == "calendar":
        month = int(parts[1])
        days = (f"/calendar/{month}/day-{day}" for day in range(20))
        body = "".join(
            f"<h3><a href={day}>What is on at the town hall on day {day[-2:]} of the month</a></h3>" for day in days
        )
        body += f"<a href=/calendar/{month + 1}>Next month</a>"
    elif path == "/" or (parts[0] in SECTIONS and len(parts) in (1, 3) and "2026" not in path):
        chosen = [number for number in range(stories) if path == "/" or SECTIONS[number % 2] == parts[0]]
        start = 10 * (int(parts[2]) - 1) if len(parts) == 3 else 0
        for path_of_story in map(story, chosen[start : start + 10]):
            headline = path_of_story[15:-6].replace("-", " ")
            body += f"<h3><a href={path_of_story}?utm_source=x>{headline} in the town</a></h3>"
        if start + 10 < len(chosen) and path != "/":
            body += f"<a href=/{parts[0]}/page/{start // 10 + 2}>Older</a>"
    else:
        head = "<meta property=og:type content=article>"
        for place in range(8):
            sentence = " ".join(WORDS[(len(path) * place + step * (place + 3)) % len(WORDS)] for step in range(25))
            body += f"<p>The {sentence}, as the mayor said on day {place} of the week.</p>"
    menu = "".join(f"<li><a href=/{section}/>{section.title()}</a></li>" for section in SECTIONS)
    title = parts[-1].replace("-", " ") or "Home"
    return (
        f"<html><head><title>{title} | The Site</title>{head}</head><body><nav><ul>{menu}"
        f"<li><a href=/calendar/1>Calendar</a></li><li><a href=/login>Log in</a></li></ul></nav>"
        f"<main><h1>{title}</h1>{body}</main></body></html>"
    )


def crawl(stories: int, max_requests: int) -> tuple[list[str], set[str], set[str]]:
    """Follow Algorithm I from the first page on; the requests, the news stored and the index pages to be revisited."""
    patterns = Patterns()
    waiting, known = [(1.0, SITE + "/", 0)], {page_key(SITE + "/")}
    requests, news, sources = [], set(), set()
    while waiting and len(requests) < max_requests:
        waiting.sort()
        _, url, depth = waiting.pop()
        if patterns.reason_to_skip(url):  # learnt since the link was found
            continue
        requests.append(url)
        root = read_page(page(url.removeprefix(SITE).partition("?")[0], stories).encode()).root
        extract = keen.extract(root)
        verdict = classify(root, extract, read_metadata(root, url=url), url)
        links = links_of(root, url)
        steps = [for_new_link(link, depth + 1, patterns=patterns, max_depth=6, today=NOW.date()) for link in links]
        leads_to_news = any(patterns.prior(link.url, link.text).news >= 0.5 for link in links)
        decision = decide(
            url=url,
            kind=verdict.kind,
            probability=verdict.probability,
            run_length=len(extract.text),
            leads_to_news=leads_to_news,
        )
        if decision.kind == "news":
            news.add(page_key(url))
        elif decision.kind == "index":
            sources |= {url} if decision.becomes_source else set()
            for link, step in zip(links, steps, strict=True):
                if step.fetch and page_key(link.url) not in known:
                    known.add(page_key(link.url))
                    waiting.append((step.priority, link.url, depth + 1))
        is_barren = decision.kind == "index" and not leads_to_news
        patterns.observe(url, "valueless" if is_barren else decision.kind)
    return requests, news, sources


def test_a_crawl_fetches_all_news_once_and_ends():
    requests, news, sources = crawl(stories=60, max_requests=1_000)
    assert len(requests) == len(set(map(page_key, requests))) < 400
    assert news >= {page_key(SITE + story(number)) for number in range(60)}
    assert sources >= {SITE + "/", SITE + "/world/", SITE + "/sport/"}
    assert not any("/page/" in url for url in sources)
    assert sum("calendar" in url for url in requests) < 60
    assert not any("login" in url for url in requests)


def test_a_crawl_with_a_small_budget_spends_it_on_news():
    requests, news, _ = crawl(stories=60, max_requests=40)
    assert len(news) > 0.7 * len(requests)
