"""Template tags for the pages of accounts."""

from typing import Any

from django import template
from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

from apps.accounts import pages
from apps.accounts.queries import site

register = template.Library()


register.simple_tag(site.sends_mail)


@register.simple_tag
def sign_up() -> str:
    """ "open", "invited" or "closed"."""
    return str(settings.SIGN_UP)


@register.simple_tag(takes_context=True)
def session_rows(context: dict[str, Any]) -> list[dict[str, Any]]:
    request = context["request"]
    return pages.session_rows(request.user, request.session.session_key or "")


class _Deferred(template.Node):
    def __init__(self, inside: template.NodeList) -> None:
        self.inside = inside

    def render(self, context: template.Context) -> SafeString:
        return mark_safe(self.inside.render(context).replace("<script src=", "<script defer src="))


@register.tag
def deferred(parser: template.base.Parser, token: template.base.Token) -> _Deferred:
    """Defers the scripts of a library's templates; their order stays."""
    inside = parser.parse(["enddeferred"])
    parser.delete_first_token()
    return _Deferred(inside)
