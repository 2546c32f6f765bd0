import pytest
from django.urls import reverse


@pytest.mark.django_db
def test_the_label_says_what_may_be_entered(client):
    assert "Username or email</label>" in client.get(reverse("account_login")).text
