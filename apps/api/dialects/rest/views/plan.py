"""The plan of checks."""

from django.utils.timezone import now
from ninja import Router

from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.plans import Plan, SourcePlan, source_plan, whole_plan
from apps.api.dialects.rest.views.parameters import Id, answers
from apps.api.dialects.rest.views.problems import Impossible

router = Router(tags=["plan"])


@router.get("/plan", response=answers(Plan))
def read_plan(request: PersonsRequest) -> Plan:
    """The plan of all sources, with its budget and results. For staff."""
    if not request.user.is_staff:
        raise Impossible("Only staff looks after the plan.", 403)
    return whole_plan(now())


@router.get("/sources/{source_id}/plan", response=answers(SourcePlan))
def read_plan_of_source(request: PersonsRequest, source_id: Id) -> SourcePlan:
    """When a source is checked next, and why."""
    return present(source_plan(request.user, source_id, now()), "There is no such source.")
