"""Algorithm I of Ai-Times as pure decisions about a fetched page and about a link to a new one.

Luo (2007), section 3.1: news pages are stored once, of index pages the links are followed and only they are visited
again, and pages without value are skipped. The thesis knows each page's kind; here it is a guess that may be wrong, so
a page classified as valueless is fetched again, ever more rarely, before it is abandoned.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from apps.database.backoff import next_delay
from apps.retrieval.algorithms.crawl.addresses import is_continuation, trap_reason
from apps.retrieval.algorithms.crawl.links import Link, is_page_address
from apps.retrieval.algorithms.crawl.patterns import Patterns

NEWS, INDEX, VALUELESS, UNKNOWN = "news", "index", "valueless", "unknown"
CERTAIN_NEWS = 0.7  # probability; storing a page that is no article is worse than fetching it again
CERTAIN_INDEX = 0.5
MIN_NEWS_LENGTH = 250  # characters
# Waits before each further fetch, after which a page is abandoned.
REFETCH_AFTER = (timedelta(days=7), timedelta(days=30), timedelta(days=120))  # pages without value
TRY_AGAIN = (timedelta(hours=1), timedelta(days=1), timedelta(days=7))  # pages without a response
REFETCH_RULES_AFTER = (timedelta(days=1), timedelta(days=7), timedelta(days=30))  # pages that robots.txt forbids
MAX_WAIT = timedelta(days=30)  # that a response may demand

_GONE = frozenset({404, 410, 451})
_POSTPONED = frozenset({"host_busy", "planned"})  # no request was made
_HOPELESS = frozenset({"bad_address", "refused_address", "too_large"})


@dataclass(frozen=True, slots=True)
class Seen:
    """What a fetch of a page showed."""

    url: str
    status: int  # HTTP; 0 without a response
    failure: str = ""  # `fetching.Failure.kind`, if there is no response
    retry_after: float | None = None  # s; of a postponed request, or demanded by the response
    kind: str = ""  # as it was classified; "" if it could not be read
    probability: float = 0.0
    run_length: int = 0  # characters of its text
    reasons: Sequence[str] = ()  # for people
    presumed_news: bool = False  # a feed names it
    noindex: bool = False  # by its robots directives
    known_kind: str = UNKNOWN  # as it was classified before
    leads_to_news: bool = True  # at least one link of an index page, new or known, probably leads to news


@dataclass(frozen=True, slots=True)
class Decision:
    """What is stored of a page, and when it is fetched again."""

    kind: str
    probability: float
    decided_by: str  # "rule", "feed", "answer", "robots" or "page" by its own directives
    reason: str  # for people
    fetches: int
    failures: int  # in a row
    due_at: datetime | None  # None: never again
    becomes_source: bool = False  # an index page to be retrieved like a feed


@dataclass(frozen=True, slots=True)
class LinkStep:
    fetch: bool
    reason: str  # why not, for people
    priority: float  # in [0, 1.4]; greater is fetched earlier


def after_fetch(seen: Seen, *, fetches: int, failures: int, now: datetime) -> Decision:
    """Decide on a page that was just fetched, after `fetches` successful ones and `failures` in a row.

    News is never fetched again; an index page that leads to news is retrieved like a feed from now on, unless it
    continues another; a page without value is fetched three more times, after 7, 30 and 120 days; a page that cannot be
    reached is tried again after an hour, a day and a week, and one that is gone is not.

    >>> from datetime import UTC
    >>> now = datetime(2026, 1, 1, tzinfo=UTC)
    >>> seen = Seen("https://example.org/a", 200, kind="news", probability=0.9, run_length=2_000)
    >>> decision = after_fetch(seen, fetches=0, failures=0, now=now)
    >>> decision.kind, decision.due_at
    ('news', None)
    """
    if seen.failure in _POSTPONED:
        return _postponed(seen, fetches, failures, now)
    if seen.failure or seen.status != 200:
        return _unanswered(seen, fetches, failures, now)
    if seen.presumed_news:
        reason = "" if seen.run_length >= MIN_NEWS_LENGTH else f"It contains only {seen.run_length} characters of text."
        return Decision(NEWS, 1.0, "feed", reason, fetches + 1, 0, None)
    if not seen.kind:
        return _without_value(seen, fetches, now, "answer", _sentence(seen.reasons) or "It could not be read.")
    if seen.kind == INDEX:
        return _index(seen, fetches, now)
    if seen.kind == VALUELESS:
        return _without_value(seen, fetches, now, "rule", _sentence(seen.reasons))
    if seen.noindex:
        return Decision(VALUELESS, 1.0, "page", "The page asks not to be indexed (noindex).", fetches + 1, 0, None)
    if seen.probability < CERTAIN_NEWS:
        why = f"It may be news, but that is only {seen.probability:.0%} certain: {_sentence(seen.reasons)}"
        return _without_value(seen, fetches, now, "rule", why)
    if seen.run_length < MIN_NEWS_LENGTH:
        why = f"It looks like news, but contains only {seen.run_length} characters of text."
        return _without_value(seen, fetches, now, "rule", why)
    return Decision(NEWS, seen.probability, "rule", _sentence(seen.reasons), fetches + 1, 0, None)


def for_new_link(link: Link, depth: int, *, patterns: Patterns, max_depth: int, today: date) -> LinkStep:
    """Decide whether and how early to fetch a page, `depth` links away from the first one, the given link included.

    >>> link = Link("https://example.org/login", "Log in")
    >>> step = for_new_link(link, 1, patterns=Patterns(), max_depth=6, today=date(2026, 1, 1))
    >>> step.fetch, step.reason
    (False, 'Its address performs an action instead of showing a page.')
    """
    likely = patterns.prior(link.url, link.text)
    # Probable news first, then what leads to it; of equals the nearer one.
    wanted = likely.news + 0.5 * likely.index + 0.4 / (1 + depth) - 0.1 * is_continuation(link.url)
    priority = round(max(0.0, wanted), 4)
    reason = trap_reason(link.url, today=today)
    if not reason and not is_page_address(link.url):
        reason = "It is a file, not a page."
    if not reason and depth > max_depth:
        reason = f"It is more than {max_depth} links away from the first page."
    if not reason:
        reason = patterns.reason_to_skip(link.url)
    return LinkStep(not reason, reason, priority)


def _index(seen: Seen, fetches: int, now: datetime) -> Decision:
    decided = Decision(INDEX, seen.probability, "rule", _sentence(seen.reasons), fetches + 1, 0, None)
    if is_continuation(seen.url):
        return replace(decided, reason="A later page of a list: new items are on its first page.")
    if not seen.leads_to_news:
        reason = "It lists pages, but none that are probably news."
        return replace(decided, reason=reason, due_at=_due(now, REFETCH_AFTER, fetches))
    if seen.probability < CERTAIN_INDEX:
        return replace(decided, due_at=_due(now, REFETCH_AFTER, fetches))
    return replace(decided, becomes_source=True)


def _without_value(seen: Seen, fetches: int, now: datetime, decided_by: str, reason: str) -> Decision:
    probability = seen.probability if seen.kind == VALUELESS else 0.0
    due_at = _due(now, REFETCH_AFTER, fetches)
    return Decision(VALUELESS, probability, decided_by, reason, fetches + 1, 0, due_at)


def _unanswered(seen: Seen, fetches: int, failures: int, now: datetime) -> Decision:
    reason = _sentence(seen.reasons) or (
        f"The server answered with status {seen.status}." if seen.status else "The server did not respond."
    )
    decided_by, waits = ("robots", REFETCH_RULES_AFTER) if seen.failure == "robots" else ("answer", TRY_AGAIN)
    due_at = None
    if seen.status not in _GONE and seen.failure not in _HOPELESS:
        due_at = _due(now, waits, failures)
    if due_at is not None and seen.retry_after is not None:
        due_at = max(due_at, now + min(timedelta(seconds=seen.retry_after), MAX_WAIT))
    kind = NEWS if seen.presumed_news else seen.known_kind
    if due_at is None and kind == UNKNOWN:
        kind = VALUELESS
    return Decision(kind, 0.0, decided_by, reason, fetches, failures + 1, due_at)


def _postponed(seen: Seen, fetches: int, failures: int, now: datetime) -> Decision:
    kind = NEWS if seen.presumed_news else seen.known_kind
    wait = min(timedelta(seconds=seen.retry_after or 60.0), MAX_WAIT)
    return Decision(kind, 0.0, "", "Other pages of its server came first.", fetches, failures, now + wait)


def _due(now: datetime, waits: Sequence[timedelta], before: int) -> datetime | None:
    wait = next_delay(before + 1, waits)
    return now + wait if wait is not None else None


def _sentence(reasons: Sequence[str]) -> str:
    """
    >>> _sentence(["it holds 3 paragraphs", "it calls itself an article"])
    'It holds 3 paragraphs; it calls itself an article.'
    """
    text = "; ".join(filter(None, reasons)).rstrip(".")
    return f"{text[0].upper()}{text[1:]}." if text else ""
