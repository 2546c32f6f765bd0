"""Removes secrets from log lines of all origins: URLs, headers and forms."""

import re

MIN_SECRET_LENGTH = 20  # characters in a path; ours are longer, and other segments are shorter
REDACTED = "[redacted]"

_WORD = r"[\w.~%:=+-]"
# Below these paths the next segment is a secret. Tests compare them with the names of the parameters in all routes.
_PATHS = (
    *("feeds", "search/+feed", "shared", "push", "alerts/+stop", "account/+invited"),
    *("accounts/+confirm-email", "accounts/+password/+reset/+key"),
)
_FIELDS = r"api_key|passwd|password\w*|token|auth|sid|lsid|secret|hub\.secret|sessionid|csrftoken|csrfmiddlewaretoken"
_PATTERNS = (
    (rf"(?i)(/(?:{'|'.join(_PATHS)})/+){_WORD}{{{MIN_SECRET_LENGTH},}}", rf"\1{REDACTED}"),
    (rf"(?i)(\b(?:{_FIELDS})=)[^&\s,;'\"]+", rf"\1{REDACTED}"),
    (r"(?i)([?&](?:code|state|key|ticket)=)[^&\s,;'\"]+", rf"\1{REDACTED}"),  # of OpenID and similar protocols
    (r"(?i)(\b(?:authorization|x-auth-token|cookie)\b['\"]?\s*[:=]\s*).+", rf"\1{REDACTED}"),
    (r"(?i)(\b(?:basic|bearer|googlelogin)\s+)[\w+/=.-]{16,}", rf"\1{REDACTED}"),
    (r"\bwb_[\w-]{8,}", f"wb_{REDACTED}"),  # app tokens, wherever they are
)
_COMPILED = tuple((re.compile(pattern), replacement) for pattern, replacement in _PATTERNS)


def redacted(text: str) -> str:
    """A text for logs without the secrets in it.

    >>> redacted("Not Found: /feeds/q83vEjRWeJq83vEjRWeJq83vEjRWeJq8/rss/")
    'Not Found: /feeds/[redacted]/rss/'
    >>> redacted("GET /fever/?api&api_key=0123456789abcdef HTTP/1.1")
    'GET /fever/?api&api_key=[redacted] HTTP/1.1'
    """
    for pattern, replacement in _COMPILED:
        text = pattern.sub(replacement, text)
    return text
