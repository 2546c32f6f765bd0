"""Hits and rules of saved searches."""

from ninja import Router

from apps.accounts.models import User
from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.alerts import HitList, Rule, hit_list, rule_of
from apps.api.dialects.rest.views.parameters import Id, PartOf, answers
from apps.search.models import SavedSearch
from apps.search.queries.saved import saved_searches

router = Router(tags=["alerts"])


@router.get("/searches/{search_id}/hits", response=answers(HitList))
def list_hits(request: PersonsRequest, search_id: Id, params: PartOf) -> HitList:
    """New postings that a search of yours found, the latest first."""
    return hit_list(request.user, _own(request.user, search_id), cursor=params.cursor, limit=params.limit)


@router.get("/searches/{search_id}/rule", response=answers(Rule))
def read_rule(request: PersonsRequest, search_id: Id) -> Rule:
    """What happens to new hits of a search of yours."""
    return rule_of(_own(request.user, search_id))


def _own(user: User, search_id: int) -> SavedSearch:
    return present(saved_searches(user).filter(pk=search_id).first(), "You keep no such search.")
