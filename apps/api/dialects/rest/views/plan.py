"""The plan of retrievals."""

from django.utils.timezone import now
from ninja import Router

from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.plans import Plan, SourcePlan, source_plan, whole_plan
from apps.api.dialects.rest.views.parameters import Id, answers
from apps.api.dialects.rest.views.problems import Impossible

router = Router(tags=["plan"])


@router.get("/plan", response=answers(Plan))
def read_plan(request: PersonsRequest) -> Plan:
    """The plan of all sources: its budget, and what became of it. For staff alone."""
    if not request.user.is_staff:
        raise Impossible("Only staff looks after the plan.", 403)
    return whole_plan(now())


@router.get("/sources/{source_id}/plan", response=answers(SourcePlan))
def read_plan_of_source(request: PersonsRequest, source_id: Id) -> SourcePlan:
    """When a source is asked next, and why then. Staff learn all that goes into it."""
    return present(source_plan(request.user, source_id, now()), "There is no such source.")
