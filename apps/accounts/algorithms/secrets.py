"""Secrets that people carry away, and what is kept of them."""

from base64 import urlsafe_b64encode
from hashlib import md5, sha256

HINT_LENGTH = 8  # characters of a secret by which its owner knows it again


def written(random: bytes, prefix: str = "") -> str:
    """Random bytes as a text that fits into addresses and headers.

    >>> written(bytes(range(24)), "wb_")
    'wb_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX'
    """
    return prefix + urlsafe_b64encode(random).decode().rstrip("=")


def digest_of(secret: str) -> str:
    """What is kept of a secret. It is random, so no slow hash is needed: nobody can try all of them.

    >>> digest_of("wb_secret")[:12]
    'f8d6e147e4a5'
    """
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def fever_key_of(name: str, secret: str) -> str:
    """The key by which programs that speak Fever sign in: they make it of what somebody types.

    >>> fever_key_of("Ada", "wb_secret")
    'd77681adffcccfd898887100c72b6846'
    """
    return md5(f"{name}:{secret}".encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
