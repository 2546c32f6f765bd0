"""Rows of postings and of sources, within a page."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from apps.reading.drawing import drawn, drawn_row

register = template.Library()


@register.simple_tag(takes_context=True)
def row(context: dict[str, Any], *, in_story: bool = False) -> SafeString:
    """The context's posting as lists show it."""
    request = context.get("request")
    return drawn_row(
        context["posting"],
        now=context["now"],
        is_signed_in=context["user"].is_authenticated,
        path=request.get_full_path() if request else "",
        place=getattr(context.get("page"), "place", ""),
        form_token=_form_token(context),
        in_story=in_story,
    )


@register.simple_tag(takes_context=True)
def tools(context: dict[str, Any], next: str, *, oob: bool = False) -> SafeString:
    """Star, read and original of the context's posting; `oob`: htmx puts them in the place of those that are there."""
    return drawn("tools", posting=context["posting"], here=next, oob=oob, form_token=_form_token(context))


@register.simple_tag(takes_context=True)
def row_tags(context: dict[str, Any], *, oob: bool = False) -> SafeString:
    return drawn("tags", posting=context["posting"], oob=oob)


@register.simple_tag(takes_context=True)
def sidebar_tree(context: dict[str, Any]) -> SafeString:
    """Folders and sources of the context's sidebar."""
    sidebar = context["sidebar"]
    return drawn("tree", sidebar=sidebar, at=(sidebar.at.kind, sidebar.at.id) if sidebar.at else ("", 0))


def _form_token(context: dict[str, Any]) -> str:
    token = str(context.get("csrf_token") or "")
    return "" if token == "NOTPROVIDED" else token
