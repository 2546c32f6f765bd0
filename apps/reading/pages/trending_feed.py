"""Trends as RSS: a term is an item for as long as it is listed without a break."""

from collections.abc import Callable
from html import escape

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.feedgenerator import Rss201rev2Feed
from django.utils.translation import gettext as _

from apps.postings import queries as postings
from apps.reading.pages.search_asked import search_address
from apps.reading.pages.trending import LISTS, language_name
from apps.reading.pages.trending_asked import Asked
from apps.trending import queries as trending
from apps.trending.models import Trend


def trends_feed(asked: Asked, horizon: str, absolute: Callable[[str], str]) -> str | None:
    """The feed of a list, None if there is no such horizon; three queries.

    `absolute` makes an address of this site one for others.
    """
    if horizon not in LISTS:
        return None
    if not asked.language:
        places = trending.places()
        asked = asked.of(places[0].language if places else "", asked.category)
    about = " – ".join(filter(None, (str(LISTS[horizon]), asked.category, language_name(asked.language))))
    page = absolute(reverse("trends") + asked.address())
    feed = Rss201rev2Feed(
        title=_("Trends: {about}").format(about=about),
        link=page,
        description=_("Words that are published more than they usually are."),
        language=asked.language or None,
    )
    trends = trending.lists_of(asked.language, asked.category, asked.method)[horizon]
    ids = {posting_id for trend in trends for posting_id in trend.posting_ids}
    public = postings.visible_to(AnonymousUser()).filter(pk__in=ids).exclude(title="")
    titles = dict(public.values_list("pk", "title"))
    for trend in trends:
        feed.add_item(
            title=trend.term,
            link=absolute(search_address(trend.term)),
            description=_description(trend, titles, absolute),
            pubdate=trend.since,
            unique_id=f"{asked.method}:{horizon}:{asked.language}:{asked.category}:{trend.number}:{trend.since:%Y%m%d%H%M}",
            unique_id_is_permalink=False,
            categories=trend.related,
        )
    return feed.writeString("utf-8")


def _description(trend: Trend, titles: dict[int, str], absolute: Callable[[str], str]) -> str:
    said = f"{trend.documents} postings of {trend.sources} sources"
    if trend.expected is not None:
        said += f", where {trend.expected:.1f} are usual"
    told = ""
    for posting_id in trend.posting_ids:
        if title := escape(_printable(titles.get(posting_id, ""))):
            told += f'<li><a href="{escape(absolute(reverse("posting", args=[posting_id])))}">{title}</a></li>'
    return f"<p>{said}.</p><ul>{told}</ul>" if told else f"<p>{said}.</p>"


def _printable(text: str) -> str:
    """Without the control characters that XML has no way to write."""
    return "".join(character for character in text if character.isprintable())
