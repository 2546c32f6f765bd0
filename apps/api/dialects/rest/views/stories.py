"""Stories."""

from django.utils.timezone import now
from ninja import Router

from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.stories import StoryDetails, StoryList, story_details, story_list
from apps.api.dialects.rest.views.parameters import Id, PartOf, answers

router = Router(tags=["stories"])


@router.get("/stories", response=answers(StoryList))
def list_stories(request: PersonsRequest, params: PartOf) -> StoryList:
    """The stories of the last three days, in the order of your front page."""
    return story_list(request.user, cursor=params.cursor, limit=params.limit, now=now())


@router.get("/stories/{story_id}", response=answers(StoryDetails))
def read_story(request: PersonsRequest, story_id: Id) -> StoryDetails:
    """A story with its reports and their summary."""
    return present(story_details(request.user, story_id), "There is no such story.")
