"""Stories."""

from django.utils.timezone import now
from ninja import Router

from apps.accounts.views.requests import PersonsRequest, present
from apps.api.dialects.rest.schemas.stories import StoryDetails, StoryList, story_details, story_list
from apps.api.dialects.rest.views.parameters import Id, PartOf, answers

router = Router(tags=["stories"])


@router.get("/stories", response=answers(StoryList))
def list_stories(request: PersonsRequest, asked: PartOf) -> StoryList:
    """The stories of the last three days, in the order of your front page."""
    return story_list(request.user, cursor=asked.cursor, limit=asked.limit, now=now())


@router.get("/stories/{story_id}", response=answers(StoryDetails))
def read_story(request: PersonsRequest, story_id: Id) -> StoryDetails:
    """A story with all that tell it, and a summary of them."""
    return present(story_details(request.user, story_id), "There is no such story.")
