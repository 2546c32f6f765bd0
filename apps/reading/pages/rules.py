"""Rules in plain fields, and what they would do with the articles of the last week."""

from collections.abc import Collection
from datetime import datetime

from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts import queries as alerts
from apps.alerts.actions.plain_rules import parsed
from apps.alerts.algorithms.plain_rules import PlainRule
from apps.following import queries as following
from apps.reading.pages.search import actions_of
from apps.search.algorithms.language import And, Filter
from apps.search.models import SavedSearch
from apps.search.queries import matching
from apps.search.queries.saved import plain_rules
from apps.web.pages import Context
from apps.web.pages.rows import rows

PREVIEWED = 20  # articles
WEEK = Filter("after", ("7d",))


def rules_page(user: User) -> list[Context]:
    """Uses a fixed number of queries."""
    counts = alerts.count_hits(user)
    folders = {
        f"folder:{id}": " / ".join(path) for id, path in following.folder_paths(following.folders_of(user)).items()
    }
    places = folders | {f"source:{each.source_id}": each.title for each in following.followed_sources(user)}
    found = plain_rules(user).select_related("rule")
    return [_row(saved, PlainRule.read(saved.plain), places, counts.get(saved.pk, 0)) for saved in found]


def _row(saved: SavedSearch, rule: PlainRule, places: dict[str, str], found: int) -> Context:
    parts = {"text": _("title or text"), "title": _("title"), "author": _("author")}
    return {
        "id": saved.pk,
        "words": rule.words,
        "part": parts[rule.part],
        # A folder or feed that is gone matches nothing.
        "place": places.get(rule.place, _("a feed or folder that you no longer have")) if rule.place else "",
        "actions": _("all others hidden") if rule.keep else get_text_list(actions_of(saved.rule), _("and")),
        "found": found,
    }


def last_week(user: User, rule: PlainRule, now: datetime) -> list[int]:
    """The articles of the last week that a rule concerns, at most a thousand; raises `NotPossible` or `TooCostly`."""
    return matching(user, And((parsed(rule), WEEK)), now=now)


def preview(user: User, found: Collection[int]) -> Context:
    return {"count": len(found), "rows": rows(user, list(found)[:PREVIEWED])}
