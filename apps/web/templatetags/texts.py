"""Django's `i18n` with a faster `translate`: pages have dozens of texts, all pages of a language the same ones."""

from django import template
from django.template.base import Parser, Token
from django.templatetags import i18n

from apps.web.templatetags.formatting import Constant

register = template.Library()
register.tags |= i18n.register.tags
register.filters |= i18n.register.filters


@register.tag
def translate(parser: Parser, token: Token) -> template.Node:
    node = i18n.do_translate(parser, token)
    expression = node.filter_expression
    is_constant = expression.var.literal is not None and not expression.filters and not node.noop and not node.asvar
    return Constant(template.NodeList([node])) if is_constant and node.message_context is None else node
