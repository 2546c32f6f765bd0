"""Rules in plain fields. Their folders are named by path, and their feeds by address."""

from collections.abc import Iterator

from apps.account_data.formats.records import document_of, record_list
from apps.account_data.members.base import Import
from apps.account_data.members.marks import options_in
from apps.accounts.models import User
from apps.alerts.actions.plain_rules import MAX_RULES, save_plain_rule
from apps.alerts.algorithms.plain_rules import PlainRule
from apps.alerts.models import Rule
from apps.following import queries as following
from apps.search.queries.saved import plain_rules

RULES = "rules.json"
EFFECTS = ("mark_read", "star", "hide", "highlight", "tag")


def _places(user: User) -> dict[str, str | tuple[str, ...]]:
    """What names each place of rules on another portal."""
    folders = following.folder_paths(following.folders_of(user))
    feeds = following.follows_of(user).values_list("source_id", "source__url")
    return (
        {"": ""} | {f"folder:{id}": path for id, path in folders.items()} | {f"source:{id}": url for id, url in feeds}
    )


def write_rules(user: User) -> Iterator[bytes]:
    places = _places(user)
    found = [(saved.rule, dict(saved.plain or {})) for saved in plain_rules(user).select_related("rule").order_by("pk")]
    yield document_of(
        [
            {name: getattr(rule, name) for name in EFFECTS} | plain | {"place": places[plain["place"]]}
            for rule, plain in found
            if plain["place"] in places
        ]
    )


def take_rules(running: Import) -> None:
    """Skips rules that exist, and those of feeds and folders that do not."""
    known = {saved.query for saved in plain_rules(running.user)}
    places = {named: place for place, named in _places(running.user).items()}
    for found in record_list(running.container, RULES, most=MAX_RULES):
        named = found.values.get("place")
        place = places.get(tuple(map(str, named)) if isinstance(named, list) else str(named))
        effects = {name: value for name, value in options_in(found, Rule, ()).items() if name in EFFECTS}
        try:
            rule = PlainRule.read({**found.values, "place": place or ""})
            if place is None:
                running.left_out += 1
            elif not rule.words or rule.query() not in known:
                save_plain_rule(running.user, rule, **effects, now=running.now)
                running.restored[RULES] += 1
        except ValueError as problem:  # also NotPossible
            raise found.bad(str(problem)) from problem
