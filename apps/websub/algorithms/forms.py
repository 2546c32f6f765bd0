"""Requests to hubs (WebSub, section 5.1) and to rssCloud servers, and the responses of the latter."""

import html
import re
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

Mode = Literal["subscribe", "unsubscribe"]

_SUCCESS = re.compile(r"""\bsuccess["']?\s*[=:]\s*["']?(true|false)""", re.IGNORECASE)
_MESSAGE = re.compile(r"""\b(?:msg|message)["']?\s*[=:]\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


def hub_form(mode: Mode, *, callback: str, topic: str, lease: timedelta, secret: str) -> dict[str, str]:
    """A request to a hub; the secret is "" for a hub without TLS.

    >>> form = hub_form("unsubscribe", callback="https://a.example/1", topic="https://b.example/", lease=timedelta(1),
    ...     secret="tea")
    >>> form
    {'hub.callback': 'https://a.example/1', 'hub.mode': 'unsubscribe', 'hub.topic': 'https://b.example/'}
    """
    form = {"hub.callback": callback, "hub.mode": mode, "hub.topic": topic}
    if mode == "subscribe":
        form["hub.lease_seconds"] = f"{lease.total_seconds():.0f}"
        if secret:
            form["hub.secret"] = secret
    return form


def cloud_form(*, callback: str, topic: str) -> dict[str, str]:
    """A request to an rssCloud server to call us when the topic has changed.

    >>> cloud_form(callback="https://a.example/1", topic="https://b.example/")["port"]
    '443'
    """
    ours = urlsplit(callback)
    port = ours.port or (443 if ours.scheme == "https" else 80)
    return {
        "notifyProcedure": "",
        "protocol": f"{ours.scheme}-post",
        "domain": ours.hostname or "",
        "port": str(port),
        "path": ours.path,
        "url1": topic,
    }


def refusal_of(response: bytes) -> str:
    """Why an rssCloud server refused, by its response in XML or JSON; "" if it did not.

    >>> refusal_of(b'<notifyResult success="false" msg="No feed."/>'), refusal_of(b'{"success": true, "msg": "Hi"}')
    ('No feed.', '')
    """
    text = response[:10_000].decode("utf-8", "replace").replace("\0", "")
    success = _SUCCESS.search(text)
    if success is None or success[1].lower() == "true":
        return ""
    message = _MESSAGE.search(text)
    reason = html.unescape(message[1] or message[2] or "") if message else ""
    return reason[:200] or "it gives no reason"
