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
    """The native name of a language; its code if that is not known.

    >>> language_name("de-AT"), language_name("zh-CN"), language_name("zh"), language_name("tlh")
    ('Deutsch', '简体中文', '中文', 'tlh')
    """
    if code.lower() == "zh":  # without a script Django has no name for it
        return "中文"
    base = code.replace("_", "-").partition("-")[0].lower()
    for known in (code.lower(), {"no": "nb"}.get(base, base)):
        try:
            name = str(get_language_info(known)["name_local"])
        except KeyError:
            continue
        return name[:1].upper() + name[1:]
    return code or gettext("Other")
