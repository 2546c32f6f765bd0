from django.contrib.auth.hashers import Argon2PasswordHasher


class SmallArgon2(Argon2PasswordHasher):
    """Argon2id with 46 MiB, once, as OWASP recommends: Django's 100 MiB are a fifth of a small server per sign-in."""

    time_cost, memory_cost, parallelism = 1, 47_104, 1  # rounds, KiB, lanes
