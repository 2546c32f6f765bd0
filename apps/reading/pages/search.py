"""Search results, their reasons, and links to refine them; saved searches and their alerts."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import queries as alerts
from apps.alerts.channels import with_settings
from apps.alerts.models import Browser, PercolatorQuery, Rule
from apps.alerts.queries import interest, messages
from apps.following import queries as following
from apps.search import queries as searching
from apps.search.algorithms import language
from apps.search.algorithms.language.trees import parts_of
from apps.search.models import SavedSearch
from apps.search.queries import Added, Order, SearchResult
from apps.search.queries.addresses import query_address
from apps.search.queries.comparison import SHOWN, compare
from apps.search.queries.marks import Marker, Text, spelled, texts
from apps.search.queries.saved import saved_searches
from apps.search.queries.searching import MAX_RANKED
from apps.web.pages import Context
from apps.web.pages.rows import PostingRow, rows, rows_by_id
from apps.web.pages.search_query import Complaint, SearchQuery, complaint

MAX_SOURCES = 12  # by which results can be narrowed
MAX_CHIPS = 6  # related terms shown as chips; a table has all of them if wanted


class Origin(NamedTuple):
    posting_id: int
    title: str


class AddedWord(NamedTuple):
    """A related term."""

    word: str  # in the postings' spelling
    origins: tuple[Origin, ...]
    leave_out: str  # address


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    address: str
    count: int = 0


def has_criteria(query: SearchQuery) -> bool:
    return bool(query.text.strip() or query.liked)


def search_page(user: User | AnonymousUser, query: SearchQuery, now: datetime) -> Context:
    """A page of results; `now` is in the reader's time zone. Four queries, plus the search itself.

    Raises BadCursor if the address has a wrong cursor, and TooCostly after a statement timeout.
    """
    try:
        tree = language.parse(query.text)
    except language.BadQuery as error:
        return _page(query, "relevance", complaint=complaint(query.text, error))
    has_words = bool(language.wanted(tree) or query.liked)
    order: Order = (query.order or "relevance") if has_words else "newest"
    if not has_criteria(query):
        return _page(query, order)
    result = searching.search(
        user,
        tree,
        order=order,
        cursor=query.start,
        expansion=query.expansion,
        removed_terms=query.removed,
        liked_ids=query.liked,
        disliked_ids=query.disliked,
        now=now,
        fold=following.folds(user),
    )
    shown = result.added[: None if query.all_terms else MAX_CHIPS]
    origins = {posting_id for term in shown for posting_id in term.posting_ids}
    read = texts(user, origins.union(result.postings))
    added = _added(shown, read, query)
    chips, frequent = added[:MAX_CHIPS], nlargest(MAX_SOURCES, result.sources, key=result.sources.__getitem__)
    return _page(query, order, has_words=has_words) | {
        "meant": _meant(tree, query),  # spelling suggestion
        "understood": understood(tree, query.text),  # the parsed query, if ambiguous
        "needs_account": not user.is_authenticated and requires_account(tree),
        "rows": _found(user, result, read, tree, query),
        "total": result.total,  # estimate
        "exact": result.exact,
        "shown_total": _amount(result.total, result.total),
        "shown_exact": _amount(result.exact, result.exact),
        "shown_related": _amount(result.total - result.exact, result.total),
        "is_too_common": order != "newest" and not result.is_ranked,  # what the words are
        "is_partial": result.is_partial,  # old postings were not searched
        "filters": filters(tree, query),  # links that remove one
        "added": added,
        "chips": chips,
        "further": Link("", query.changed(all_terms=True).address(), len(result.added) - len(shown)),
        "removed": tuple(Link(term, query.with_term_restored(term).address()) for term in query.removed),
        "sources": sources(tree, query, result, following.source_names(user, frequent)),
        "next": query.changed(start=result.next).address() if result.next else "",
    }


def _page(query: SearchQuery, order: Order, *, has_words: bool = False, complaint: Complaint | None = None) -> Context:
    """A page without results; `has_words` if relevance is defined."""
    return {
        "query": query,
        "order": order,
        "complaint": complaint,
        "has_words": has_words,
        "is_empty": complaint is None and not has_criteria(query),
        "can_expand": has_words and order != "newest",
        "here": reverse("search") + query.address(),
        "by_relevance": query.changed(order="relevance").address(),
        "by_freshness": query.changed(order="fresh").address(),
        "by_time": query.changed(order="newest").address(),
        "with_own_words": query.changed(expansion=False, removed=()).address(),
        "with_more_words": query.changed(expansion=True, removed=()).address(),
        "without_verdicts": query.changed(liked=(), disliked=()).address(),
    }


# --- models side by side ----------------------------------------------------------------------------------------------
def models_page(user: User, text: str, now: datetime) -> Context:
    """The best articles by each search model. Raises TooCostly after a statement timeout."""
    page = {"text": text, "shown": SHOWN}
    try:
        tree = language.parse(text)
    except language.BadQuery as error:
        return page | {"complaint": complaint(text, error)}
    if not language.wanted(tree):
        return page
    compared = compare(user, tree, now=now)
    read = texts(user, {posting_id for answer in compared.answers for posting_id in answer.postings})
    answers = [
        {
            "answer": answer,
            "label": _(answer.label),
            "rows": [(id, read[id]) for id in answer.postings if id in read],
        }
        for answer in compared.answers
    ]
    return page | {"compared": compared, "answers": answers}


# --- the query --------------------------------------------------------------------------------------------------------
def understood(tree: language.Tree, text: str) -> str:
    """The parsed query if it mixes OR with other words without parentheses; else "".

    >>> understood(language.parse("paris london OR rome"), "paris london OR rome")
    'paris (london OR rome)'
    >>> understood(language.parse("paris"), "paris")
    ''
    """
    is_mixed = isinstance(tree, language.And) and any(isinstance(part, language.Or) for part in tree.parts)
    written = language.to_text(tree)
    return written if is_mixed and written != " ".join(text.split()) else ""


def _meant(tree: language.Tree, query: SearchQuery) -> Link | None:
    meant = searching.suggestion(tree)
    written = language.to_text(meant)
    return None if meant == tree else Link(written, query.changed(text=written).address())


def requires_account(tree: language.Tree) -> bool:
    """Whether it filters by a user's marks or follows.

    >>> requires_account(language.parse("paris OR -(rome is:unread)")), requires_account(language.parse("lang:en"))
    (True, False)
    """
    match tree:
        case language.Filter(field):
            return field in {"is", "folder"}
        case language.Not(part):
            return requires_account(part)
        case language.And(parts) | language.Or(parts):
            return any(requires_account(part) for part in parts)
    return False


def filters(tree: language.Tree, query: SearchQuery) -> tuple[Link, ...]:
    """The query's filters, each with a link to the search without it.

    >>> filters(language.parse("paris -lang:de"), SearchQuery("paris -lang:de"))
    (Link(label='-lang:de', address='?q=paris', count=0),)
    """
    return tuple(
        Link(language.to_text(part), query.changed(text=language.to_text(language.without(tree, part))).address())
        for part in parts_of(tree)
        if isinstance(part.part if isinstance(part, language.Not) else part, language.Filter)
    )


# --- results ----------------------------------------------------------------------------------------------------------
def _amount(number: int, counted: int) -> str:
    """As "more than" where the results that were counted reach the end of a list by relevance."""
    if counted < MAX_RANKED:
        return str(intcomma(number))
    return _("more than {number}").format(number=intcomma(min(number, MAX_RANKED)))


def _found(
    user: User | AnonymousUser, result: SearchResult, read: Mapping[int, Text], tree: language.Tree, query: SearchQuery
) -> tuple[Context, ...]:
    marker = Marker(tree, {added.term: added.weight for added in result.added})
    by_id = rows_by_id(user, result.postings)
    # A posting that was just deleted can still be among the results.
    return tuple(
        _row(by_id[posting_id], read[posting_id], marker, query, result.reasons.get(posting_id, ()))
        for posting_id in result.postings
        if posting_id in by_id and posting_id in read
    )


def _row(posting: PostingRow, text: Text, marker: Marker, query: SearchQuery, reasons: tuple[str, ...]) -> Context:
    verdict = query.verdict(posting.id)
    return {
        "posting": posting,
        "marked": marker.mark(text),
        "verdict": verdict,
        "reasons": reasons,  # effects of freshness and source on its rank
        "like": query.with_feedback(posting.id, "" if verdict == "liked" else "liked").address(),  # toggles
        "dislike": query.with_feedback(posting.id, "" if verdict == "disliked" else "disliked").address(),
    }


def _added(added: Collection[Added], read: Mapping[int, Text], query: SearchQuery) -> tuple[AddedWord, ...]:
    return tuple(
        AddedWord(
            spelling,
            tuple(Origin(id, read[id].title or read[id].text[:80]) for id in ids),
            query.with_term_removed(word.term).address(),
        )
        for word, spelling, ids in spelled(added, read)
    )


# --- sources ----------------------------------------------------------------------------------------------------------
def sources(
    tree: language.Tree, query: SearchQuery, result: SearchResult, source_names: Mapping[int, str]
) -> tuple[Link, ...]:
    """Links to the results of one source, the most frequent first; an ambiguous name becomes its number."""
    names = list(source_names.values())
    found = []
    for source_id, name in source_names.items():
        narrower = language.narrowed(tree, "source", _filter_value(source_id, name, names))
        found.append(Link(name, query.changed(text=language.to_text(narrower)).address(), result.sources[source_id]))
    return tuple(sorted(found, key=lambda link: -link.count))


def _filter_value(source_id: int, name: str, names: Iterable[str]) -> str:
    """The value of `source:` that matches only this source."""
    is_unique = sum(language.names_match(name, other) for other in names) == 1 and not name.isdecimal()
    return name if is_unique else str(source_id)


# --- saved searches and alerts ----------------------------------------------------------------------------------------
LENGTH = 40  # postings per page
MESSAGES = 50  # per page


def saved_search_rows(user: User) -> list[Context]:
    """Two queries."""
    counts = alerts.count_hits(user)
    found = saved_searches(user).select_related("rule", "percolator_query")
    return [_saved_row(saved, counts.get(saved.pk, 0)) for saved in found]


def _saved_row(saved: SavedSearch, count: int) -> Context:
    percolator_query = getattr(saved, "percolator_query", None)
    feeds = {kind: reverse("search_feed", args=[saved.secret, kind]) for kind in ("rss", "atom", "json")}
    return {
        "id": saved.pk,
        "name": saved.name,
        "query": saved.query,
        "address": query_address(saved.query, saved.order),
        "found": count,  # postings since it was saved
        "channels": _channels(getattr(saved, "rule", None)),  # by which the user is notified
        "refusal": percolator_query.refusal if percolator_query else "",  # why new postings cannot be matched
        **feeds,
    }


def _channels(rule: Rule | None) -> tuple[str, ...]:
    if rule is None or rule.stopped_at is not None:
        return ()
    ways = {_("mail"): rule.mail, _("browser"): rule.push, _("webhook"): rule.webhook_url}
    ways |= {str(channel.label): channel.name in rule.settings for channel in with_settings()}
    return tuple(way for way, is_on in ways.items() if is_on)


def found_page(saved: SavedSearch, user: User, before: int | None) -> Context:
    """A fixed number of queries; postings that the user may no longer read are left out."""
    hits = alerts.hits_of(saved, before=before, limit=LENGTH + 1)
    shown = hits[:LENGTH]
    query = PercolatorQuery.objects.filter(pk=saved.pk).first()
    return {
        "saved": saved,
        "address": query_address(saved.query, saved.order),
        "refusal": query.refusal if query else "",  # why new postings cannot be matched
        "rows": tuple(rows(user, [hit.posting_id for hit in shown])),
        "next": shown[-1].pk if len(hits) > LENGTH else None,  # hit after which the next page begins
        "actions": get_text_list(actions_of(Rule.objects.filter(pk=saved.pk).first()), _("and")),
    }


def actions_of(rule: Rule | None) -> list[str]:
    if rule is None:
        return []
    done = {
        _("marked as read"): rule.mark_read,
        _("starred"): rule.star,
        _("hidden"): rule.hide,
        _("highlighted"): rule.highlight,
        _("tagged “{tag}”").format(tag=rule.tag): rule.tag,
        _("mailed {when}").format(when=rule.get_mail_display().lower()): rule.mail,
        _("sent to your browsers"): rule.push,
        _("sent to a webhook"): rule.webhook_url,
    } | {str(channel.label): channel.name in rule.settings for channel in with_settings()}
    return [words for words, is_on in done.items() if is_on]


def service_page(saved: SavedSearch, now: datetime) -> Context:
    """A fixed number of queries."""
    raised = interest.raised_by(saved, now)
    return {
        "saved": saved,
        "sources": alerts.sources_of(saved, now),
        "raised": raised,  # sources that are checked more often because of it
        "cost": sum(source.extra for source in raised),  # additional retrievals a day
    }


def messages_page(user: User, before: int | None, *, failed_only: bool) -> Context:
    """Three queries. Only the newest fifty failed messages are shown."""
    if failed_only:
        found = messages.dead_letters(user, most=MESSAGES)
    else:
        found = messages.messages_of(user, before=before, most=MESSAGES + 1)
    failed = messages.count_dead_letters(user)
    shown = found[:MESSAGES]
    return {"messages": tuple(shown), "failed": failed, "next": shown[-1].pk if len(found) > MESSAGES else None}


def notification_settings_page(user: User, push_key: str) -> Context:
    browsers = tuple(Browser.objects.filter(user=user).order_by("added_at"))
    return {"browsers": browsers, "push_key": push_key, "zone": user.time_zone or "UTC"}
