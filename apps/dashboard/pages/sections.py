"""Administration of the front page's sections."""

from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from apps.database.statement_timeout import TookTooLong
from apps.search.algorithms.language import BadQuery
from apps.search.queries import TooCostly
from apps.stories.models import Section
from apps.stories.queries.sections import MAX_SHOWN, NOTHING, contents, find, sections
from apps.web.pages import Context
from apps.web.pages.rows import rows, story_rows
from apps.web.pages.search_query import complaint

PREVIEWED = 8
COSTLY = 500.0  # ms


def sections_page(now: datetime) -> Context:
    """All sections with their cached contents. One query."""
    found = list(sections())
    kept = contents(found, now, refresh=False)
    return {
        "sections": tuple(
            {"section": section, "content": content, "is_costly": content.milliseconds > COSTLY}
            for section in found
            for content in [kept.get(section.pk, NOTHING)]
        ),
    }


def preview(section: Section, now: datetime) -> Context:
    """What a section would show to visitors, or why it cannot be saved; nothing is stored."""
    anonymous = AnonymousUser()
    try:
        content = find(section, now)
    except BadQuery as error:
        return {"complaint": complaint(section.query, error)}
    except (TooCostly, TookTooLong) as error:
        return {"problem": str(error)}
    return {
        "stories": story_rows(anonymous, content.stories[:PREVIEWED]),
        "rows": rows(anonymous, content.posting_ids[:PREVIEWED]),
        "count": content.count,
        "is_all": content.count < MAX_SHOWN,  # else a section cannot show all of it
        "milliseconds": content.milliseconds,
        "is_costly": content.milliseconds > COSTLY,
    }
