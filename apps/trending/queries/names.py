"""Names of lists of trends."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import get_language_info, gettext
from django.utils.translation import gettext_lazy as _

LISTS: Mapping[str, Promise] = {
    "hour": _("Last hours"),
    "day": _("24 hours"),
    "week": _("7 days"),
    "month": _("30 days"),
    "year": _("12 months"),
}


def language_name(code: str) -> str:
    """The native name of a language.

    >>> language_name("de"), language_name("zh"), language_name("yue")
    ('Deutsch', '简体中文', 'yue')
    """
    try:
        return str(get_language_info({"zh": "zh-hans", "no": "nb"}.get(code, code))["name_local"])
    except KeyError:
        return code or gettext("Other")
