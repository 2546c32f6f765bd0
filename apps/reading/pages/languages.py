"""Languages and their names."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import get_language_info


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    code: str  # without country or script
    name: str  # native
    count: int  # of sources


def base_of(code: str) -> str:
    """A language without its country or script.

    >>> base_of("pt-BR"), base_of("EN_us"), base_of("")
    ('pt', 'en', '')
    """
    return code.replace("_", "-").partition("-")[0].lower()


def language_name(code: str) -> str:
    """The native name of a language; its code if that is not known.

    >>> language_name("de-AT"), language_name("zh-CN"), language_name("zh"), language_name("tlh")
    ('Deutsch', '简体中文', '中文', 'tlh')
    """
    if code.lower() == "zh":  # without a script Django has no name for it
        return "中文"
    for known in (code.lower(), base_of(code)):
        try:
            name = str(get_language_info(known)["name_local"])
        except KeyError:
            continue
        return name[:1].upper() + name[1:]
    return code


def language_choices(counted: Iterable[tuple[str, int]]) -> tuple[LanguageChoice, ...]:
    """Languages with their numbers of sources, without countries and scripts, the most frequent first."""
    counts: Counter[str] = Counter()
    for code, count in counted:
        if code:
            counts[base_of(code)] += count
    return tuple(LanguageChoice(code, language_name(code), count) for code, count in counts.most_common())


def in_languages(codes: Sequence[str]) -> Q:
    """Sources in any of the languages; all without languages."""
    found = Q()
    for code in map(base_of, codes):
        found |= Q(language__iexact=code) | Q(language__istartswith=f"{code}-") | Q(language__istartswith=f"{code}_")
    return found
