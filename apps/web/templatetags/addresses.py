"""A faster `url`: a list has hundreds of addresses, which differ in their numbers alone."""

import functools
from typing import Any

from django import template
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as without_memory
from django.urls import reverse
from django.utils.safestring import SafeString

register = template.Library()

_UNIQUE = 10**12  # no path contains it


def address(name: str, *numbers: int) -> SafeString:
    """The address of a page whose only arguments are numbers."""
    return SafeString(_form(name, len(numbers)) % numbers)  # only our paths and numbers: nothing to escape


@functools.cache
def _form(name: str, count: int) -> str:
    """The addresses of a name, with %d for each of the numbers."""
    numbers = range(_UNIQUE, _UNIQUE + count)
    form = reverse(name, args=numbers).replace("%", "%%")
    return functools.reduce(lambda form, number: form.replace(str(number), "%d"), numbers, form)


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
