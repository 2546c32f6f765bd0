"""A browser of a virtual user: it keeps cookies and sends forms with their CSRF token."""

from collections.abc import Mapping
from http.cookiejar import CookieJar
from urllib.request import HTTPCookieProcessor, Request, build_opener

from django.conf import settings
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

TIMEOUT = 120.0  # s


class Browser:
    def __init__(self, address: str) -> None:
        self._address = address
        self._cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self._cookies))

    def get(self, path: str) -> str:
        """The page at a path of the site."""
        return self._send(Request(self._address + path))

    def post(self, path: str, fields: Mapping[str, object]) -> str:
        """Submit a form and return the next page; a page must have been requested before."""
        tokens = {cookie.name: cookie.value for cookie in self._cookies}
        filled = {"csrfmiddlewaretoken": tokens[settings.CSRF_COOKIE_NAME], **fields}
        body = encode_multipart(BOUNDARY, filled)
        return self._send(Request(self._address + path, body, {"Content-Type": MULTIPART_CONTENT}))

    def _send(self, request: Request) -> str:
        with self._opener.open(request, timeout=TIMEOUT) as response:
            page: bytes = response.read()
        return page.decode()
