"""What searches found as it came, and how people were told."""

from ninja import Router

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.alerts import HitList, MessageList, Rule, hit_list, message_list, rule_of
from apps.api.dialects.rest.views.parameters import Id, PartOf, answers
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches

router = Router(tags=["alerts"])


@router.get("/searches/{search_id}/hits", response=answers(HitList))
def list_hits(request: PersonsRequest, search_id: Id, asked: PartOf) -> HitList:
    """What a search of yours found as it came, the newest first."""
    return hit_list(request.user, _own(request.user, search_id), cursor=asked.cursor, limit=asked.limit)


@router.get("/searches/{search_id}/rule", response=answers(Rule))
def read_rule(request: PersonsRequest, search_id: Id) -> Rule:
    """What is done with what a search of yours finds."""
    return rule_of(_own(request.user, search_id))


def _own(user: User, search_id: int) -> SavedSearch:
    return present(saved_searches(user).filter(pk=search_id).first(), "You keep no such search.")


@router.get("/messages", response=answers(MessageList))
def list_messages(request: PersonsRequest, asked: PartOf) -> MessageList:
    """What you were told of what your searches found, or are to be, and every attempt to do so."""
    return message_list(request.user, cursor=asked.cursor, limit=asked.limit)
