"""Secrets of tokens and invitations, and their stored digests."""

from hashlib import md5, sha256

HINT_LENGTH = 8  # first characters of a secret, stored for its owner to recognize it


def digest_of(secret: str) -> str:
    """The stored digest of a secret. Secrets are random, so no slow hash is needed against guessing.

    >>> digest_of("wb_secret")[:12]
    'f8d6e147e4a5'
    """
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def fever_key_of(name: str, secret: str) -> str:
    """The key that Fever clients compute from name and password.

    >>> fever_key_of("Ada", "wb_secret")
    'd77681adffcccfd898887100c72b6846'
    """
    return md5(f"{name}:{secret}".encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
