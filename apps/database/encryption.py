"""Encryption of what people entrust to the portal, such as tokens of other services."""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

KEY_BYTES = 32
PURPOSE = b"wirebeat.encryption.1"  # keeps the key apart from those of Django's signatures


def encrypt(text: str) -> str:
    return _cipher().encrypt(text.encode()).decode()


def decrypt(encrypted: str) -> str | None:
    """The text, or None if it was encrypted with another secret key of the portal."""
    try:
        return _cipher().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        return None


def _cipher() -> MultiFernet:
    """Encrypts with the current secret key, and decrypts with earlier ones, too."""
    keys: list[str] = [str(settings.SECRET_KEY), *map(str, settings.SECRET_KEY_FALLBACKS)]
    derived = (HKDF(SHA256(), KEY_BYTES, salt=None, info=PURPOSE).derive(key.encode()) for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])
