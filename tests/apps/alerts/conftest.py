"""A portal that may call servers on the loopback interface, and those servers."""

from collections.abc import Iterator

import pytest

from lab.worlds.receivers import DOMAIN, MailServer, Receiver, mailing, receiving


@pytest.fixture(autouse=True)
def reachable(settings) -> None:
    settings.PROJECT_URL = "https://portal.example"
    settings.RETRIEVAL_OPEN_HOSTS = [f".{DOMAIN}"]
    settings.RETRIEVAL_HOST_GAP = 0.0


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def mail_server(settings) -> Iterator[MailServer]:
    with mailing() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server
