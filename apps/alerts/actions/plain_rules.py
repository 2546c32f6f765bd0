"""Rules in plain fields: saved searches without notifications, which are listed apart from the others."""

import secrets
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.alerts.actions.matching import apply_to_past
from apps.alerts.actions.rules import set_importance, set_rule
from apps.alerts.algorithms.plain_rules import PlainRule
from apps.alerts.models import Hit
from apps.following.actions.errors import NotPossible
from apps.following.actions.marks import unhide
from apps.search.actions.saved import MAX_NAME_LENGTH
from apps.search.algorithms.language import BadQuery, Tree, parse
from apps.search.models import SavedSearch
from apps.search.queries.saved import plain_rules
from apps.stories.actions.learning import hide_for_all

MAX_RULES = 100  # per user


def parsed(rule: PlainRule) -> Tree:
    """The query of a rule; raises `NotPossible`."""
    if not rule.words:
        raise NotPossible(_("Enter at least one word with letters or digits."))
    if rule.keep and not rule.place:
        raise NotPossible(_("Choose a feed or a folder in which only these articles are kept."))
    try:
        return parse(rule.query())
    except BadQuery:
        raise NotPossible(_("These are too many words for one rule: make a second one.")) from None


@transaction.atomic
def save_plain_rule(
    user: User,
    rule: PlainRule,
    *,
    replaced_id: int | None = None,
    past_ids: Collection[int] = (),
    now: datetime,
    **effects: Any,
) -> SavedSearch:
    """Save a rule, or raise `NotPossible`. It is applied to `past_ids` at once, and to new postings as alerts are.

    `effects` are some of those of `set_rule`.
    """
    parsed(rule)
    User.objects.select_for_update().get(pk=user.pk)  # or two saved at once could exceed the limit
    if replaced_id is not None:
        forget_plain_rule(user, replaced_id, now=now)
    if plain_rules(user).count() >= MAX_RULES:
        raise NotPossible(_("You have {most} rules, the maximum. Delete one first.").format(most=MAX_RULES))
    if not (rule.keep or any(effects.values())):
        raise NotPossible(_("Choose what the rule does."))
    secret = secrets.token_urlsafe(32)
    name = f"{', '.join(rule.words)[: MAX_NAME_LENGTH - 7]} {secret[:6]}"  # unlike all others
    values = {"name": name, "query": rule.query(), "plain": rule._asdict(), "secret": secret}
    saved = SavedSearch.objects.create(user=user, order=SavedSearch.Order.NEWEST, saved_at=now, **values)
    set_rule(user, saved.pk, **effects | {"hide": rule.keep or effects.get("hide", False)})
    set_importance(user, saved.pk, 0.0)  # what a person mutes is no reason to check its sources more often
    if past_ids:
        apply_to_past(saved, list(past_ids), now=now)
    return saved


@transaction.atomic
def forget_plain_rule(user: User, saved_id: int, *, now: datetime) -> bool:
    """Delete a rule; what it alone has hidden is shown again. False if there is none."""
    saved = plain_rules(user).filter(pk=saved_id).first()
    if saved is None:
        return False
    hits = Hit.objects.filter(saved__user=user, saved__rule__hide=True)
    others = hits.exclude(saved=saved).values("posting_id")
    shown = list(hits.filter(saved=saved).exclude(posting_id__in=others).values_list("posting_id", flat=True))
    unhide(user, shown)
    if shown:
        hide_for_all([(user.pk, posting_id) for posting_id in shown], hidden=False, now=now)
    saved.delete()
    return True
