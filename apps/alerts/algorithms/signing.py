"""Signatures of webhooks by Standard Webhooks (specification 1.0.0, symmetric, v1)."""

import base64
import hmac

PREFIX = "whsec_"


def decode_base64url(text: str) -> bytes:
    """Decode with or without padding; raises ValueError."""
    return base64.urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))


def new_secret(entropy: bytes) -> str:
    """A secret for receivers, from 24 to 64 random bytes.

    >>> new_secret(b"twenty-four random bytes")
    'whsec_dHdlbnR5LWZvdXIgcmFuZG9tIGJ5dGVz'
    """
    if not 24 <= len(entropy) <= 64:
        raise ValueError(f"a secret has 24 to 64 bytes, not {len(entropy)}")
    return PREFIX + base64.b64encode(entropy).decode()


def signed(body: bytes, secret: str, *, key: str, timestamp: int) -> dict[str, str]:
    """The headers with id, timestamp (s since 1970) and signature of a call.

    The signature is an HMAC-SHA256 of `key.timestamp.body` by the secret's bytes.

    >>> secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    >>> headers = signed(b'{"test": 2432232314}', secret, key="msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp=1614265330)
    >>> headers["webhook-signature"]
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    material = f"{key}.{timestamp}.".encode() + body
    digest = hmac.digest(base64.b64decode(secret.removeprefix(PREFIX)), material, "sha256")
    return {
        "webhook-id": key,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
