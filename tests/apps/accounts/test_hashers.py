from django.contrib.auth.hashers import Argon2PasswordHasher

from apps.accounts.hashers import SmallArgon2


def test_passwords_hashed_with_more_memory_are_still_known_and_hashed_again_at_the_next_sign_in():
    ours, stored = SmallArgon2(), Argon2PasswordHasher().encode("a long password", "saltsalt")
    assert ours.verify("a long password", stored)
    assert not ours.verify("another password", stored)
    assert ours.must_update(stored)
    assert not ours.must_update(ours.encode("a long password", ours.salt()))
    assert "m=47104,t=1,p=1" in ours.encode("a long password", "saltsalt")
