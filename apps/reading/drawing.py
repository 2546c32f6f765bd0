"""What a page shows by the hundred, rows of postings and of sources, is drawn by Jinja: Django's templates take five
times as long. Each template in `templates/rows/` has a macro of its own name, which costs less than to draw a template;
the tags of `templatetags/rows.py` put what it draws into a page.
"""

import functools
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from apps.reading.pages.rows import PostingRow
from apps.reading.templatetags.addresses import address
from apps.reading.templatetags.reading import ago, icon


@functools.cache
def _environment(language: str | None) -> Environment:
    """With the words of the language that is switched on."""
    environment = Environment(
        loader=FileSystemLoader(settings.BASE_DIR / "templates" / "rows"),
        autoescape=True,
        auto_reload=settings.DEBUG,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"icon": icon, "address": address, "_": functools.cache(gettext)}
    environment.filters |= {"ago": ago, "cut": _cut}
    return environment


def drawn(name: str, **values: Any) -> SafeString:
    macros: Any = _environment(get_language()).get_template(f"{name}.html").module
    markup: SafeString = mark_safe(getattr(macros, name)(**values))
    return markup


def drawn_row(
    posting: PostingRow,
    *,
    now: datetime,
    is_signed_in: bool,
    path: str = "",
    place: str = "",
    form_token: str = "",
    in_story: bool = False,
) -> SafeString:
    """A posting as lists show it.

    Parameters
    ----------
    path : str
        Of the page, to come back to.
    place : str
        What the posting's own menu has to know of the list, as a query string.
    form_token : str
        Against forged forms; empty where the row is to be kept and not to be sent.
    """
    here = f"{path}#posting-{posting.id}"
    menu = f"{address('menu', posting.id)}?{place}&{urlencode({'next': here})}"
    return drawn(
        "row",
        posting=posting,
        now=now,
        is_signed_in=is_signed_in,
        here=here,
        menu=menu,
        form_token=form_token,
        in_story=in_story,
    )


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
