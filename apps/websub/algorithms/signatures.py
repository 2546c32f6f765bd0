"""Signatures of deliveries (WebSub, section 7.1)."""

import hmac
from collections.abc import Iterable

METHODS = frozenset({"sha1", "sha256", "sha384", "sha512"})


def is_signed(header: str, body: bytes, secrets: Iterable[str]) -> bool:
    """Whether an X-Hub-Signature header signs the body with one of the secrets. Never raises.

    >>> header = "sha1=26257ba6679cc01f9f63d21c8e009bf4e48308a1"
    >>> is_signed(header, b"news", ["coffee", "tea"])
    True
    >>> is_signed(header, b"old news", ["tea"]), is_signed("", b"news", ["tea"])
    (False, False)
    """
    method, _, claimed = header.strip().partition("=")
    if method not in METHODS:
        return False
    claimed_digest = claimed.strip().lower().encode("utf-8", "replace")
    digests = (hmac.new(secret.encode(), body, method).hexdigest().encode() for secret in secrets)
    return any(hmac.compare_digest(digest, claimed_digest) for digest in digests)
