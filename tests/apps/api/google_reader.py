"""A program that speaks Google Reader's dialect for one person."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from django.http import HttpResponse
from django.test import Client
from django.utils.timezone import now

from apps.accounts.actions import make_token
from apps.accounts.models import User

API = "/reader/api/0/"
READING_LIST, READ, STARRED, KEPT_UNREAD, BROADCAST, FRESH = (
    f"user/-/state/com.google/{name}"
    for name in ("reading-list", "read", "starred", "kept-unread", "broadcast", "fresh")
)


def label(name: str) -> str:
    return f"user/-/label/{name}"


class Program:
    def __init__(self, person: User, scopes: tuple[str, ...] = ("read", "write")) -> None:
        self.person = person
        self.secret = make_token(person, "reader", scopes, now=now())[1]
        self._client = Client()

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"GoogleLogin auth={self.person.get_username()}/{self.secret}"}

    def get(self, path: str, headers: Mapping[str, str] | None = None, **fields: Any) -> HttpResponse:
        return self._client.get(_address(path, fields), headers={**self.headers, **(headers or {})})

    def post(self, path: str, **fields: Any) -> HttpResponse:
        """The fields as a body, a list's values one after the other, with `:`, `/` and `,` as they are."""
        return self.send(path, urlencode(fields, doseq=True, safe=":/,"))

    def send(self, path: str, body: str | bytes, kind: str = "application/x-www-form-urlencoded") -> HttpResponse:
        return self._client.generic("POST", _address(path, {}), body, kind, headers=self.headers)

    def json(self, path: str, **fields: Any) -> Any:
        response = self.get(path, **fields)
        assert response.status_code == 200, response.content
        return response.json()

    def does(self, path: str, **fields: Any) -> None:
        response = self.post(path, **fields)
        assert (response.status_code, response.content) == (200, b"OK")

    def ids(self, **fields: Any) -> list[int]:
        return [int(ref["id"]) for ref in self.json("stream/items/ids", **fields)["itemRefs"]]

    def items(self, *posting_ids: int) -> list[dict[str, Any]]:
        return self.post("stream/items/contents", i=posting_ids).json()["items"]

    def categories(self, posting_id: int) -> set[str]:
        [item] = self.items(posting_id)
        return set(item["categories"])


def _address(path: str, fields: dict[str, Any]) -> str:
    # With a host: two slashes at the begin would be taken for one.
    whole = f"http://testserver{path if path.startswith('/') else API + path}"
    return f"{whole}?{urlencode(fields, doseq=True)}" if fields else whole


def quoted(stream: str) -> str:
    return quote(stream, safe="")
