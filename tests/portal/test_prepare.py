"""What a portal gets before its first page."""

import re

import pytest
from django.core.management import call_command

from apps.accounts.models import User
from apps.following.models import Follow
from apps.sources.models import Source


@pytest.mark.django_db
def test_the_first_start_makes_an_admin_and_a_catalogue_and_later_ones_nothing(capsys):
    call_command("prepare")
    said = capsys.readouterr().out
    admin = User.objects.get(is_superuser=True)
    assert admin.check_password(re.search(r"sign in as 'admin' with the password '(.+?)'", said)[1])
    count = Source.objects.count()
    assert f"catalogue of {count} sources" in said
    assert count > 20
    assert not Follow.objects.exists()
    call_command("prepare")
    assert capsys.readouterr().out == ""
    assert (User.objects.count(), Source.objects.count()) == (1, count)
