"""The user's pseudonym for stored pages."""

from typing import Any

from django import template

from apps.web.pages.offline_shell import person_key

register = template.Library()


@register.simple_tag(takes_context=True)
def person(context: dict[str, Any]) -> str:
    return person_key(context["request"].user)
