"""Stories behind trending terms."""

from apps.postings.models import Posting
from apps.stories.queries.front import stories_of
from apps.trending import actions as trending
from apps.trending.queries import listed_postings


def label_trends() -> int:
    """Label listed terms with the headlines of their stories; returns the number of labelled terms.

    A headline of a feed that is not public labels nothing.
    """
    stories = stories_of(listed_postings())
    leads = Posting.objects.filter(pk__in={story.lead_id for story in stories.values()}, source__listed=True)
    titles = dict(leads.exclude(title="").values_list("pk", "title"))
    return trending.label(
        {
            posting_id: trending.StoryLabel(story.pk, titles[story.lead_id])
            for posting_id, story in stories.items()
            if story.lead_id in titles
        }
    )
