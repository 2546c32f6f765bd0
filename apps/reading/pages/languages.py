"""Languages as people know them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import get_language_info


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    code: str  # without country or script
    name: str  # in itself
    count: int  # of sources


def base_of(code: str) -> str:
    """A language without its country or script.

    >>> base_of("pt-BR"), base_of("EN_us"), base_of("")
    ('pt', 'en', '')
    """
    return code.replace("_", "-").partition("-")[0].lower()


def language_name(code: str) -> str:
    """What a language calls itself; its code where that is not known.

    >>> language_name("de-AT"), language_name("zh-CN"), language_name("zh"), language_name("tlh")
    ('Deutsch', '简体中文', '中文', 'tlh')
    """
    if code.lower() == "zh":  # Chinese without a script, which Django has no name for
        return "中文"
    for known in (code.lower(), base_of(code)):
        try:
            name = str(get_language_info(known)["name_local"])
        except KeyError:
            continue
        return name[:1].upper() + name[1:]
    return code


def language_choices(counted: Iterable[tuple[str, int]]) -> tuple[LanguageChoice, ...]:
    """Languages of so many sources each, countries and scripts taken together, the most frequent first."""
    counts: Counter[str] = Counter()
    for code, count in counted:
        if code:
            counts[base_of(code)] += count
    return tuple(LanguageChoice(code, language_name(code), count) for code, count in counts.most_common())


def in_languages(codes: Sequence[str]) -> Q:
    """Sources in any of the languages; all if none is named."""
    found = Q()
    for code in map(base_of, codes):
        found |= Q(language__iexact=code) | Q(language__istartswith=f"{code}-") | Q(language__istartswith=f"{code}_")
    return found
