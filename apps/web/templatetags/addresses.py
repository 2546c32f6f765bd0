"""The tag `url` with a cache: a list has hundreds of addresses, and most of them recur."""

import functools
from typing import Any

from django import template
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as without_memory
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

REMEMBERED = 50_000


@functools.lru_cache(maxsize=REMEMBERED)
def address(name: str, *numbers: int) -> SafeString:
    """The address of a page whose only arguments are numbers."""
    return mark_safe(reverse(name, args=numbers))  # only our paths and numbers: nothing to escape


class _RememberingNode(URLNode):
    def render(self, context: Context) -> Any:
        name = self.view_name.resolve(context)
        numbers = tuple(part.resolve(context) for part in self.args)
        if self.kwargs or self.asvar or ":" in name or not all(type(number) is int for number in numbers):
            return super().render(context)
        return address(name, *numbers)


@register.tag
def url(parser: Parser, token: Token) -> URLNode:
    node = without_memory(parser, token)
    return _RememberingNode(node.view_name, node.args, node.kwargs, node.asvar)
